import { readdirSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import type { OpenInput } from '../../base/streams/recording-input.ts';
import { isMainFile, isPartFile, KCORE_DIR, openDirectoryRecording } from '../../perfdata/directory-recording.ts';
import { ioError } from '../system/io-error.ts';
import { systemPath } from '../system/system-path.ts';
import { FileSource } from './file-source.ts';

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
  const isPart = (name: string): boolean => isMainFile(name) || isPartFile(name);
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
 * Opens a directory recording: {@link openDirectoryRecording} with the regular files of a directory.
 * @throws PerfconvError `io` when the directory holds no recording or a file cannot be opened, `damaged` when its main file is missing
 */
export async function openDirectory(path: string, diagnostics: Diagnostics | undefined): Promise<OpenInput> {
  const names = await readdir(systemPath(path)).catch((error: unknown) => {
    throw ioError(error, path);
  });
  const opened = await openDirectoryRecording({ path, names, open: (name) => openDataFile(join(path, name)) }, diagnostics);
  const kcoreDir = join(path, KCORE_DIR);
  const hasKcoreDir = names.includes(KCORE_DIR) && (await stat(systemPath(kcoreDir)).catch(() => undefined))?.isDirectory() === true;
  return { ...opened, ...(hasKcoreDir && { kcoreDir }) };
}

/** undefined for anything but a regular file: opening a pipe would wait for its writer. @throws PerfconvError `io` */
async function openDataFile(path: string): Promise<FileSource | undefined> {
  const stats = await stat(systemPath(path)).catch((error: unknown) => {
    throw ioError(error, path);
  });
  return stats.isFile() ? FileSource.open(path) : undefined;
}
