import { readRange } from '../../base/byte-source.ts';
import type { Diagnostics } from '../../base/diagnostics.ts';
import type { SymbolTable } from '../../symbol-table/symbol-table.ts';
import type { SymbolSearch } from '../search/search-log.ts';
import type { LeftFile, RecordedProcess, SymbolFiles } from '../symbol-files.ts';
import type { RecordingContext } from '../symbolizer-options.ts';
import { namespacedPid } from './namespaced-pid.ts';
import { readPerfMap } from './perf-map.ts';

const MAX_STATUS_SIZE_BYTES = 1 << 16;

/** Where maps of JITs may lie. */
export interface PerfMapDirectories {
  /** Directory of maps under their own names, `perf-PID.map`. */
  readonly perfMapDir?: string;
  /** Directory under which the recording machine's files lie with their own paths: then this machine's are not looked at. */
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
   * The functions that a process's list has, by run-time address; undefined when there is no such list. While the process lives
   * and has a file system or a number of its own (a container), its list is looked for there. In the directories that are named whoever wrote it is
   * believed, elsewhere see `SymbolFiles.openLeft`.
   * @param name of the memory's DSO, as perf names it: `/tmp/perf-PID.map`
   */
  async read(name: string, search: SymbolSearch): Promise<SymbolTable | undefined> {
    const pid = /^\/tmp\/perf-(\d{1,10})\.map$/.exec(name)?.[1];
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
      const damage = damagedLines === 0 ? '' : `${damagedLines} of its lines are not understood`;
      search.note(path, 'fits', [remark, damage, leftOut].filter((text) => text !== '').join('; '));
      search.use(path, 'symbols');
      return table;
    } finally {
      await source.close();
    }
  }

  async #open(path: string, writer: RecordedProcess | undefined): Promise<LeftFile> {
    if (this.#files.openLeft === undefined) return { source: await this.#files.open(path), remark: '' };
    return (await this.#files.openLeft(path, writer)) ?? { source: undefined, remark: '' };
  }
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
