import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { findFunctionStarts } from '../../../src/elf/frame-tables/function-starts.ts';
import { runs } from '../../support/perf/perf-oracle.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';

// The functions unwind in different ways, since Arm's linkers merge neighbors that unwind alike.
const SOURCE = `
int called(int); volatile int sink;
__attribute__((noinline)) int leaf(int a) { sink = a; return a * 3; }
__attribute__((noinline)) int caller(int a) { int big[99]; big[a % 99] = called(a); sink = big[1]; return big[a % 98] + leaf(a); }
__attribute__((noinline)) int other(int a, int b) { char text[500]; for (int i = 0; i < 500; i++) text[i] = (char)called(i); return text[a % 500] + caller(b); }
int called(int a) { return a + sink; }
int main(int argc, char **argv) { return other(argc, caller(argc)); }
`;
const TARGETS: readonly (readonly [string, readonly string[]])[] = [
  ['', ['-fPIE', '-pie']],
  ['', ['-fno-pie', '-no-pie', '-ffunction-sections', '-Wl,--no-eh-frame-hdr']],
  ['', ['-static']],
  ['aarch64-linux-gnu-', ['-fPIE', '-pie']],
  ['arm-linux-gnueabihf-', ['-funwind-tables']],
  ['i686-linux-gnu-', ['-fno-pie', '-no-pie']],
  ['i686-linux-gnu-', ['-fPIC', '-shared']],
  ['riscv64-linux-gnu-', ['-fPIE', '-pie', '-fasynchronous-unwind-tables']],
  ['s390x-linux-gnu-', ['-fPIC', '-shared']],
];

describe('the start of each function of a stripped binary', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'starts-'));
    writeFileSync(join(dir, 'source.c'), SOURCE);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  for (const [prefix, args] of TARGETS) {
    const name = `${prefix}gcc ${args.join(' ')}`;
    const canBuild = runs(`${prefix}gcc`, ['-E', '-include', 'stdio.h', '-x', 'c', '/dev/null']) && runs(`${prefix}nm`, ['--version']);
    if (!canBuild) announceSkipped(`function starts of ${name}`, 'there is no compiler with a libc for it');
    it.skipIf(!canBuild)(`is where nm had its symbol before stripping: ${name}`, async () => {
      const path = join(dir, name.replaceAll(/\W/g, ''));
      execFileSync(`${prefix}gcc`, ['-O1', '-w', ...args, '-o', path, join(dir, 'source.c')], { stdio: 'ignore' });
      const functions = functionsOf(execFileSync(`${prefix}nm`, ['-S', path], { encoding: 'utf8' }), prefix.startsWith('arm'));
      execFileSync(`${prefix}strip`, ['-s', path]);
      for (const bytes of [readFileSync(path), withoutSections(readFileSync(path), args)]) {
        const elf = await ElfFile.open(new BufferSource(bytes));
        // The first byte, one in the middle and the last byte of each function.
        const asked = functions.flatMap(({ start, sizeBytes }) => [0, sizeBytes >> 1, sizeBytes - 1].map((at) => [elf.fileOffsetOf(start + at) ?? -1, start]));
        asked.sort(([a], [b]) => a - b);
        const starts = await findFunctionStarts(
          elf,
          Float64Array.from(asked, ([offset]) => offset),
        );
        expect(functions.length).toBe(5);
        expect([...starts]).toEqual(asked.map(([, start]) => start));
      }
    });
  }
});

/** The functions of the source, as nm prints them: address, size, type, name. */
function functionsOf(text: string, isArm: boolean): { start: number; sizeBytes: number }[] {
  return [...text.matchAll(/^([0-9a-f]+) ([0-9a-f]+) [Tt] (leaf|caller|other|called|main)$/gm)].map(([, start, size]) => ({
    start: Number.parseInt(start, 16) - (isArm ? Number.parseInt(start, 16) % 2 : 0),
    sizeBytes: Number.parseInt(size, 16),
  }));
}

/** The same file without its section headers, as sstrip leaves it; with them if it has no header for unwinders, either. */
function withoutSections(bytes: Buffer, args: readonly string[]): Buffer {
  if (args.includes('-Wl,--no-eh-frame-hdr') || args.includes('-static')) return bytes;
  const is64 = bytes[4] === 2;
  bytes.fill(0, is64 ? 40 : 32, is64 ? 48 : 36);
  bytes.fill(0, is64 ? 58 : 46, is64 ? 64 : 52);
  return bytes;
}
