import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { NodeSymbolFiles } from '../../../src/host/symbols/symbol-files.ts';
import { demangleSymbol } from '../../../src/naming/function-names.ts';
import type { SymbolTable } from '../../../src/symbol-table/symbol-table.ts';
import { DEFAULT_DEBUG_DIRS, Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { buildElf, TEXT } from '../../support/builders/elf/elf-builder.ts';
import { askPerf, hasPerf, type OracleName, runs } from '../../support/perf/perf-oracle.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';

const hasGcc = runs('gcc', ['--version']);
const hasKallsyms = existsSync('/proc/kallsyms') && /^0*[1-9a-f]/m.test(readFileSync('/proc/kallsyms', 'latin1').slice(0, 4096));
if (!hasPerf) announceSkipped('comparison of symbols with perf', 'perf does not run here');
if (!hasGcc) announceSkipped('comparison of symbols on binaries of our own', 'gcc is not installed');
if (!hasKallsyms) announceSkipped('comparison of kernel symbols', '/proc/kallsyms shows no addresses');

const BASE = 0x100_0000_0000n;

/** Pseudo-random numbers in [0, 1), the same ones each time. */
function randomNumbers(seed = 12345): () => number {
  let state = Math.imul(seed, 0x9e3779b1);
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state / 2 ** 32;
  };
}

function described(table: SymbolTable | undefined, address: number): OracleName {
  const index = table?.find(address) ?? -1;
  return index < 0 ? { name: undefined, offset: 0 } : { name: table!.name(index), offset: address - table!.start(index) };
}

function differences(table: SymbolTable | undefined, addresses: readonly number[], names: readonly OracleName[], isDemangled = false): string[] {
  return addresses.flatMap((address, i) => {
    const found = described(table, address);
    const own = isDemangled && found.name !== undefined ? { ...found, name: demangleSymbol(found.name, 'no-params', true) ?? found.name } : found;
    if (own.name === names[i].name && own.offset === names[i].offset) return [];
    const isStub = names[i].name === '_init' && own.name?.endsWith('@plt');
    // Only a label inside a function is nearer than the symbol that was found: all other symbols are in the table.
    const isLabel = (own.offset ?? 0) > (names[i].offset ?? 0);
    const why = isStub ? INIT_OVER_PLT : isLabel ? LABEL_INSIDE : overlaps(table, address) ? OVERLAPPING : '';
    return [`${address.toString(16)}: perf ${names[i].name}+${names[i].offset}, here ${own.name}+${own.offset}${why}`];
  });
}

// The differences that are left: among overlapping symbols, perfconv takes the nearest, and perf the one that its tree leads to. In perf,
// _init, which has no size, reaches to the next symbol of .symtab and so covers the PLT. A label without a size inside a function that
// has one is not a symbol in perfconv; perf names it or the function, again depending on its tree.
const OVERLAPPING = ' (overlapping symbols)';
const LABEL_INSIDE = ' (label inside a function)';
const INIT_OVER_PLT = ' (PLT behind _init)';
/** The share of addresses that may differ in these ways. */
const ALLOWED_SHARE = 0.001;

/** Whether the symbol found at an address shares bytes with another one. */
function overlaps(table: SymbolTable | undefined, address: number): boolean {
  const own = table?.find(address) ?? -1;
  if (table === undefined || own < 0) return false;
  for (let other = 0; other < table.size; other++) {
    if (other !== own && table.start(other) < table.end(own) && table.start(own) < table.end(other)) return true;
  }
  return false;
}

/** Only the differences that are explained above may occur, at up to `most` addresses. Their kinds are printed. */
function expectLikePerf(differing: readonly string[], most = Number.POSITIVE_INFINITY): void {
  const classes = [OVERLAPPING, LABEL_INSIDE, INIT_OVER_PLT].map((why) => differing.filter((line) => line.endsWith(why)));
  expect(differing.filter((line) => !classes.flat().includes(line))).toEqual([]);
  expect(differing.length, differing.join('\n')).toBeLessThanOrEqual(most);
  for (const lines of classes) if (lines.length > 0) console.warn(`${lines.length} addresses differ, the first ${lines[0]}`);
}

/** 10,000 random addresses of the code, and both ends of up to 3,000 symbols. */
function probes(table: SymbolTable | undefined, from: number, to: number): number[] {
  const random = randomNumbers();
  const addresses = Array.from({ length: 10_000 }, () => from + Math.floor(random() * (to - from)));
  for (let i = 0; table && i < Math.min(table.size, 3000); i++) {
    const index = Math.floor(random() * table.size);
    addresses.push(table.start(index), table.end(index) - 1, table.end(index));
  }
  return addresses.filter((address) => address >= from && address < to);
}

async function compareFile(
  path: string,
  { isDemangled = false, ...options }: { debugDirs?: readonly string[]; symfs?: string; isDemangled?: boolean } = {},
): Promise<{ table: SymbolTable | undefined; differing: string[]; asked: number }> {
  const how = { debugDirs: DEFAULT_DEBUG_DIRS, compatPerf: true, linkageAliases: !isDemangled, ...options };
  const symbolizer = new Symbolizer(new NodeSymbolFiles(), how, new Diagnostics());
  const table = (await symbolizer.symbolsFor({ name: path, kind: 'file', buildId: '', osRelease: '' }))?.table;
  const bytes = readFileSync(path);
  const code = (await ElfFile.open(new BufferSource(bytes))).segments.filter(({ type, flags }) => type === 1 && (flags & 1) !== 0);
  const addresses = probes(table, Math.min(...code.map(({ offset }) => offset)), Math.max(...code.map(({ offset, filesz }) => offset + filesz)));
  const map = { path, start: BASE, sizeBytes: BigInt(bytes.length + 4095) & ~4095n, pgoff: 0n };
  const names = askPerf(
    [map],
    addresses.map((address) => BASE + BigInt(address)),
    { args: isDemangled ? ['--demangle'] : [] },
  );
  return { table, differing: differences(table, addresses, names, isDemangled), asked: addresses.length };
}

/** Installed binaries of different origins: with and without .symtab, debug files, PLTs, by Go's own linker. */
const installed = [
  process.execPath,
  '/bin/bash',
  '/usr/bin/find',
  '/usr/bin/git',
  '/usr/local/go/bin/go',
  ...['libc.so.6', 'libm.so.6', 'ld-linux-x86-64.so.2', 'libstdc++.so.6', 'libcrypto.so.3'].map((name) => `/usr/lib/x86_64-linux-gnu/${name}`),
].filter((path) => existsSync(path));

describe.skipIf(!hasPerf)('names and offsets', () => {
  it.each(installed)('are those of perf: %s', async (path) => {
    const { differing, asked } = await compareFile(realpathSync(path));
    expect(asked).toBeGreaterThan(9000);
    expectLikePerf(differing, asked * ALLOWED_SHARE);
  });
});

describe.skipIf(!hasPerf)('demangled names of the same address', () => {
  it.each(installed.filter((path) => /node$|libstdc/.test(path)))('are chosen as by perf: %s', async (path) => {
    const { differing, asked } = await compareFile(realpathSync(path), { isDemangled: true });
    expectLikePerf(differing, asked * ALLOWED_SHARE);
  });
});

describe.skipIf(!hasPerf)('random tables of aliases', () => {
  const cases = [1, 2, 3, 4, 5, 6].flatMap((seed) => [
    { seed, isDynamic: false },
    { seed, isDynamic: true },
  ]);
  it.each(cases)('are resolved as by perf: number $seed, with .dynsym: $isDynamic', async ({ seed, isDynamic }) => {
    const random = randomNumbers(seed);
    const upTo = (limit: number): number => Math.floor(random() * limit);
    const made = (length: number, prefix: string) =>
      Array.from({ length }, (_, i) => ({
        name: `${'_'.repeat(upTo(3))}${prefix}${i}${'x'.repeat(upTo(3))}`,
        value: TEXT.vaddr + 16 * upTo(TEXT.sizeBytes / 16),
        sizeBytes: upTo(17),
        binding: upTo(3),
      }));
    const symbols = made(400, 's');
    // They begin where symbols of .symtab begin: elsewhere, one without a size may reach over them.
    const others = made(100, 'd').map((symbol) => ({ ...symbol, value: symbols[upTo(symbols.length)].value }));
    const dynamicSymbols = isDynamic ? [...others, ...symbols.filter(() => upTo(3) === 0)] : [];
    const dir = mkdtempSync(join(tmpdir(), 'random-'));
    try {
      const path = join(dir, 'random.elf');
      writeFileSync(path, buildElf({ classBits: 64, littleEndian: true, symbols, ...(isDynamic && { dynamicSymbols }) }));
      const { differing, table } = await compareFile(path);
      expect(table!.size).toBeGreaterThan(100);
      expect(differing).toEqual([]);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

const SOURCE = `
#include <stdio.h>
#include <stdlib.h>
static int __attribute__((noinline)) local_one(int a) { return a * 3 + rand(); }
int visible_one(int a) { return local_one(a) + 1; }
int __attribute__((weak, alias("visible_one"))) weak_alias(int);
int __attribute__((alias("visible_one"))) __underscored_alias(int);
int __attribute__((alias("visible_one"))) visible_one_longer(int);
__asm__(".text\\nlabel_in_text: .fill 32,1,0x90\\n.type sized,@function\\nsized: .fill 8,1,0x90\\nlabel_in_sized: .fill 8,1,0x90\\n.size sized,16\\n"
        ".type outer,@function\\nouter: .fill 8,1,0x90\\n.type inner,@function\\ninner: .fill 8,1,0x90\\n.size inner,8\\n.fill 8,1,0x90\\n.size outer,24\\n"
        ".globl absolute\\n.type absolute,@function\\nabsolute=0x1234\\n.hidden hidden_label\\n.globl hidden_label\\nhidden_label: .fill 16,1,0x90\\n");
int main(int argc, char **argv) { int (*volatile taken)(const char *) = puts; taken("x"); printf("%d %d", visible_one(argc), rand()); exit(0); }
`;

describe.skipIf(!hasPerf || !hasGcc)('binaries built here', () => {
  let dir: string;
  const at = (name: string): string => join(dir, name);
  const compile = (name: string, ...args: string[]): string => {
    execFileSync('gcc', ['-O1', '-x', 'c', at('source.c'), '-Wl,--build-id', ...args, '-o', at(name)], { stdio: 'ignore' });
    return at(name);
  };
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'symbols-'));
    writeFileSync(at('source.c'), SOURCE);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  it.each([
    ['a PIE', []],
    ['an executable at a fixed address', ['-no-pie']],
    ['a static executable', ['-static']],
    ['an executable that exports its functions', ['-rdynamic']],
    ['a stripped executable', ['-s']],
    ['a stripped executable that exports its functions', ['-s', '-rdynamic']],
    ['a shared library', ['-shared', '-fPIC']],
    ['a shared library bound at once', ['-shared', '-fPIC', '-Wl,-z,now']],
    ['a PIE with .plt.sec', ['-fcf-protection=full', '-Wl,-z,ibtplt']],
    ['segments that are not page by page', ['-Wl,-z,noseparate-code', '-Wl,-z,max-page-size=65536']],
  ])('have the names that perf has: %s', async (name, args) => {
    const { differing, asked } = await compareFile(compile(name.replaceAll(' ', '-'), ...args));
    expect(asked).toBeGreaterThan(9000);
    expectLikePerf(differing);
  });

  it('have the symbols that only .dynsym has, too', async () => {
    const path = compile('lacking', '-rdynamic');
    execFileSync('objcopy', ['--strip-symbol=visible_one', '--strip-symbol=visible_one_longer', '--strip-symbol=weak_alias', path]);
    const { table, differing } = await compareFile(path);
    expectLikePerf(differing);
    const shown = Array.from({ length: table!.size }, (_, i) => table!.name(i));
    expect(shown).toContain('visible_one_longer');
    expect(shown).toContain('local_one');
  });

  it('have the names in a separate debug file, found by debug link', async () => {
    const path = compile('linked');
    execFileSync('objcopy', ['--only-keep-debug', path, at('linked.debug')]);
    execFileSync('strip', [path]);
    execFileSync('objcopy', [`--add-gnu-debuglink=${at('linked.debug')}`, path]);
    const { table, differing } = await compareFile(path);
    expectLikePerf(differing);
    expect(Array.from({ length: table!.size }, (_, i) => table!.name(i))).toContain('local_one');
  });

  it('have names for PLT stubs of all kinds without --compat perf', async () => {
    for (const args of [[], ['-fcf-protection=full', '-Wl,-z,ibtplt'], ['-Wl,-z,now'], ['-s']]) {
      const path = compile(`plt${args.join('').replaceAll(/\W/g, '')}`, ...args);
      const symbolizer = new Symbolizer(new NodeSymbolFiles(), { debugDirs: [], compatPerf: false }, new Diagnostics());
      const table = (await symbolizer.symbolsFor({ name: path, kind: 'file', buildId: '', osRelease: '' }))!.table!;
      const text = execFileSync('objdump', ['-d', '--no-show-raw-insn', path], { encoding: 'utf8' });
      const stubs = [...text.matchAll(/^([0-9a-f]{16}) <(\w+)@plt>:$/gm)];
      expect(stubs.length).toBeGreaterThanOrEqual(3);
      for (const [, address, name] of stubs) expect(described(table, Number.parseInt(address, 16)), path).toEqual({ name: `${name}@plt`, offset: 0 });
    }
  });
});

describe.skipIf(!hasPerf || !hasKallsyms)('the running kernel', () => {
  const text = (): number => {
    const [line] = /^[0-9a-f]+ T _text$/m.exec(readFileSync('/proc/kallsyms', 'latin1')) ?? [];
    return Number(BigInt.asIntN(64, BigInt(`0x${line?.split(' ')[0]}`)));
  };

  it.each([0, 0x1a00_0000])('has the names that perf has, moved by %d bytes', async (moved) => {
    const dir = mkdtempSync(join(tmpdir(), 'kallsyms-'));
    try {
      const copy = join(dir, 'kallsyms');
      writeFileSync(copy, readFileSync('/proc/kallsyms'));
      const referenceAddress = text() + moved;
      const symbolizer = new Symbolizer(new NodeSymbolFiles(), { debugDirs: [], compatPerf: true, kallsyms: copy }, new Diagnostics());
      const table = (await symbolizer.symbolsFor({
        name: '[kernel.kallsyms]',
        kind: 'kernel',
        buildId: '',
        osRelease: '',
        referenceSymbol: '_text',
        referenceAddress,
      }))!.table!;
      const random = randomNumbers();
      const addresses: number[] = [];
      while (addresses.length < 10_000) {
        const index = Math.floor(random() * table.size);
        const [start, end] = [table.start(index), table.end(index)];
        addresses.push(start, end - 1, start + Math.floor(random() * (end - start)));
      }
      const first = BigInt.asUintN(64, BigInt(referenceAddress));
      const map = { path: '[kernel.kallsyms]_text', start: first, sizeBytes: 0xffff_ffff_ffff_ff00n - first, pgoff: first, kernel: true };
      const inside = addresses.filter((address) => address >= referenceAddress);
      const ips = inside.map((address) => BigInt.asUintN(64, BigInt(address)));
      expect(differences(table, inside, askPerf([map], ips, { args: ['--kallsyms', copy] }))).toEqual([]);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
