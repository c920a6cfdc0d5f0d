import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { Frame } from '../../../src/unwind/frames/frame.ts';
import { MACHINE_REGISTERS } from '../../../src/unwind/machines/unwind-machine.ts';
import { StackMemory } from '../../../src/unwind/memory/stack-memory.ts';
import { CANT_UNWIND, type ExidxTable } from '../../../src/unwind/rules/exidx-table.ts';
import { readUnwindTables } from '../../../src/unwind/rules/unwind-tables.ts';
import { ExidxStep } from '../../../src/unwind/steps/exidx-step.ts';
import { runs } from '../../support/perf/perf-oracle.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';

/** Debian's libraries for cross compilers. `PERFCONV_EXIDX_FILES` names others, separated by spaces. */
const LIBRARIES = [
  ...['libc.so.6', 'libstdc++.so.6', 'libgomp.so.1', 'libgcc_s.so.1'].map((name) => `/usr/arm-linux-gnueabihf/lib/${name}`),
  ...(process.env.PERFCONV_EXIDX_FILES?.split(' ') ?? []),
];
const SP = 0x8_0000;
const STACK_BYTES = 0x4_0000;

/** What `readelf -u` says about one function. */
interface ReadelfEntry {
  readonly start: number;
  readonly isCantUnwind: boolean;
  /** What its instructions do, in words; undefined if readelf does not show them, for personality routines without a name. */
  readonly actions: readonly string[] | undefined;
  /** Where the personality routine is, in hexadecimal digits; undefined if the entry has none of its own. */
  readonly personality: string | undefined;
}

function parseEntries(text: string): ReadelfEntry[] {
  return text
    .split('\n\n')
    .filter((block) => /^0x[0-9a-f]+(?: <.*>)?: /.test(block.trimStart()))
    .map((block) => {
      const [head, ...lines] = block.trim().split('\n');
      const actions = lines.flatMap((line) => /^ +(?:0x[0-9a-f]{2} )+ *(.*)$/.exec(line)?.slice(1) ?? []);
      const isCantUnwind = head.includes('[cantunwind]');
      const [, personality] = /Personality routine: 0x([0-9a-f]+)/.exec(block) ?? [];
      return { start: Number.parseInt(head, 16), isCantUnwind, actions: actions.length === 0 ? undefined : actions, personality };
    });
}

/** What readelf says about a file. If its personality routines can be named in a copy, their entries' instructions are shown, too. */
function entriesOf(path: string, directory: string): ReadelfEntry[] {
  const entries = parseEntries(readelf(path));
  const places = [...new Set(entries.flatMap(({ personality }) => personality ?? []))];
  if (places.length === 0) return entries;
  const copy = join(directory, 'named');
  const names = places.flatMap((at) => ['--add-symbol', `__gxx_personality_v0=0x${at},global,function`]);
  const { status } = spawnSync('arm-linux-gnueabihf-objcopy', [...names, path, copy], { stdio: 'ignore' });
  return status === 0 ? parseEntries(readelf(copy)) : entries;
}

function readelf(path: string): string {
  return spawnSync('readelf', ['-u', path], { encoding: 'latin1', maxBuffer: 1 << 28 }).stdout;
}

/** The word at an address of the made-up stack: an address in the stack itself, so that it can be a stack pointer, too. */
function wordAt(address: number): number {
  return SP + ((address * 37) % STACK_BYTES);
}

/** Carries out readelf's words. @returns registers by number */
function follow(actions: readonly string[], initial: readonly number[]): number[] | 'refuse' {
  const registers = [...initial];
  let vsp = registers[13];
  let isPcSet = false;
  for (const action of actions) {
    const move = /^vsp = vsp ([+-]) (\d+)$/.exec(action);
    const from = /^vsp = r(\d+)$/.exec(action);
    const pop = /^pop \{(.*)\}$/.exec(action);
    if (action === 'finish') break;
    if (action === 'Refuse to unwind') return 'refuse';
    if (move) vsp += (move[1] === '+' ? 1 : -1) * Number(move[2]);
    else if (from) vsp = registers[Number(from[1])];
    else if (pop) {
      let popped: number | undefined;
      for (const name of pop[1].split(', ')) {
        const doubles = /^D(\d+)(?:-D(\d+))?$/.exec(name);
        if (doubles) {
          vsp += 8 * (Number(doubles[2] ?? doubles[1]) - Number(doubles[1]) + 1);
          continue;
        }
        const register = Number(/^r(\d+)$/.exec(name)?.[1]);
        registers[register] = wordAt(vsp);
        if (register === 13) popped = registers[register];
        isPcSet ||= register === 15;
        vsp += 4;
      }
      vsp = popped ?? vsp;
    } else throw new Error(`unknown words: ${action}`);
  }
  registers[13] = vsp;
  if (!isPcSet) registers[15] = registers[14];
  return registers;
}

/** The same with the instructions that this program found. */
function step(table: ExidxTable, found: number, initial: readonly number[]): number[] | 'refuse' {
  const frame = new Frame();
  frame.setMachine(MACHINE_REGISTERS.arm);
  initial.forEach((value, register) => {
    frame.registers.set(register, value);
  });
  const bytes = new Uint8Array(STACK_BYTES);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < STACK_BYTES; at += 4) view.setUint32(at, wordAt(SP + at), true);
  const stack = new StackMemory();
  stack.set(new ByteView(bytes, true), 0, STACK_BYTES, SP, 4);
  return new ExidxStep(frame, stack).step(table, found) === 'stepped' ? Array.from({ length: 16 }, (_, register) => frame.registers.value(register)) : 'refuse';
}

async function compare(path: string, directory: string): Promise<{ entries: number; followed: number; differences: string[] }> {
  const entries = entriesOf(path, directory);
  const { exidx } = await readUnwindTables(await ElfFile.open(new BufferSource(readFileSync(path))), {});
  if (exidx === undefined) throw new Error(`${path} has no .ARM.exidx`);
  const initial = Array.from({ length: 16 }, (_, register) => SP + 0x1000 + 0x40 * register);
  const differences: string[] = [];
  let followed = 0;
  for (const [i, { start, isCantUnwind, actions }] of entries.entries()) {
    const found = exidx.find(start);
    if (exidx.startOf(i) !== start) differences.push(`entry ${i} is of ${exidx.startOf(i)} instead of ${start}`);
    if ((found === CANT_UNWIND) !== isCantUnwind) differences.push(`0x${start.toString(16)}: ${found}`);
    if (actions === undefined) continue;
    followed++;
    const [ours, theirs] = [String(step(exidx, found, initial)), String(follow(actions, initial))];
    if (ours !== theirs) differences.push(`0x${start.toString(16)}: ${ours} instead of ${theirs}`);
  }
  if (exidx.count !== entries.length) differences.push(`${exidx.count} entries instead of ${entries.length}`);
  return { entries: entries.length, followed, differences: differences.slice(0, 10) };
}

// A function with cleanups has a personality routine.
const SOURCE = `
#include <stdarg.h>
#include <stdlib.h>
#include <alloca.h>
volatile int sink;
void clean(int *n) { sink += *n; }
void (*volatile callback)(int);
__attribute__((noinline)) void cleaner(int n) { int kept __attribute__((cleanup(clean))) = n; callback(n); sink += kept; }
__attribute__((noinline)) int sum(int n, ...) { va_list v; va_start(v, n); int r = 0; for (int i = 0; i < n; i++) r += va_arg(v, int); cleaner(r); va_end(v); return r; }
__attribute__((noinline)) double floats(double a, double b, double c) { cleaner(3); double d = a * b; cleaner((int)d); return d + c; }
__attribute__((noinline)) void large(int n) { char big[20000] __attribute__((unused)); int kept __attribute__((cleanup(clean))) = n; big[n] = n; cleaner(n); sink += big[n + 1]; }
__attribute__((noinline)) void dynamic(int n) { char *p = alloca(n); p[1] = n; cleaner(n); sink += p[2]; }
int main(int argc, char **argv) { cleaner(argc); large(argc); dynamic(argc); floats(argc, 2, 3); return sum(argc, 1, 2, 3); }
`;

const hasReadelf = runs('readelf', ['--version']);
const present = LIBRARIES.filter((path) => hasReadelf && existsSync(path));
const hasCompiler = hasReadelf && runs('arm-linux-gnueabihf-gcc', ['--version']);
if (present.length < LIBRARIES.length) announceSkipped('.ARM.exidx of libraries', 'no readelf, or none of libc6-armhf-cross, libstdc++6-armhf-cross');
if (!hasCompiler) announceSkipped('.ARM.exidx of programs', 'no readelf, or no arm-linux-gnueabihf-gcc');

describe('.ARM.exidx is read as readelf -u reads it', () => {
  let dir = '';
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'perfconv-exidx-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it.skipIf(present.length === 0)('in Debian’s libraries', async () => {
    let all = 0;
    for (const path of present) {
      const { followed, differences } = await compare(path, dir);
      expect(differences).toEqual([]);
      all += followed;
    }
    expect(all).toBeGreaterThan(500);
  });

  // With names, readelf also shows the instructions after a language's personality routine.
  it.skipIf(!hasCompiler).each(['-O2', '-O2 -marm', '-O0 -mthumb', '-O2 -marm -fno-omit-frame-pointer'])('in a program: %s', async (options) => {
    const path = join(dir, 'program');
    writeFileSync(join(dir, 'source.c'), SOURCE);
    execFileSync('arm-linux-gnueabihf-gcc', ['-w', '-fexceptions', '-funwind-tables', ...options.split(' '), '-static', '-o', path, join(dir, 'source.c')], {
      stdio: 'ignore',
    });
    const { entries, followed, differences } = await compare(path, dir);
    expect(differences).toEqual([]);
    expect([entries > 100, followed > 50]).toEqual([true, true]);
  });
});
