import { DSO_SYMBOL_MAP_FILE } from '../simpleperf/constants.ts';
import type { SimpleperfFile, SimpleperfSymbols } from '../simpleperf/files.ts';
import { classifyUserMap, type DsoTable } from './dsos.ts';
import { RangeTree } from './range-tree.ts';
import type { TaskTable } from './tasks.ts';

const PAGE_BYTES = 4096;

/**
 * Maps of JIT code that simpleperf has symbols of, from a JIT's own perf-PID.map, and no record of: it leaves out maps of memory
 * that is no file. Where its symbols lie, there the code must be. What is mapped by a record takes the place of it.
 */
export class SymbolMaps {
  readonly #tasks: TaskTable;
  /** By pid. */
  readonly #maps = new Map<number, RangeTree>();

  constructor(files: readonly SimpleperfFile[], tasks: TaskTable, dsos: DsoTable) {
    this.#tasks = tasks;
    for (const { type, path, symbols } of files) {
      const pid = /^perf-(\d{1,9})\.map$/.exec(path)?.[1];
      if (type === DSO_SYMBOL_MAP_FILE && pid !== undefined) this.#maps.set(Number(pid), mapsOf(Number(pid), symbols, dsos));
    }
    for (const pid of this.#maps.keys()) this.apply(pid);
  }

  /** Maps the code of a process that begins anew, by fork or exec, if there is any. */
  apply(pid: number): void {
    const maps = this.#maps.get(pid);
    if (maps !== undefined) this.#tasks.ownSpace(this.#tasks.process(pid)).unrecorded = maps;
  }
}

/** What a process's symbols say to be mapped. */
function mapsOf(pid: number, symbols: SimpleperfSymbols, dsos: DsoTable): RangeTree {
  const maps = new RangeTree();
  for (const { start, end } of pagesOf(symbols)) {
    const record = {
      pid,
      tid: pid,
      start,
      length: end - start,
      pageOffset: start,
      filename: '//anon',
      fileIdentity: '',
      buildId: '',
      isExecutable: true,
      isJitSymfile: false,
    };
    const { kind, name } = classifyUserMap(record);
    maps.put(start, end, 0, dsos.internMapped(record, kind, name));
  }
  return maps;
}

/** The ranges of pages that symbols lie in, ascending. */
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
