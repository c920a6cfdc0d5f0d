#!/usr/bin/env node
// Prints functions, files and lines of addresses like llvm-symbolizer: perfconv's library in a process of its own, to
// be compared with that program. Looks for debug files where perfconv does. Build first (npm run build).
//
//   node bench/symbols/perfconv-symbolize.mjs BINARY < ADDRESSES
//
// ADDRESSES: one per line, in hex; addresses as in the program headers, not file offsets.

import { readFileSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { NodeSymbolFiles } from 'perfconv/node';
import { DEFAULT_DEBUG_DIRS, Diagnostics, Symbolizer } from 'perfconv/symbols';
import { loadedSegments } from './elf-code.mjs';

/** Lines per write: few enough that their text is not a large object of V8 (128 KiB), which needs new pages each time. */
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
/** The linkage names of the functions that own the code. Neighboring addresses mostly have the same. */
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
