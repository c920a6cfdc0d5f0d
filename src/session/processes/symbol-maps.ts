import type { SimpleperfFile } from '../../simpleperf/files.ts';
import { type SymbolMap, symbolMapsOf } from '../../simpleperf/symbol-maps.ts';
import { classifyUserMap, type DsoTable } from './dsos.ts';
import { RangeTree } from './range-tree.ts';
import type { TaskTable } from './tasks.ts';

/** Puts the code of {@link symbolMapsOf} in its place, in each program that a process runs. What a record maps replaces it. */
export class SymbolMaps {
  readonly #tasks: TaskTable;
  /** By pid. */
  readonly #maps = new Map<number, RangeTree>();

  constructor(files: readonly SimpleperfFile[], tasks: TaskTable, dsos: DsoTable) {
    this.#tasks = tasks;
    for (const map of symbolMapsOf(files)) this.#maps.set(map.pid, rangesOf(map, dsos));
    for (const pid of this.#maps.keys()) this.apply(pid);
  }

  /** Maps the code of a process, if there is any, when it starts with new maps, by fork or exec. */
  apply(pid: number): void {
    const maps = this.#maps.get(pid);
    if (maps !== undefined) this.#tasks.ownSpace(this.#tasks.process(pid)).unrecorded = maps;
  }
}

function rangesOf({ pid, ranges }: SymbolMap, dsos: DsoTable): RangeTree {
  const maps = new RangeTree();
  for (const { start, end } of ranges) {
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
      isHugetlb: false,
    };
    const { kind, name } = classifyUserMap(record);
    maps.put(start, end, 0, dsos.internMapped(record, kind, name));
  }
  return maps;
}
