import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { type PltEntry, readPltEntries } from '../../../src/elf/symbols/elf-plt.ts';
import { readElfSymbols } from '../../../src/elf/symbols/elf-symbols.ts';
import type { SymbolTable } from '../../../src/symbol-table/symbol-table.ts';
import { askPerf, hasPerf, runs } from '../../support/perf/perf-oracle.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';

/** The entries of a file's PLT as objdump has them, by address and function. */
function pltOfObjdump(program: string, path: string): [number, string][] {
  const text = execFileSync(program, ['-d', '--no-show-raw-insn', path], { encoding: 'utf8' });
  // For some targets, objdump adds the version.
  return [...text.matchAll(/^([0-9a-f]+) <([^@>]+)(?:@@?[^>]*)?@plt>:$/gm)].map(([, svma, called]) => [Number.parseInt(svma, 16), `${called}@plt`]);
}

/** The names of file offsets in the table. */
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
  ['mipsel-linux-gnu', ['-fno-pic', '-no-pie', '-mplt']],
  ['mips-linux-gnu', ['-fno-pic', '-no-pie', '-mplt']],
];

/** Holds the source, and programs made of it. */
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'plt-'));
  writeFileSync(join(dir, 'source.c'), SOURCE);
});
afterAll(() => rmSync(dir, { recursive: true }));

describe('the PLT of another machine', () => {
  for (const [target, args] of FORMS) {
    const canBuild = runs(`${target}-gcc`, ['-E', '-include', 'stdio.h', '-x', 'c', '/dev/null']) && runs(`${target}-objdump`, ['--version']);
    const name = `${target} ${args.join(' ')}`;
    if (!canBuild) announceSkipped(`the PLT of ${name}`, 'there is no compiler with a libc for it');
    it.skipIf(!canBuild)(`has the entries that objdump prints: ${name}`, async () => {
      const path = join(dir, name.replaceAll(/\W/g, ''));
      // With perf's rules, labels of the start files cover the PLT.
      execFileSync(`${target}-gcc`, ['-O1', '-w', '-s', ...args, '-o', path, join(dir, 'source.c')], { stdio: 'ignore' });
      const elf = await ElfFile.open(new BufferSource(readFileSync(path)));
      const expected = pltOfObjdump(`${target}-objdump`, path);
      const { entries: found, names: namesOfStubs } = await readPltEntries(elf, elf);
      // objdump gives no names to MIPS's other stubs.
      const others = elf.section('.MIPS.stubs') ?? { offset: 0, sizeBytes: 0 };
      const entries = found.filter(({ start }) => start < others.offset || start >= others.offset + others.sizeBytes).sort((a, b) => a.start - b.start);
      const nameOf = ({ nameOffset, nameLength }: PltEntry): string => Buffer.from(namesOfStubs).toString('latin1', nameOffset, nameOffset + nameLength);
      expect(entries.length).toBeGreaterThanOrEqual(7);
      expect(entries.map(nameOf)).toEqual(expected.map(([, called]) => called));
      expect(entries.map(({ start }) => start)).toEqual(expected.map(([svma]) => elf.fileOffsetOf(svma)));

      // Where the header says nothing about the size of entries, the order of perf's symbols decides which of them is shown at their first byte.
      if (!hasPerf || elf.section('.plt')?.entsize === 0) return;
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

describe('the PLT of a static program', () => {
  const targets = ['x86_64-linux-gnu', 'aarch64-linux-gnu', 'arm-linux-gnueabihf', 'i686-linux-gnu', 's390x-linux-gnu'];
  for (const target of targets) {
    const canBuild = runs(`${target}-gcc`, ['-E', '-include', 'stdio.h', '-x', 'c', '/dev/null']) && runs(`${target}-nm`, ['--version']);
    if (!canBuild) announceSkipped(`the PLT of a static program for ${target}`, 'there is no compiler with a libc for it');
    it.skipIf(!canBuild)(`has a stub for each function that is chosen when the program starts: ${target}`, async () => {
      const path = join(dir, target);
      execFileSync(`${target}-gcc`, ['-O1', '-w', '-static', '-o', path, join(dir, 'source.c')], { stdio: 'ignore' });
      const elf = await ElfFile.open(new BufferSource(readFileSync(path)));
      const { entries, names } = await readPltEntries(elf, elf);
      const found = entries.map(({ nameOffset, nameLength }) => Buffer.from(names).toString('latin1', nameOffset, nameOffset + nameLength));
      const relocated = execFileSync(`${target}-readelf`, ['-rW', path], { encoding: 'utf8' }).match(/_IRELATIV/g)?.length;
      expect(found.length).toBe(relocated);
      const resolvers = execFileSync(`${target}-nm`, [path], { encoding: 'utf8' }).matchAll(/^([0-9a-f]+) i (\S+)$/gm);
      const byName = new Map([...resolvers].map(([, address, name]) => [`${name}@plt`, address]));
      // Two stubs may call the same function.
      expect(found.filter((name) => !byName.has(name))).toEqual([]);
      expect(new Set(found).size).toBeGreaterThan(found.length / 2);
    });
  }
});

describe("the PLT of LLVM's linker, without an entry size in the section header", () => {
  const canBuild = process.arch === 'x64' && runs('gcc', ['--version']) && runs('ld.lld', ['--version']) && runs('objdump', ['--version']);
  if (!canBuild) announceSkipped("the PLT of LLVM's linker", 'there is no gcc, ld.lld or objdump for x86-64');
  it.skipIf(!canBuild).each([
    ['for any address', ['-fPIE', '-pie']],
    ['for a fixed address', ['-fno-pie', '-no-pie']],
    ['without lazy binding', ['-Wl,-z,now']],
  ])('has the entries that objdump prints: %s', async (_, args) => {
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
    if (!hasPerf) return;
    // All entries are at the start of the section, and empty. Where perf's tree of symbols leads to `_fini` first, which has no end, that is what it finds.
    const asPerf = namesIn(await readElfSymbols(elf, elf, { compatPerf: true }), starts);
    const base = 0x1_0000_0000n;
    const map = { path, start: base, sizeBytes: BigInt(readFileSync(path).length + 4095) & ~4095n, pgoff: 0n };
    const names = askPerf(
      [map],
      starts.map((start) => base + BigInt(start)),
    );
    expect(asPerf).toEqual(names.map(({ name }) => name));
  });
});
