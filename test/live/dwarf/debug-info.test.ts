import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeSections, readSymbols } from '../../../bench/symbols/elf-code.mjs';
import { difference, type Frame, framesText, isExplained, referencePeer, symbolize } from '../../../bench/symbols/source-frames.mjs';
import { runs } from '../../support/perf/perf-oracle.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';
import { symbolizeHere } from '../../support/truth/symbolize-here.ts';

// fixtures/debug/src, compiled here: every address of its code is looked up, and must give the same result as llvm-symbolizer.

const sources = fileURLToPath(new URL('../../../fixtures/debug/src/', import.meta.url));
/** A program that uses templates of the standard library: much deeply inlined code in several units. */
const standardLibrary = fileURLToPath(new URL('./standard-library/', import.meta.url));
const missing = new Map<string, boolean>();

/** The first of some programs that does not run here; undefined when all do. */
function firstMissing(programs: readonly string[]): string | undefined {
  return programs.find((program) => {
    if (!missing.has(program)) missing.set(program, !runs(program, ['--version']));
    return missing.get(program);
  });
}

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'perfconv-debug-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function run(program: string, args: readonly string[], cwd: string): void {
  execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** A folder of this name with sources. */
function sourceFolder(name: string, from = sources): string {
  const folder = join(directory, name);
  mkdirSync(folder);
  cpSync(from, folder, { recursive: true });
  return folder;
}

/** Compiles the C and C++ sources to a shared object. @returns its path */
function build(name: string, compiler: 'gcc' | 'clang', flags: readonly string[]): string {
  const folder = sourceFolder(name);
  const [c, cxx] = compiler === 'gcc' ? ['gcc', 'g++'] : ['clang', 'clang++'];
  run(cxx, ['-std=c++17', '-fPIC', ...flags, '-c', 'program.cc', 'second.cc'], folder);
  run(c, ['-w', '-fPIC', ...flags, '-c', 'legacy.c'], folder);
  run(
    'g++',
    ['-shared', '-Wl,--build-id', '-Wl,--gc-sections', ...flags.filter((flag) => flag.startsWith('-flto')), '-o', 'program.so', ...objects(folder)],
    folder,
  );
  return join(folder, 'program.so');
}

function objects(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.o'));
}

function addressesOf(binary: string): bigint[] {
  return codeSections(binary).flatMap(({ start, sizeBytes }) => Array.from({ length: sizeBytes }, (_, i) => start + BigInt(i)));
}

function ask(peer: 'llvm-symbolizer' | 'addr2line', binary: string, addresses: readonly bigint[]): Frame[][] {
  return symbolize(referencePeer(peer), { binary, addresses, directory }).frames();
}

/** The first five differences, except those that are a choice. */
function differences(binary: string, addresses: readonly bigint[], expected: readonly Frame[][], actual: readonly Frame[][], columns = true): string[] {
  const symbols = readSymbols(binary);
  const lines = addresses.flatMap((address, i) => {
    const kind = difference(expected[i], actual[i], { columns, symbols });
    if (kind === '' || isExplained(kind)) return [];
    return [`${address.toString(16)}: ${kind}\n  expected ${framesText(expected[i])}\n  found    ${framesText(actual[i])}`];
  });
  return lines.slice(0, 5);
}

/** @returns what was found at each address */
async function expectLikeLlvm(binary: string): Promise<Frame[][]> {
  const addresses = addressesOf(binary);
  const found = await symbolizeHere(binary, addresses);
  expect(differences(binary, addresses, ask('llvm-symbolizer', binary, addresses), found)).toEqual([]);
  expect(found.filter((frames) => frames[0].line > 0).length).toBeGreaterThan(0.6 * addresses.length);
  return found;
}

interface Variant {
  readonly name: string;
  readonly needs: readonly string[];
  readonly build: (name: string) => string;
}

function variant(name: string, compiler: 'gcc' | 'clang', ...flags: string[]): Variant {
  return { name, needs: compiler === 'gcc' ? ['g++'] : ['clang++', 'g++'], build: (folder) => build(folder, compiler, flags) };
}

const VARIANTS: readonly Variant[] = [
  variant('gcc, DWARF 5', 'gcc', '-O2', '-gdwarf-5'),
  variant('gcc, DWARF 4', 'gcc', '-O2', '-gdwarf-4'),
  variant('gcc, DWARF 3', 'gcc', '-O2', '-gdwarf-3', '-gstrict-dwarf'),
  variant('gcc, DWARF 2', 'gcc', '-O2', '-gdwarf-2', '-gstrict-dwarf'),
  variant('gcc, DWARF 5 of 64 bits', 'gcc', '-O2', '-gdwarf-5', '-gdwarf64'),
  variant('gcc, not optimized', 'gcc', '-O0', '-g'),
  variant('gcc, sections of their own', 'gcc', '-O3', '-g', '-ffunction-sections'),
  variant('gcc, type units', 'gcc', '-O2', '-g', '-fdebug-types-section'),
  variant('gcc, lines alone', 'gcc', '-O2', '-g1'),
  variant('gcc, link-time optimization', 'gcc', '-O2', '-g', '-flto=1'),
  variant('gcc, compressed', 'gcc', '-O2', '-g', '-gz'),
  variant('gcc, split', 'gcc', '-O2', '-gdwarf-5', '-gsplit-dwarf'),
  variant('gcc, split DWARF 4', 'gcc', '-O2', '-gdwarf-4', '-gsplit-dwarf'),
  variant('clang, DWARF 5', 'clang', '-O2', '-gdwarf-5'),
  variant('clang, DWARF 4', 'clang', '-O2', '-gdwarf-4'),
  variant('clang, DWARF 2', 'clang', '-O2', '-gdwarf-2'),
  variant('clang, DWARF 5 of 64 bits', 'clang', '-O2', '-gdwarf-5', '-gdwarf64'),
  variant('clang, not optimized', 'clang', '-O0', '-g'),
  variant('clang, sections of their own', 'clang', '-O3', '-g', '-ffunction-sections'),
  variant('clang, lines alone', 'clang', '-O2', '-g1'),
  variant('clang, split', 'clang', '-O2', '-gdwarf-5', '-gsplit-dwarf'),
  variant('clang, split DWARF 4', 'clang', '-O2', '-gdwarf-4', '-gsplit-dwarf'),
  variant('clang, split in the objects', 'clang', '-O2', '-gdwarf-5', '-gsplit-dwarf=single'),
  {
    name: 'rustc',
    needs: ['rustc'],
    build: (name) => {
      const folder = sourceFolder(name);
      const flags = [
        '-O',
        '-g',
        '--edition',
        '2021',
        '--crate-type',
        'cdylib',
        '-C',
        'panic=abort',
        '-C',
        'link-arg=-nostdlib',
        '-C',
        'link-arg=-nostartfiles',
      ];
      run('rustc', [...flags, '-o', 'program.so', 'lib.rs'], folder);
      return join(folder, 'program.so');
    },
  },
];

describe('debug information of compilers', () => {
  for (const { name, needs, build: buildVariant } of VARIANTS) {
    const without = firstMissing(['llvm-symbolizer', ...needs]);
    if (without !== undefined) announceSkipped(`comparison of debug information (${name}) with llvm-symbolizer`, `${without} is not installed`);
    it.skipIf(without !== undefined)(`is read as by llvm-symbolizer at every address: ${name}`, async () => {
      await expectLikeLlvm(buildVariant(name.replaceAll(/[^\w]+/g, '-')));
    });
  }

  const without = firstMissing(['addr2line', 'llvm-symbolizer', 'g++']);
  if (without !== undefined) announceSkipped('comparison of debug information with addr2line', `${without} is not installed`);
  it.skipIf(without !== undefined)('is read as by addr2line wherever that agrees with llvm-symbolizer: gcc', async () => {
    const binary = build('as-addr2line', 'gcc', ['-O2', '-gdwarf-4']);
    const addresses = addressesOf(binary);
    const [llvm, addr2line] = [ask('llvm-symbolizer', binary, addresses), ask('addr2line', binary, addresses)];
    const agreed = addresses.map((_, i) => i).filter((i) => difference(llvm[i], addr2line[i], { columns: false }) === '');
    const found = await symbolizeHere(
      binary,
      agreed.map((i) => addresses[i]),
    );
    expect(
      differences(
        binary,
        agreed.map((i) => addresses[i]),
        agreed.map((i) => addr2line[i]),
        found,
        false,
      ),
    ).toEqual([]);
    expect(agreed.length).toBeGreaterThan(0.8 * addresses.length);
  });
});

describe.each(['g++', 'clang++'])('code that %s makes of the standard library', (compiler) => {
  const variants: readonly (readonly [name: string, ...flags: string[]])[] = [
    ['DWARF 2', '-O2', '-gdwarf-2'],
    ['DWARF 3, not optimized', '-O0', '-gdwarf-3'],
    ['DWARF 4 of 64 bits, small', '-Os', '-gdwarf-4', '-gdwarf64'],
    ['DWARF 4, functions thrown away', '-O2', '-gdwarf-4', '-ffunction-sections', '-Wl,--gc-sections'],
    ['DWARF 5, functions thrown away', '-O2', '-gdwarf-5', '-ffunction-sections', '-Wl,--gc-sections'],
    ['type units', '-O2', '-g', '-fdebug-types-section'],
    ['link-time optimization', '-O2', '-g', '-flto'],
    ['a fixed address, compressed', '-O2', '-g', '-no-pie', '-gz'],
  ];
  const without = firstMissing(['llvm-symbolizer', compiler]);
  if (without !== undefined) announceSkipped(`comparison of ${compiler}'s debug information of the standard library`, `${without} is not installed`);
  it.skipIf(without !== undefined).each(variants)('is read as by llvm-symbolizer at every address: %s', async (name, ...flags) => {
    const folder = sourceFolder(`library ${compiler} ${name}`.replaceAll(/[^\w]+/g, '-'), standardLibrary);
    try {
      run(compiler, [...flags, 'main.cc', 'other.cc', '-o', 'program'], folder);
    } catch (error) {
      // Not every compiler has the linker plugin that -flto needs.
      return announceSkipped(`${compiler} ${flags.join(' ')}`, String((error as { stderr?: Buffer }).stderr ?? error));
    }
    const found = await expectLikeLlvm(join(folder, 'program'));
    expect(found.filter((frames) => frames.length > 2).length).toBeGreaterThan(flags.includes('-O0') ? 0 : 1000);
  });
});

describe('the same debug information in other places', () => {
  /** Each makes another form of a plain program, with the same addresses, and returns its path. */
  const forms: readonly { name: string; needs: readonly string[]; make: (program: string, folder: string) => string }[] = [
    {
      name: '.zdebug sections',
      needs: ['objcopy'],
      make: (program, folder) => {
        run('objcopy', ['--compress-debug-sections=zlib-gnu', program, 'zdebug.so'], folder);
        return join(folder, 'zdebug.so');
      },
    },
    {
      name: 'zstd sections',
      needs: ['objcopy'],
      make: (program, folder) => {
        run('objcopy', ['--compress-debug-sections=zstd', program, 'zstd.so'], folder);
        return join(folder, 'zstd.so');
      },
    },
    {
      name: 'dwz',
      needs: ['dwz'],
      make: (program, folder) => {
        run('dwz', ['-L', 'none', program, '-o', 'dwz.so'], folder);
        return join(folder, 'dwz.so');
      },
    },
    {
      name: 'dwz -m',
      needs: ['dwz'],
      make: (program, folder) => {
        cpSync(program, join(folder, 'one.so'));
        run('g++', ['-shared', '-o', 'two.so', 'program.o', 'second.o'], folder);
        run('dwz', ['-L', 'none', '-m', 'common.debug', 'one.so', 'two.so'], folder);
        return join(folder, 'one.so');
      },
    },
    {
      name: '.gnu_debuglink',
      needs: ['objcopy'],
      make: (program, folder) => {
        mkdirSync(join(folder, '.debug'));
        run('objcopy', ['--only-keep-debug', program, '.debug/linked.debug'], folder);
        run('objcopy', ['--strip-all', '--add-gnu-debuglink=.debug/linked.debug', program, 'linked.so'], folder);
        return join(folder, 'linked.so');
      },
    },
  ];
  for (const { name, needs, make } of forms) {
    const without = firstMissing(['llvm-symbolizer', 'g++', ...needs]);
    if (without !== undefined) announceSkipped(`debug information in ${name}`, `${without} is not installed`);
    it.skipIf(without !== undefined)(`is read at every address as by llvm-symbolizer from the plain program: ${name}`, async () => {
      const program = build(name.replaceAll(/[^\w]+/g, '-'), 'gcc', ['-O2', '-gdwarf-4']);
      const addresses = addressesOf(program);
      const expected = ask('llvm-symbolizer', program, addresses);
      const found = await symbolizeHere(make(program, join(program, '..')), addresses);
      expect(differences(program, addresses, expected, found)).toEqual([]);
    });
  }

  // llvm-dwp 14 hangs with gcc's DWARF 5.
  for (const [compiler, version] of [
    ['gcc', '4'],
    ['clang', '5'],
  ] as const) {
    const without = firstMissing(['llvm-symbolizer', 'llvm-dwp', 'g++', compiler]);
    if (without !== undefined) announceSkipped(`.dwp files of ${compiler}`, `${without} is not installed`);
    it.skipIf(without !== undefined)(`is read as by llvm-symbolizer at every address: .dwp of ${compiler}, DWARF ${version}`, async () => {
      const program = build(`dwp-${compiler}-${version}`, compiler, ['-O2', `-gdwarf-${version}`, '-gsplit-dwarf']);
      const folder = join(program, '..');
      const dwos = readdirSync(folder).filter((name) => name.endsWith('.dwo'));
      run('llvm-dwp', ['-o', 'program.so.dwp', ...dwos], folder);
      for (const dwo of dwos) rmSync(join(folder, dwo));
      await expectLikeLlvm(program);
    });
  }
});
