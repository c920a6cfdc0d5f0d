import { readRange } from '../../bytes/byte-source.ts';
import type { CheckedFiles } from '../search/checked-files.ts';
import type { SymbolFiles } from '../symbol-files.ts';
import type { SymbolTable } from '../table/symbol-table.ts';
import { namespacedPid } from './namespaced-pid.ts';
import { parsePerfMap } from './perf-map.ts';

/** The longest maps known have some 100 MB. */
const MAX_MAP_SIZE_BYTES = 1 << 30;
const MAX_STATUS_SIZE_BYTES = 1 << 16;

/** Where maps of JITs may lie. */
export interface PerfMapDirectories {
  /** Directory of maps under their own names, `perf-PID.map`. */
  readonly perfMapDir?: string;
  /** Directory under which the recording machine's files lie with their own paths: then this machine's are not looked at. */
  readonly symfs?: string;
}

/**
 * The functions that a JIT listed in its `perf-PID.map`, by run-time address; undefined when there is no such list. While the process lives
 * and has a file system or a number of its own (a container), its map is looked for there.
 * @param name of the memory's DSO, as perf names it: `/tmp/perf-PID.map`
 */
export async function readPerfMap(name: string, files: SymbolFiles, checked: CheckedFiles, directories: PerfMapDirectories): Promise<SymbolTable | undefined> {
  const pid = /^\/tmp\/perf-(\d{1,10})\.map$/.exec(name)?.[1];
  if (pid === undefined) return undefined;
  const { perfMapDir, symfs } = directories;
  const own = `perf-${pid}.map`;
  const places = symfs === undefined ? [...(await namespacedPlaces(pid, files)), name, `/proc/${pid}/root${name}`] : [symfs + name];
  for (const path of new Set([...(perfMapDir === undefined ? [] : [`${perfMapDir}/${own}`]), ...places])) {
    const table = await readMapAt(path, files, checked);
    if (table !== undefined) return table;
  }
  return undefined;
}

/** In the namespace of its own, which a process has in a container, it goes by another number. */
async function namespacedPlaces(pid: string, files: SymbolFiles): Promise<string[]> {
  const status = await files.open(`/proc/${pid}/status`);
  if (status === undefined) return [];
  try {
    const text = new TextDecoder().decode(await readRange(status, 0, MAX_STATUS_SIZE_BYTES));
    const own = namespacedPid(text);
    return own === undefined || own === pid ? [] : [`/proc/${pid}/root/tmp/perf-${own}.map`];
  } finally {
    await status.close();
  }
}

async function readMapAt(path: string, files: SymbolFiles, { search }: CheckedFiles): Promise<SymbolTable | undefined> {
  const source = await files.open(path);
  if (source === undefined) {
    search.note(path, 'absent');
    return undefined;
  }
  try {
    const sizeBytes = source.sizeBytes ?? 0;
    if (sizeBytes > MAX_MAP_SIZE_BYTES) {
      search.note(path, 'damaged', 'it is too large for a list of functions');
      return undefined;
    }
    const { table, damagedLines } = parsePerfMap(await readRange(source, 0, sizeBytes));
    if (table.size === 0) {
      search.note(path, 'damaged', 'it lists no functions');
      return undefined;
    }
    search.note(path, 'fits', damagedLines === 0 ? '' : `${damagedLines} of its lines are not understood`);
    search.use(path, 'symbols');
    return table;
  } finally {
    await source.close();
  }
}
