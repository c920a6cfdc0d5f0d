#!/usr/bin/env node
// Functions, files and lines of addresses, printed as llvm-symbolizer prints them: perfconv's library in a process of its own, to
// compare it with that program. Looks for debug files where perfconv does. Build first (npm run build).
//
//   node bench/symbols/perfconv-symbolize.mjs BINARY < ADDRESSES
//
// ADDRESSES: one to a line, hexadecimal, as the program headers have them (not file offsets).

import { readFileSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { NodeSymbolFiles } from 'perfconv/node';
import { DEFAULT_DEBUG_DIRS, Diagnostics, Symbolizer } from 'perfconv/symbols';
import { loadedSegments } from './elf-code.mjs';

/** Few enough that their text is no large object of V8's (128 KiB), each of which costs fresh pages. */
const LINES_AT_ONCE = 1_000;

const UNKNOWN = [{ file: '', line: 0, column: 0 }];

const binary = resolve(process.argv[2]);
const asked = readFileSync(0, 'latin1').trim().split('\n').map(BigInt);

const segments = loadedSegments(binary);
const offsets = Float64Array.from(asked, (address) => {
  const segment = segments.find(({ address: first, sizeBytes }) => address >= first && address - first < sizeBytes);
  return segment === undefined ? -1 : Number(address - segment.address) + segment.offset;
});

const diagnostics = new Diagnostics();
const symbolizer = new Symbolizer(new NodeSymbolFiles(), { debugDirs: DEFAULT_DEBUG_DIRS, compatPerf: false }, diagnostics);
const symbols = await symbolizer.symbolsFor({ name: binary, kind: 'file', buildId: '', osRelease: '' }, { lines: true });

const sorted = offsets.toSorted().filter((offset, i, all) => i === 0 || offset !== all[i - 1]);
const indexes = new Map();
/** The function that owns the code has the linker's name for it. Neighbours mostly have the same. */
const owners = [];
for (let i = 0; i < sorted.length; i++) {
  indexes.set(sorted[i], i);
  const symbol = symbols?.table?.find(sorted[i]) ?? -1;
  owners.push(symbol < 0 ? undefined : symbols.table.name(symbol));
}
const chains = new Array(sorted.length).fill(UNKNOWN);
await symbols?.lines?.lookup(sorted, (index, frames) => {
  chains[index] = frames;
});
await symbols?.close?.();

let lines = [];
for (const offset of offsets) {
  const index = indexes.get(offset);
  const chain = chains[index];
  for (let i = 0; i < chain.length; i++) {
    const { function: described, file, line, column } = chain[i];
    const own = described?.linkageName || described?.name;
    lines.push((i === chain.length - 1 ? owners[index] : undefined) || own || '??', `${file || '??'}:${line}:${column}`);
  }
  lines.push('');
  if (lines.length < LINES_AT_ONCE) continue;
  writeLines(lines);
  lines = [];
}
writeLines(lines);
for (const { code, message } of diagnostics.list()) console.error(`${code}: ${message}`);

function writeLines(lines) {
  lines.push(''); // Added to what is joined, the last newline would have all of it copied once more.
  writeSync(1, lines.join('\n'));
}
