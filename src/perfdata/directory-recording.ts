import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import type { ByteSource } from '../base/streams/byte-source.ts';
import { DirectorySource } from './directory-source.ts';

const MAIN_FILE = 'data';
/** Files of records beside it, one for each thread that wrote: `data.0` and up. */
const PART = /^data\.(0|[1-9]\d{0,8})$/;
/** Where `perf record --kcore` keeps the kernel's code and symbols. */
export const KCORE_DIR = 'kcore_dir';

/** Whether a file of this name in a directory is the one that makes it a recording. */
export function isMainFile(name: string): boolean {
  return name === MAIN_FILE;
}

/** Whether a file of this name holds records beside the main file. */
export function isPartFile(name: string): boolean {
  return PART.test(name);
}

/** A file that is open, and when it was last written. */
export interface DatedSource extends ByteSource {
  readonly modifiedNs?: bigint | undefined;
}

/** The files of a directory, wherever they come from. */
export interface RecordingFiles {
  /** What to call the directory: its path. */
  readonly path: string;
  /** Names of what is in it. */
  readonly names: readonly string[];
  /** Opens a file; undefined for what is none. @throws PerfconvError `io` */
  open(name: string): Promise<DatedSource | undefined>;
}

/**
 * Opens a directory recording, as `perf record --threads` and `perf record --kcore` write them (DIR_FORMAT). Gaps in the numbers of its files go to
 * `diagnostics`; without it, they are thrown.
 * @throws PerfconvError `io` when the directory holds no recording or a file cannot be opened, `damaged` when its main file is missing
 */
export async function openDirectoryRecording(
  { path, names, open }: RecordingFiles,
  diagnostics: Diagnostics | undefined,
): Promise<{ readonly source: DirectorySource; readonly modifiedNs: bigint | undefined }> {
  const numbers = names.flatMap((name) => PART.exec(name)?.[1] ?? []).map(Number);
  numbers.sort((a, b) => a - b);
  const data = names.includes(MAIN_FILE) ? await open(MAIN_FILE) : undefined;
  if (data === undefined) {
    if (numbers.length === 0) throw new PerfconvError('io', 'is a directory, not a recording', { file: path });
    throw new PerfconvError('damaged', `is a directory recording, but lacks the file ${MAIN_FILE}, which holds the events' attrs`, { file: path });
  }
  const opened = [data];
  try {
    const found: number[] = [];
    for (const number of numbers) {
      const part = await open(`${MAIN_FILE}.${number}`);
      if (part === undefined) continue;
      opened.push(part);
      found.push(number);
    }
    reportMissing(path, found, numbers.at(-1) ?? -1, diagnostics);
  } catch (error) {
    for (const source of opened) await source.close();
    throw error;
  }
  return { source: new DirectorySource(path, data, opened.slice(1)), modifiedNs: newestOf(opened) };
}

function newestOf(sources: readonly DatedSource[]): bigint | undefined {
  return sources.reduce<bigint | undefined>(
    (newest, { modifiedNs }) => (newest === undefined || (modifiedNs !== undefined && modifiedNs > newest) ? modifiedNs : newest),
    undefined,
  );
}

/** Reports gaps in the numbers: perf numbers the files without any. */
function reportMissing(path: string, found: readonly number[], last: number, diagnostics: Diagnostics | undefined): void {
  const missingCount = last + 1 - found.length;
  if (missingCount === 0) return;
  const first = found.findIndex((number, i) => number !== i);
  const message = `${missingCount} of the directory's ${last + 1} numbered files are missing or not regular files, the first of them ${MAIN_FILE}.${first < 0 ? found.length : first}`;
  if (diagnostics === undefined) throw new PerfconvError('damaged', message, { file: path });
  diagnostics.add('part-missing', 'loss', message, undefined, missingCount);
}
