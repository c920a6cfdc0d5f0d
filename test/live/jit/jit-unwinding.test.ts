import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownScriptOf } from '../../support/perf/own-script.ts';
import { announceSkipped, makeTempDir, recordWithPerf, removeTempDir, runTool, whyMissing, whyNoRecording } from '../../support/perf/perf-tool.ts';

// A JIT made for this test, which keeps no frame pointers and tells in its dump how its code is unwound. Needs perf, gcc and x86-64.

const PROGRAM = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
__attribute__((noinline)) void burn(void) { for (int i = 0; i < 20000; i++) sink += i * sink; }
__attribute__((noinline)) void callback(void) { burn(); sink++; }

static uint64_t now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
static void put(FILE *out, const void *bytes, size_t size) { fwrite(bytes, 1, size, out); }
static void put32(FILE *out, uint32_t value) { put(out, &value, 4); }
static void put64(FILE *out, uint64_t value) { put(out, &value, 8); }

int main(int argc, char **argv) {
  char path[256];
  snprintf(path, sizeof path, "%s/jit-%d.dump", argv[1], getpid());
  FILE *dump = fopen(path, "w+");
  put32(dump, 0x4A695444); put32(dump, 1); put32(dump, 40); put32(dump, 62); put32(dump, 0); put32(dump, getpid()); put64(dump, now()); put64(dump, 0);
  fflush(dump);
  mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
  // push rbp; sub rsp,64; mov rbp,-1; mov rax,callback; call rax; nop; add rsp,64; pop rbp; ret: the frame pointer leads nowhere.
  uint8_t code[] = {0x55, 0x48, 0x83, 0xec, 0x40, 0x48, 0xc7, 0xc5, 0xff, 0xff, 0xff, 0xff, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x90, 0x48, 0x83, 0xc4, 0x40, 0x5d, 0xc3};
  void (*target)(void) = callback;
  memcpy(code + 14, &target, 8);
  uint8_t *memory = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(memory, code, sizeof code);
  // CIE: CFA = rsp + 8, return address at CFA - 8. FDE: what push and sub do, and what undoes them.
  uint8_t frames[] = {
      20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
      32, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, sizeof code, 0, 0, 0, 0,
      0x41, 0x0e, 16, 0x86, 2, 0x44, 0x0e, 80, 0x58, 0x0e, 16, 0x41, 0x0e, 8, 0, 0, 0, 0, 0,
      0, 0, 0, 0};
  int32_t begin = -(int32_t)(((sizeof code + 7) & ~7) + 32);
  memcpy(frames + 32, &begin, 4);
  uint8_t header[20] = {1, 0x1b, 3, 0x3b};
  put32(dump, 4); put32(dump, 40 + sizeof frames + sizeof header); put64(dump, now());
  put64(dump, sizeof frames + sizeof header); put64(dump, sizeof header); put64(dump, 0);
  if (argc > 2) memset(frames, 0, sizeof frames);
  put(dump, frames, sizeof frames); put(dump, header, sizeof header);
  const char name[] = "made_at_run_time";
  put32(dump, 0); put32(dump, 56 + sizeof name + sizeof code); put64(dump, now());
  put32(dump, getpid()); put32(dump, getpid()); put64(dump, (uint64_t)memory); put64(dump, (uint64_t)memory); put64(dump, sizeof code); put64(dump, 1);
  put(dump, name, sizeof name); put(dump, code, sizeof code);
  fclose(dump);
  void (*made)(void);
  *(void **)&made = memory;
  for (int i = 0; i < 12000; i++) { made(); sink++; }
  return 0;
}
`;

const whyNot = whyNoRecording() ?? whyMissing('gcc') ?? (process.arch === 'x64' ? undefined : 'its code is that of x86-64');
if (whyNot !== undefined) announceSkipped('unwinding code of a JIT', whyNot);

describe.skipIf(whyNot !== undefined)('code of a JIT without frame pointers', () => {
  let directory = '';
  beforeAll(() => {
    directory = makeTempDir();
    writeFileSync(join(directory, 'jit.c'), PROGRAM);
    const { status, stderr } = runTool('gcc', ['-O2', '-fomit-frame-pointer', '-o', join(directory, 'jit'), join(directory, 'jit.c')]);
    if (status !== 0) throw new Error(stderr);
  });
  afterAll(() => removeTempDir(directory));

  /** Functions of each sample in burn, leaf first. */
  async function stacks(...args: readonly string[]): Promise<string[]> {
    const file = join(directory, 'jit.data');
    recordWithPerf([
      '-k',
      'mono',
      '-e',
      'cpu-clock:u',
      '-F',
      '1999',
      '--call-graph',
      'dwarf,4096',
      '-o',
      file,
      '--',
      join(directory, 'jit'),
      directory,
      ...args,
    ]);
    const samples = await ownScriptOf('--no-inline', file);
    return samples.map(({ frames }) => frames.map(({ symbol }) => symbol.replace(/\+0x.*/, '')).join(' ')).filter((stack) => stack.startsWith('burn'));
  }

  test('is unwound by the information in its dump', async () => {
    const found = await stacks();
    expect(found.length).toBeGreaterThan(50);
    const whole = found.filter((stack) => stack.startsWith('burn callback made_at_run_time main '));
    expect(whole.length / found.length).toBeGreaterThan(0.999);
  });

  test('ends stacks if its dump has no unwinding information', async () => {
    const found = await stacks('silent');
    expect(found.length).toBeGreaterThan(50);
    expect(found.filter((stack) => stack.includes('main'))).toEqual([]);
    expect(found.filter((stack) => stack.startsWith('burn callback made_at_run_time')).length).toBe(found.length);
  });
});
