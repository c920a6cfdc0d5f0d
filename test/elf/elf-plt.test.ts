import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BufferSource } from '../../src/base/byte-source.ts';
import { ElfFile } from '../../src/elf/elf-file.ts';
import { type PltEntry, readPltEntries } from '../../src/elf/elf-plt.ts';
import { readPltStubs } from '../../src/elf/elf-plt-stubs.ts';
import { readElfSymbols } from '../../src/elf/elf-symbols.ts';
import type { SymbolTable } from '../../src/symbol-table/symbol-table.ts';
import { buildElf } from '../support/elf-builder.ts';
import { askPerf, hasPerf, runs } from '../support/perf-oracle.ts';
import { buildSectionElf } from '../support/section-elf.ts';

/** The slots of stubs made of these words of code, at svma 0 with the GOT at 0. */
async function slotsOf(machine: number, words: readonly number[], options: { littleEndian?: boolean; section?: string; is32?: boolean } = {}) {
  const { littleEndian = true, section = '.plt', is32 = false } = options;
  const content = Buffer.alloc(words.length * 4);
  for (const [i, word] of words.entries()) littleEndian ? content.writeUInt32LE(word >>> 0, i * 4) : content.writeUInt32BE(word >>> 0, i * 4);
  const moreSections = [{ name: section, content }];
  const elf = await ElfFile.open(new BufferSource(buildElf({ classBits: is32 ? 32 : 64, littleEndian, machine, moreSections })));
  const offset = elf.section(section)!.offset;
  return (await readPltStubs(elf)).map(({ start, sizeBytes, slot }) => [start - offset, sizeBytes, slot]);
}

describe('stubs of the PLT', () => {
  it('of aarch64, with and without bti', async () => {
    const header = [0xa9bf7bf0, 0xb0000010, 0xf9400a11, 0x91004210, 0xd61f0220, 0xd503201f, 0xd503201f, 0xd503201f];
    const plain = [0xb0000010, 0xf9400e11, 0x91006210, 0xd61f0220];
    const guarded = [0xd503245f, 0xf0fffff0, 0xf9400211, 0x91000210, 0xd61f0220, 0xd503201f];
    // The header reads a slot, too, to which no relocation belongs.
    expect(await slotsOf(183, [...header, ...plain, ...guarded])).toEqual([
      [4, 28, 0x1010],
      [32, 16, 0x1018],
      [48, 24, -0x1000],
    ]);
  });

  it('of Arm, short, long, and reached from Thumb code', async () => {
    const plain = [0xe28fc600, 0xe28cca10, 0xe5bcfb88];
    const long = [0xe28fc200, 0xe28cc601, 0xe28cca10, 0xe5bcf004];
    const fromThumb = [0x46c04778, 0xe28fc600, 0xe28cca10, 0xe5bcf000];
    expect(await slotsOf(40, [...plain, ...long, ...fromThumb], { is32: true })).toEqual([
      [0, 12, 8 + 0x10000 + 0xb88],
      [12, 16, 12 + 8 + 0x100000 + 0x10000 + 4],
      [28, 16, 32 + 8 + 0x10000],
    ]);
  });

  it('of RISC-V of 64 and 32 bits', async () => {
    expect(await slotsOf(243, [0x00002e17, 0xd10e3e03, 0x000e0367, 0x00000013])).toEqual([[0, 16, 0x2000 - 0x2f0]]);
    expect(await slotsOf(243, [0x00000017, 0xfffffe17, 0x010e2e03, 0x000e0367], { is32: true })).toEqual([[0, 16, 4 - 0x1000 + 0x10]]);
  });

  it('of i386 by address and by register, of s390x, of x86-64 behind endbr', async () => {
    expect(await slotsOf(3, [0xc00425ff, 0x00680804, 0xe9000000, 0xffffffe0], { is32: true })).toEqual([[0, 16, 0x0804c004]]);
    expect(await slotsOf(3, [0xfb1e0ff3, 0x0010a3ff, 0x0f660000, 0x0000441f], { is32: true, section: '.plt.sec' })).toEqual([[0, 16, 0x10]]);
    const entry = [0xc0100000, 0x0d00e310, 0x10000004, 0x07f10d10, 0xe310100c, 0x0014c0f4, 0xffffffe5, 0];
    expect(await slotsOf(22, entry, { littleEndian: false })).toEqual([[0, 32, 0x1a00]]);
    expect(await slotsOf(62, [0xfb1e0ff3, 0x2f7525ff, 0x0f660000, 0x0000441f], { section: '.plt.sec' })).toEqual([[0, 16, 10 + 0x2f75]]);
  });

  it('of no form that is known are none', async () => {
    for (const machine of [3, 22, 40, 62, 183, 243, 999]) {
      expect(await slotsOf(machine, new Array<number>(16).fill(0), { littleEndian: machine !== 22 })).toEqual([]);
      expect(await slotsOf(machine, [], { littleEndian: machine !== 22 })).toEqual([]);
    }
  });
});

it('of a hostile file, whose every entry has the same long name, are refused', async () => {
  const count = 2000;
  const relocations = new Uint8Array(Uint32Array.from({ length: count * 4 }, (_, i) => (i % 4 === 3 ? 1 : 0)).buffer);
  const symbols = new Uint8Array(48);
  symbols[24] = 1;
  const bytes = buildSectionElf({
    sections: [
      { name: '.plt', entsize: 1, content: new Uint8Array(count) },
      { name: '.rel.plt', type: 9, link: 3, content: relocations },
      { name: '.dynsym', type: 11, link: 4, content: symbols },
      { name: '.dynstr', type: 3, content: Buffer.from(`\0${'a'.repeat(5000)}\0`) },
    ],
  });
  await expect(readPltEntries(await ElfFile.open(new BufferSource(bytes, '/bin/x')), true)).rejects.toThrow('names of its symbols overlap');
});

/** The entries of a file's PLT as objdump has them, by address and function. */
function pltOfObjdump(program: string, path: string): [number, string][] {
  const text = execFileSync(program, ['-d', '--no-show-raw-insn', path], { encoding: 'utf8' });
  // objdump adds the version in some targets.
  return [...text.matchAll(/^([0-9a-f]+) <([^@>]+)(?:@@?[^>]*)?@plt>:$/gm)].map(([, svma, called]) => [Number.parseInt(svma, 16), `${called}@plt`]);
}

/** What the table calls file offsets. */
function namesIn(table: SymbolTable | undefined, offsets: readonly number[]): (string | undefined)[] {
  return offsets.map((offset) => {
    const index = table?.find(offset) ?? -1;
    return index < 0 ? undefined : table!.name(index);
  });
}

const SOURCE = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) { int (*volatile taken)(const char *) = puts; taken("x"); printf("%d %d", argc, rand()); if (argc > 5) abort(); write(1, "a", getpid()); exit(strlen(argv[0]) > 3); }
`;
const FORMS: readonly (readonly [string, readonly string[]])[] = [
  ['aarch64-linux-gnu', ['-fPIE', '-pie']],
  ['aarch64-linux-gnu', ['-mbranch-protection=standard', '-Wl,-z,force-bti']],
  ['arm-linux-gnueabihf', ['-fPIC', '-shared']],
  ['arm-linux-gnueabihf', ['-mthumb', '-Wl,--long-plt']],
  ['i686-linux-gnu', ['-fno-pie', '-no-pie']],
  ['i686-linux-gnu', ['-fPIE', '-pie', '-Wl,-z,now']],
  ['i686-linux-gnu', ['-fcf-protection=full', '-Wl,-z,ibtplt']],
  ['riscv64-linux-gnu', ['-fPIE', '-pie']],
  ['s390x-linux-gnu', ['-fPIC', '-shared']],
];

describe('PLTs of other machines, beside their objdump and perf', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'plt-'));
    writeFileSync(join(dir, 'source.c'), SOURCE);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  for (const [target, args] of FORMS) {
    const canBuild = runs(`${target}-gcc`, ['-E', '-include', 'stdio.h', '-x', 'c', '/dev/null']) && runs(`${target}-objdump`, ['--version']);
    const name = `${target} ${args.join(' ')}`;
    if (!canBuild) console.warn(`SKIPPED: the PLT of ${name}, because there is no compiler with a libc for it`);
    it.skipIf(!canBuild)(name, async () => {
      const path = join(dir, name.replaceAll(/\W/g, ''));
      // Labels of the start files lie over the PLT, as perf has it.
      execFileSync(`${target}-gcc`, ['-O1', '-w', '-s', ...args, '-o', path, join(dir, 'source.c')], { stdio: 'ignore' });
      const elf = await ElfFile.open(new BufferSource(readFileSync(path)));
      const expected = pltOfObjdump(`${target}-objdump`, path);
      const { entries: found, names: namesOfStubs } = await readPltEntries(elf, false);
      const entries = [...found].sort((a, b) => a.start - b.start);
      const nameOf = ({ nameOffset, nameLength }: PltEntry): string => Buffer.from(namesOfStubs).toString('latin1', nameOffset, nameOffset + nameLength);
      expect(entries.length).toBeGreaterThanOrEqual(7);
      expect(entries.map(nameOf)).toEqual(expected.map(([, called]) => called));
      expect(entries.map(({ start }) => start)).toEqual(expected.map(([svma]) => elf.fileOffsetOf(svma)));

      if (!hasPerf) return;
      const table = await readElfSymbols(elf, elf, { compatPerf: true });
      const plt = elf.section('.plt')!;
      const offsets = Array.from({ length: plt.sizeBytes / 4 }, (_, i) => plt.offset + i * 4);
      const base = 0x1_0000_0000n;
      const names = askPerf(
        [{ path, start: base, sizeBytes: BigInt(readFileSync(path).length + 4095) & ~4095n, pgoff: 0n }],
        offsets.map((offset) => base + BigInt(offset)),
      );
      expect(namesIn(table, offsets)).toEqual(names.map((oracle) => oracle.name));
    });
  }
});

describe("PLTs of LLVM's linker, whose section header has no entry size", () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'plt-'));
    writeFileSync(join(dir, 'source.c'), SOURCE);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  const canBuild = process.arch === 'x64' && runs('gcc', ['--version']) && runs('ld.lld', ['--version']) && runs('objdump', ['--version']);
  if (!canBuild) console.warn("SKIPPED: the PLT of LLVM's linker, because there is no gcc, ld.lld or objdump for x86-64");
  it.skipIf(!canBuild).each([
    ['for any address', ['-fPIE', '-pie']],
    ['for a fixed address', ['-fno-pie', '-no-pie']],
    ['without lazy binding', ['-Wl,-z,now']],
  ])('%s', async (_, args) => {
    const path = join(dir, args.join('').replaceAll(/\W/g, ''));
    execFileSync('gcc', ['-O1', '-w', '-fuse-ld=lld', ...args, '-o', path, join(dir, 'source.c')], { stdio: 'ignore' });
    const elf = await ElfFile.open(new BufferSource(readFileSync(path)));
    const plt = elf.section('.plt')!;
    expect(plt.entsize).toBe(0);
    const expected = pltOfObjdump('objdump', path);
    const starts = expected.map(([svma]) => elf.fileOffsetOf(svma)!);
    // `_fini` before it has no size: it ends with its section.
    expect(namesIn(await readElfSymbols(elf, elf, { compatPerf: false }), [plt.offset, ...starts])).toEqual([
      undefined,
      ...expected.map(([, called]) => called),
    ]);
    const asPerf = namesIn(await readElfSymbols(elf, elf, { compatPerf: true }), starts);
    expect(asPerf).toEqual(starts.map(() => undefined));

    // Of so few entries at a fixed address perf's tree of symbols lies so that it comes upon `_fini` first, which has no end.
    if (!hasPerf || args.includes('-no-pie')) return;
    const base = 0x1_0000_0000n;
    const map = { path, start: base, sizeBytes: BigInt(readFileSync(path).length + 4095) & ~4095n, pgoff: 0n };
    const names = askPerf(
      [map],
      starts.map((start) => base + BigInt(start)),
    );
    expect(asPerf).toEqual(names.map(({ name }) => name));
  });
});

it("of LLVM's linker against Spectre are known by what they load", async () => {
  expect(await slotsOf(62, [0xd91d8b4c, 0xe8000022, 0xffffffe4, 0xffffd1e9])).toEqual([[0, 16, 7 + 0x22d9]]);
  expect(await slotsOf(62, [0xd91d8b4c, 0xe8000022, 0xffffffe4, 0xffffd1e9, 0x00000068, 0xffb5e900, 0xccccccff, 0xcccccccc])).toEqual([[0, 32, 7 + 0x22d9]]);
  const i386 = { is32: true };
  expect(await slotsOf(3, [0x3304a150, 0xe5e80040, 0xe9ffffff, 0xffffffd1, 0x00000068, 0xffb6e900, 0xccccccff, 0xcccccccc], i386)).toEqual([[0, 32, 0x403304]]);
  expect(await slotsOf(3, [0x0c838b50, 0xe8000000, 0xffffffe4, 0xffffd1e9, 0x000068ff, 0xb5e90000, 0xccffffff, 0xcccccccc], i386)).toEqual([[0, 32, 0xc]]);
});
