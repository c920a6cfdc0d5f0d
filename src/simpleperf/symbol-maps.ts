import { DSO_SYMBOL_MAP_FILE } from './constants.ts';
import type { SimpleperfFile, SimpleperfSymbols } from './files.ts';

const PAGE_BYTES = 4096;

/** Where a process has JIT code, as its perf-PID.map says: ascending ranges of addresses, whole pages. */
export interface SymbolMap {
  readonly pid: number;
  readonly ranges: readonly { readonly start: number; readonly end: number }[];
}

/**
 * JIT code for which simpleperf has symbols, from a JIT's own perf-PID.map, but no map record: it leaves out maps of memory that is not a file. The code must
 * be where its symbols are.
 */
export function symbolMapsOf(files: readonly SimpleperfFile[]): SymbolMap[] {
  return files.flatMap(({ type, path, symbols }) => {
    const pid = type === DSO_SYMBOL_MAP_FILE ? /^perf-(\d{1,9})\.map$/.exec(path)?.[1] : undefined;
    return pid === undefined ? [] : [{ pid: Number(pid), ranges: pagesOf(symbols) }];
  });
}

/** The ranges of pages in which there are symbols, ascending. */
function pagesOf({ starts, sizes }: SimpleperfSymbols): { start: number; end: number }[] {
  const order = [...starts.keys()].filter((i) => starts[i] >= 0).sort((a, b) => starts[a] - starts[b]);
  const ranges: { start: number; end: number }[] = [];
  for (const i of order) {
    const start = Math.floor(starts[i] / PAGE_BYTES) * PAGE_BYTES;
    const end = Math.ceil((starts[i] + Math.max(1, sizes[i])) / PAGE_BYTES) * PAGE_BYTES;
    const last = ranges.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else ranges.push({ start, end });
  }
  return ranges;
}
