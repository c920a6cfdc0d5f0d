import { readdirSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Diagnostics } from '../base/diagnostics.ts';
import { PerfconvError } from '../base/errors.ts';
import type { OpenInput } from '../base/recording-input.ts';
import { DirectorySource } from './directory-source.ts';
import { FileSource } from './file-source.ts';
import { ioError } from './io-error.ts';
import { systemPath } from './system-path.ts';

const MAIN_FILE = 'data';
/** Files of records beside it, one for each thread that wrote: `data.0` and up. */
const PART = /^data\.(0|[1-9]\d{0,8})$/;
/** Where `perf record --kcore` keeps the kernel's code and symbols. */
const KCORE_DIR = 'kcore_dir';

/** A directory that holds files of a recording. */
export interface RecordingDirectory {
  readonly path: string;
  /** Whether a file of this name in it is, or would be, a part of the recording. */
  readonly isPart: (name: string) => boolean;
  /** Paths of those that exist. */
  readonly files: readonly string[];
}

/** The directories of a directory recording, with all of its files; none if it is a file, or cannot be read: opening it reports why. */
export function recordingDirectories(path: string): RecordingDirectory[] {
  const isPart = (name: string): boolean => name === MAIN_FILE || PART.test(name);
  return [
    { path, isPart },
    { path: join(path, KCORE_DIR), isPart: () => true },
  ].flatMap((directory) => {
    const names = namesIn(directory.path);
    return names === undefined ? [] : [{ ...directory, files: names.filter(directory.isPart).map((name) => join(directory.path, name)) }];
  });
}

function namesIn(path: string): string[] | undefined {
  try {
    return readdirSync(systemPath(path));
  } catch {
    return undefined;
  }
}

/**
 * Opens a directory recording, as `perf record --threads` and `perf record --kcore` write them (DIR_FORMAT): only regular files are opened. Gaps in their
 * numbers go to `diagnostics`; without it, they are thrown.
 * @throws PerfconvError `io` when the directory holds no recording or a file cannot be opened, `damaged` when its main file is missing
 */
export async function openDirectory(path: string, diagnostics: Diagnostics | undefined): Promise<OpenInput> {
  const names = await readdir(systemPath(path)).catch((error: unknown) => {
    throw ioError(error, path);
  });
  const numbers = names.flatMap((name) => PART.exec(name)?.[1] ?? []).map(Number);
  numbers.sort((a, b) => a - b);
  const data = names.includes(MAIN_FILE) ? await openDataFile(join(path, MAIN_FILE)) : undefined;
  if (data === undefined) {
    if (numbers.length === 0) throw new PerfconvError('io', 'is a directory, not a recording', { file: path });
    throw new PerfconvError('damaged', `is a directory recording, but lacks the file ${MAIN_FILE}, which holds the events' attrs`, { file: path });
  }
  const opened = [data];
  try {
    const found: number[] = [];
    for (const number of numbers) {
      const part = await openDataFile(join(path, `${MAIN_FILE}.${number}`));
      if (part === undefined) continue;
      opened.push(part);
      found.push(number);
    }
    reportMissing(path, found, numbers.at(-1) ?? -1, diagnostics);
  } catch (error) {
    for (const source of opened) await source.close();
    throw error;
  }
  const kcoreDir = join(path, KCORE_DIR);
  const hasKcoreDir = names.includes(KCORE_DIR) && (await stat(systemPath(kcoreDir)).catch(() => undefined))?.isDirectory() === true;
  return {
    source: new DirectorySource(path, data, opened.slice(1)),
    modifiedNs: opened.reduce((newest, { modifiedNs }) => (modifiedNs > newest ? modifiedNs : newest), 0n),
    ...(hasKcoreDir && { kcoreDir }),
  };
}

/** undefined for anything but a regular file: opening a pipe would wait for its writer. @throws PerfconvError `io` */
async function openDataFile(path: string): Promise<FileSource | undefined> {
  const stats = await stat(systemPath(path)).catch((error: unknown) => {
    throw ioError(error, path);
  });
  return stats.isFile() ? FileSource.open(path) : undefined;
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
