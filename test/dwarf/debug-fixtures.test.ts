import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../src/elf/elf-file.ts';
import type { SourceFrame } from '../../src/symbol-table/code-symbols.ts';
import { Symbolizer } from '../../src/symbolizer/symbolizer.ts';
import { FixtureSymbolFiles } from '../support/fixture-symbols.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/debug/', import.meta.url));

/** The output of llvm-symbolizer: each frame once, and chains of frames by address. See fixtures/debug/expect.mjs. */
interface Expected {
  readonly frames: readonly string[];
  readonly ranges: readonly (readonly [from: string, to: string, chain: readonly number[]])[];
}

describe.each([
  ['gcc2', 'gcc2'],
  ['gcc4', 'gcc'],
  ['gcc5', 'gcc'],
  ['gcc5-gz', 'gcc'],
  ['gcc4-dwz', 'gcc'],
  ['gcc5-sections', 'gcc5-sections'],
  ['gcc4-split', 'gcc'],
  ['clang5', 'clang'],
  ['clang5-split', 'clang'],
  ['mips', 'mips'],
  ['ppc64', 'ppc64'],
  ['rust', 'rust'],
])('%s', (program, expectedName) => {
  it('has the functions, files and lines that llvm-symbolizer finds at every address', async () => {
    const expected: Expected = JSON.parse(readFileSync(`${fixtures}${expectedName}.json`, 'utf8'));
    const addresses = expected.ranges.flatMap(([from, to]) => {
      const start = Number.parseInt(from, 16);
      return Array.from({ length: Number.parseInt(to, 16) - start }, (_, i) => start + i);
    });
    const wanted = expected.ranges.flatMap(([from, to, chain]) => {
      const frames = chain.map((index) => expected.frames[index]);
      return Array.from({ length: Number.parseInt(to, 16) - Number.parseInt(from, 16) }, () => frames);
    });
    const found = await lookUp(program, addresses);
    const differing = addresses.flatMap((address, i) => {
      const [own, theirs] = [found[i].join(' < '), wanted[i].map(normalized).join(' < ')];
      return own === theirs ? [] : [`${address.toString(16)}: ${own} instead of ${theirs}`];
    });
    expect(differing.slice(0, 5)).toEqual([]);
    expect(addresses.length).toBeGreaterThan(500);
  });
});

/** The frames at svmas of a program, as texts. */
async function lookUp(program: string, addresses: readonly number[]): Promise<string[][]> {
  const elf = await ElfFile.open(new BufferSource(readFileSync(fixtures + program), program));
  const offsets = addresses.map((address) => elf.fileOffsetOf(address) ?? -1);
  const diagnostics = new Diagnostics();
  const symbolizer = new Symbolizer(new FixtureSymbolFiles(), { debugDirs: [], compatPerf: false }, diagnostics);
  const symbols = await symbolizer.symbolsFor({ name: `/debug/${program}`, kind: 'file', buildId: '', osRelease: '' }, { lines: true });
  expect(symbols?.table).toBeUndefined();
  const found: string[][] = addresses.map(() => [' :0:0']);
  const order = addresses.map((_, i) => i).sort((a, b) => offsets[a] - offsets[b]);
  const sorted = Float64Array.from(order, (i) => offsets[i]);
  await symbols?.lines?.lookup(sorted, (index, frames) => {
    found[order[index]] = frames.map(frameText);
  });
  await symbols?.close?.();
  expect(diagnostics.list()).toEqual([]);
  return found;
}

function frameText({ function: described, file, line, column }: SourceFrame): string {
  return `${described?.linkageName || described?.name || ''} ${file}:${line}:${column}`;
}

/** llvm-symbolizer leaves `..` in paths. */
function normalized(frame: string): string {
  const [, name, file, place] = /^(.*) (\S*?)(:\d+:\d+)$/.exec(frame)!;
  return `${name} ${file === '' ? '' : posix.normalize(file)}${place}`;
}
