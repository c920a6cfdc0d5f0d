import { perfMapName, perfMapPid } from '../../base/names/jit-file-names.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { readRange } from '../../base/streams/byte-source.ts';
import type { RecordingContext } from '../../base/streams/recording-input.ts';
import type { SymbolTable } from '../../symbol-table/symbol-table.ts';
import type { SymbolSearch } from '../inputs/search-log.ts';
import type { JitFile, RecordedProcess, SymbolFiles } from '../inputs/symbol-files.ts';
import { namespacedPid } from './namespaced-pid.ts';
import { readPerfMap } from './perf-map.ts';

const MAX_STATUS_SIZE_BYTES = 1 << 16;

/** Where to look for perf maps. */
export interface PerfMapDirectories {
  /** Directory that holds maps under their own names, `perf-PID.map`. */
  readonly perfMapDir?: string;
  /** Directory under which the recording machine's files have their own paths. With it, this machine's files are not used. */
  readonly symfs?: string;
}

/** Finds the lists of functions that JITs left, `perf-PID.map`, for one recording. */
export class PerfMapFiles {
  readonly #files: SymbolFiles;
  readonly #directories: PerfMapDirectories;
  readonly #recording: RecordingContext;
  readonly #diagnostics: Diagnostics;

  constructor(files: SymbolFiles, directories: PerfMapDirectories, recording: RecordingContext, diagnostics: Diagnostics) {
    this.#files = files;
    this.#directories = directories;
    this.#recording = recording;
    this.#diagnostics = diagnostics;
  }

  /**
   * The functions in a process's list, by run-time address; undefined when there is no such list. While the process runs and has its own file system or pid (in
   * a container), the list is looked for there, too. In directories that were named, any writer is trusted; for others see `SymbolFiles.openJitFile`.
   * @param name of the DSO that stands for the memory, as perf names it: `/tmp/perf-PID.map`
   */
  async read(name: string, search: SymbolSearch): Promise<SymbolTable | undefined> {
    const pid = perfMapPid(name);
    if (pid === undefined) return undefined;
    const { perfMapDir, symfs } = this.#directories;
    const named = [...(perfMapDir === undefined ? [] : [`${perfMapDir}/perf-${pid}.map`]), ...(symfs === undefined ? [] : [symfs + name])];
    const found = symfs !== undefined ? [] : [...(await namespacedPlaces(pid, this.#files)), name, `/proc/${pid}/root${name}`];
    const writer = { pid: Number(pid), recordedUntilNs: this.#recording.modifiedNs };
    for (const path of new Set([...named, ...found])) {
      const table = await this.#readAt(path, named.includes(path) ? undefined : writer, search);
      if (table !== undefined) return table;
    }
    return undefined;
  }

  async #readAt(path: string, writer: RecordedProcess | undefined, search: SymbolSearch): Promise<SymbolTable | undefined> {
    const { source, remark } = await this.#open(path, writer);
    if (source === undefined) {
      search.note(path, remark === '' ? 'absent' : 'refused', remark);
      if (remark !== '') this.#diagnostics.add('jit-file-refused', 'warning', `${path} is not used: ${remark}`);
      return undefined;
    }
    try {
      const { table, damagedLines, leftOut } = await readPerfMap(source);
      if (leftOut !== '') this.#diagnostics.add('perf-map-excess', 'warning', `${path}: ${leftOut}`);
      if (table.size === 0) {
        search.note(path, 'damaged', 'it lists no functions');
        return undefined;
      }
      if (remark !== '') this.#diagnostics.add('jit-file-owner', 'info', `${path}: ${remark}`);
      const damage = damagedLines === 0 ? '' : `${damagedLines} of its lines could not be parsed`;
      search.note(path, 'fits', [remark, damage, leftOut].filter((text) => text !== '').join('; '));
      search.use(path, 'symbols');
      return table;
    } finally {
      await source.close();
    }
  }

  async #open(path: string, writer: RecordedProcess | undefined): Promise<JitFile> {
    if (this.#files.openJitFile === undefined) return { source: await this.#files.open(path), remark: '' };
    return (await this.#files.openJitFile(path, writer)) ?? { source: undefined, remark: '' };
  }
}

/** The list of a process in a container is named by its pid in the container's namespace. */
async function namespacedPlaces(pid: string, files: SymbolFiles): Promise<string[]> {
  const status = await files.open(`/proc/${pid}/status`);
  if (status === undefined) return [];
  try {
    const text = new TextDecoder().decode(await readRange(status, 0, MAX_STATUS_SIZE_BYTES));
    const own = namespacedPid(text);
    return own === undefined || own === pid ? [] : [`/proc/${pid}/root${perfMapName(own)}`];
  } finally {
    await status.close();
  }
}
