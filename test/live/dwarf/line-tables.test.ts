import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LineTableReader } from '../../../src/dwarf/lines/line-table.ts';
import { openDebugSections } from '../../../src/dwarf/sections/elf-debug-sections.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { relocatableLayout } from '../../../src/elf/relocatable-layout.ts';
import { NodeSymbolFiles } from '../../../src/host/symbols/symbol-files.ts';
import { runs } from '../../support/perf/perf-oracle.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';

// Every row of every line table of real programs, compared with llvm-dwarfdump.

const sources = fileURLToPath(new URL('../../../fixtures/debug/src/', import.meta.url));
const hasDump = runs('llvm-dwarfdump', ['--version']);
const hasGcc = runs('g++', ['--version']);
const hasClang = runs('clang++', ['--version']);
if (!hasDump) announceSkipped('comparison of line tables', 'llvm-dwarfdump is not installed');
if (!hasGcc) announceSkipped("comparison of gcc's line tables", 'g++ is not installed');
if (!hasClang) announceSkipped("comparison of clang's line tables", 'clang++ is not installed');

/** A row as the tool prints it: address, line, column, file. */
type Row = readonly [address: number, line: number, column: number, file: number];

interface DumpedTable {
  readonly offset: number;
  version: number;
  readonly fileNames: string[];
  /** Rows of each sequence, including the one that ends it. */
  readonly sequences: Row[][];
}

/** The tables of `.debug_line` as llvm-dwarfdump prints them. */
async function* dumpTables(path: string): AsyncGenerator<DumpedTable> {
  const { stdout } = spawn('llvm-dwarfdump', ['--debug-line', path], { stdio: ['ignore', 'pipe', 'ignore'] });
  let table: DumpedTable | undefined;
  let open: Row[] = [];
  for await (const line of createInterface({ input: stdout })) {
    const offset = /^debug_line\[(0x[0-9a-f]+)\]/.exec(line)?.[1];
    if (offset !== undefined) {
      if (table !== undefined) yield table;
      table = { offset: Number(offset), version: 0, fileNames: [], sequences: [] };
      open = [];
    }
    if (table === undefined) continue;
    const version = /^ +version: (\d+)/.exec(line)?.[1];
    if (version !== undefined) table.version = Number(version);
    const name = /^ +name: "(.*)"/.exec(line)?.[1];
    if (name !== undefined) table.fileNames.push(name);
    if (!line.startsWith('0x')) continue;
    const [address, ...numbers] = line.split(/\s+/);
    open.push([Number(BigInt.asIntN(64, BigInt(address))), Number(numbers[0]), Number(numbers[1]), Number(numbers[2])]);
    if (!line.includes('end_sequence')) continue;
    table.sequences.push(open);
    open = [];
  }
  if (table !== undefined) yield table;
}

/** Compares all tables of a file. @returns how many rows there are */
async function expectTables(path: string): Promise<number> {
  const files = new NodeSymbolFiles();
  const source = await files.open(path);
  const elf = await ElfFile.open(source!);
  const sections = await openDebugSections(elf, files);
  const possibleBases = Array.from(relocatableLayout(elf) ?? [0]);
  const reader = new LineTableReader(sections);
  let rowCount = 0;
  for await (const dumped of dumpTables(path)) {
    const table = await reader.read(dumped.offset, { name: '', compDir: '' });
    const { addresses, lines, columns, files: indexes, sequences, isCut } = table.rows;
    expect(isCut).toBe(false);
    const living = dumped.sequences.filter((rows) => {
      const [start, end] = [rows[0][0], rows[rows.length - 1][0]];
      return rows.length > 1 && start < end && (start !== 0 || sections.hasCodeAtZero);
    });
    // The dump has addresses in an object file's sections, which perfconv converts to addresses in the whole file.
    const order = Array.from(sequences.starts.keys()).sort((a, b) => sequences.firstRows[a] - sequences.firstRows[b]);
    const bases = order.map((index, i) => sequences.starts[index] - (living[i]?.[0][0] ?? 0));
    expect(bases.filter((base) => !possibleBases.includes(base))).toEqual([]);
    const own = order.map((index, i) => {
      const rows = Array.from({ length: sequences.endRows[index] - sequences.firstRows[index] }, (_, nth): Row => {
        const row = sequences.firstRows[index] + nth;
        return [addresses[row] - bases[i], lines[row], columns[row], indexes[row]];
      });
      return { rows, end: sequences.ends[index] - bases[i] };
    });
    expect(own).toEqual(living.map((rows) => ({ rows: rows.slice(0, -1), end: rows[rows.length - 1][0] })));
    const first = table.version >= 5 ? 0 : 1;
    expect(table.version).toBe(dumped.version);
    expect(dumped.fileNames.map((_, i) => basename(table.file(first + i)))).toEqual(dumped.fileNames.map((name) => basename(name)));
    rowCount += addresses.length;
  }
  await source!.close();
  return rowCount;
}

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'perfconv-lines-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Compiles the program, and links it unless the flags say otherwise. */
function build(compiler: 'g++' | 'clang++', flags: readonly string[]): string {
  const path = join(directory, [compiler, ...flags].join('').replace(/[^a-z0-9+]/g, '_'));
  execFileSync(compiler, ['-std=c++17', '-fPIC', '-O2', ...(flags.includes('-c') ? [] : ['-shared']), ...flags, '-o', path, `${sources}program.cc`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return path;
}

const formats = [['-gdwarf-2'], ['-gdwarf-3'], ['-gdwarf-4'], ['-gdwarf-5'], ['-gdwarf-5', '-gdwarf64'], ['-g', '-gz=zlib'], ['-g', '-c']];

describe.skipIf(!hasDump || !hasGcc)('line tables of gcc', () => {
  it.each([...formats, ['-g', '-gz=zlib-gnu'], ['-gdwarf-4', '-ffunction-sections', '-Wl,--gc-sections']].map((flags) => [flags.join(' '), flags] as const))(
    'have the rows that llvm-dwarfdump prints: %s',
    async (_, flags) => {
      expect(await expectTables(build('g++', flags))).toBeGreaterThan(100);
    },
  );
});

describe.skipIf(!hasDump || !hasClang)('line tables of clang', () => {
  it.each(formats.map((flags) => [flags.join(' '), flags] as const))('have the rows that llvm-dwarfdump prints: %s', async (_, flags) => {
    expect(await expectTables(build('clang++', flags))).toBeGreaterThan(100);
  });

  // This file needs no libraries of those machines.
  it.each(['aarch64', 'aarch64_be', 'armv7', 'i386', 'mips', 'powerpc64', 'powerpc64le', 'riscv32', 'riscv64', 's390x'])(
    'have the rows that llvm-dwarfdump prints, in an object file of %s',
    async (machine) => {
      const path = join(directory, `${machine}.o`);
      execFileSync('clang', ['-w', `--target=${machine}-linux-gnu`, '-g', '-O2', '-c', '-o', path, join(sources, 'second.cc'), '-nostdinc', '-nostdinc++'], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      expect(await expectTables(path)).toBeGreaterThan(0);
    },
  );
});

describe.skipIf(!hasDump)('line tables of installed debug files', () => {
  const root = '/usr/lib/debug/.build-id';
  let found: string[] = [];
  try {
    found = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.debug'));
  } catch {
    announceSkipped('comparison of line tables of installed debug files', `there is no ${root}`);
  }
  it.skipIf(found.length === 0)('have the rows that llvm-dwarfdump prints: the C library and others', async () => {
    let rowCount = 0;
    for (const name of found.sort().slice(0, 40)) rowCount += await expectTables(join(root, name));
    expect(rowCount).toBeGreaterThan(0);
  });
});
