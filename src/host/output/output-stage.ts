import { existsSync, fchmodSync, fchownSync, fstatSync, mkdirSync, open, openSync, rmSync, type Stats } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { PerfconvError } from '../../base/problems/errors.ts';
import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { GzipSink } from '../compression/gzip-sink.ts';
import { targetOf } from '../system/file-identity.ts';
import { ioError, reasonOf, systemCode } from '../system/io-error.ts';
import { absolutePath, systemPath } from '../system/system-path.ts';
import { temporaryPath } from '../system/temporary-path.ts';
import { FileSink } from './file-sink.ts';
import { type CommitOptions, type InPlaceOutput, isWritableFile, OutputCommit, type StagedPath } from './output-commit.ts';
import { forgetUnfinished, noteUnfinished } from './unfinished-files.ts';

const openDescriptor = promisify(open);

/** Errors for directories in which this user cannot create files. */
const NOT_WRITABLE = ['EACCES', 'EPERM', 'EROFS'];

/** The outputs of one conversion while they are written. Files and directories appear complete and all together, at {@link commit}, or not at all. */
export class OutputStage {
  readonly #staged: StagedPath[] = [];
  readonly #files: FileSink[] = [];
  readonly #compressors: GzipSink[] = [];
  readonly #options: CommitOptions;
  #commit: OutputCommit | undefined;

  constructor(options: CommitOptions = {}) {
    this.#options = options;
  }

  /**
   * Opens a file. An existing file keeps its mode, and its owner and hard links if possible. A device or a pipe is written directly, since nothing may replace
   * it.
   * @throws PerfconvError `io` when it cannot be made, before any work is spent on it
   */
  async openFile(path: string, gzip = false): Promise<ByteSink> {
    const target = await statTarget(path);
    requireNoDirectory(path, target);
    const file = target !== undefined && !target.isFile() ? await this.#openDirectly(path) : this.#openStaged(path, target);
    this.#files.push(file);
    return gzip ? this.#compressed(file) : file;
  }

  /**
   * Opens a directory, and returns a function that opens files in it. In an existing directory, files that are not written again stay.
   * @param fileNames names of files that will be opened: whatever is in the way of one is reported at once
   * @throws PerfconvError `io`
   */
  async openDirectory(path: string, fileNames: readonly string[] = []): Promise<(fileName: string) => Promise<ByteSink>> {
    const target = await statTarget(path);
    if (target === undefined) return this.#openNewDirectory(path);
    if (!target.isDirectory()) throw new PerfconvError('io', 'is not a directory, which the CSV tables need', { file: path });
    for (const fileName of fileNames) requireNoDirectory(join(path, fileName), await statTarget(join(path, fileName)));
    return (fileName) => this.openFile(join(path, fileName));
  }

  /**
   * Moves all outputs to their places, once everything is written.
   * @returns the outputs whose existing files could not be replaced and were written in place
   * @throws PerfconvError `io`, `usage` when a file that was read would be replaced; then all outputs are as they were
   */
  async commit(): Promise<readonly InPlaceOutput[]> {
    for (const compressor of this.#compressors) await compressor.end();
    await this.#closeFiles();
    // From here on, only the commit itself can take back what it has done.
    for (const { temporary } of this.#staged) forgetUnfinished(temporary);
    this.#commit = new OutputCommit(this.#staged, this.#options);
    const inPlace = await this.#commit.run();
    this.#removeTemporaries();
    return inPlace;
  }

  /** Removes unfinished outputs after a failure. Does nothing after {@link commit}. Never throws. */
  async discard(): Promise<void> {
    for (const compressor of this.#compressors) await compressor.destroy();
    await this.#closeFiles().catch(() => {});
    for (const { temporary } of this.#staged.splice(0)) {
      await rm(systemPath(temporary), { recursive: true, force: true }).catch(() => {});
      forgetUnfinished(temporary);
    }
  }

  /** Does what {@link discard} does, but synchronously, for a process that a signal ends. In the middle of {@link commit}, outputs become what they were. */
  discardNow(): void {
    this.#commit?.undo();
    this.#removeTemporaries();
  }

  #removeTemporaries(): void {
    for (const { temporary } of this.#staged.splice(0)) {
      try {
        rmSync(systemPath(temporary), { recursive: true, force: true });
      } catch {
        // The outputs are complete, or the failure that matters is reported already.
      }
    }
  }

  #compressed(file: FileSink): GzipSink {
    const compressor = new GzipSink(file);
    this.#compressors.push(compressor);
    return compressor;
  }

  #openNewDirectory(path: string): (fileName: string) => Promise<ByteSink> {
    const target = targetOf(path);
    const temporary = temporaryPath(dirname(target));
    this.#staged.push({ temporary, target, name: path, isDirectory: true, inPlace: undefined });
    noteUnfinished(temporary);
    create(path, () => mkdirSync(systemPath(temporary)));
    return async (fileName) => {
      const name = join(path, fileName);
      const file = new FileSink(
        create(name, () => openSync(systemPath(join(temporary, fileName)), 'wx')),
        name,
      );
      this.#files.push(file);
      return file;
    };
  }

  /** Opens a temporary file beside the target, so that it is in the same file system; for a symbolic link, beside what it points to. */
  #openStaged(path: string, existing: Stats | undefined): FileSink {
    const target = targetOf(path);
    try {
      const descriptor = this.#create({ temporary: temporaryPath(dirname(target)), target, name: path, isDirectory: false, inPlace: undefined }, existing);
      return new FileSink(descriptor, path);
    } catch (error) {
      if (existing === undefined || !NOT_WRITABLE.includes(systemCode(error) ?? '') || !isWritableFile(target)) throw error;
      const inPlace = `no file can be created next to it (${reasonOf(error)})`;
      return new FileSink(this.#create({ temporary: temporaryPath(tmpdir()), target, name: path, isDirectory: false, inPlace }, existing), path);
    }
  }

  /**
   * Makes the file to write to, and decides how it will get to its place.
   * @param existing the file that is there already
   */
  #create(staged: StagedPath, existing: Stats | undefined): number {
    this.#staged.push(staged);
    noteUnfinished(staged.temporary);
    try {
      // Synchronously: a signal handler must know every file that was made. Until the file has the mode of the existing one, nobody else may open it.
      const make = (): number => openSync(systemPath(staged.temporary), 'wx', existing === undefined ? 0o666 : 0o600);
      const descriptor = staged.inPlace === undefined ? create(staged.name, make) : createElsewhere(staged.temporary, make);
      if (existing === undefined || staged.inPlace !== undefined) return descriptor;
      const inPlace = isWritableFile(staged.target) ? whyInPlace(descriptor, existing) : undefined;
      if (inPlace !== undefined) this.#staged[this.#staged.length - 1] = { ...staged, inPlace };
      else takeAttributes(descriptor, existing);
      return descriptor;
    } catch (error) {
      this.#staged.pop();
      forgetUnfinished(staged.temporary);
      throw error;
    }
  }

  async #openDirectly(path: string): Promise<FileSink> {
    try {
      return new FileSink(await openDescriptor(systemPath(path), 'w'), path);
    } catch (error) {
      throw ioError(error, path);
    }
  }

  async #closeFiles(): Promise<void> {
    for (const file of this.#files) await file.close();
  }
}

/** Why an existing file has to be written in place to keep its links and owner; undefined when another file can replace it. */
function whyInPlace(descriptor: number, existing: Stats): string | undefined {
  if (existing.nlink > 1) return 'it has other hard links';
  return takeOwner(descriptor, existing) ? undefined : 'it would lose its owner';
}

/** Takes owner and permissions from the file that is replaced, as far as possible. Its set-user-ID bits are dropped, as a write to it would drop them. */
function takeAttributes(descriptor: number, existing: Stats): void {
  takeOwner(descriptor, existing);
  try {
    fchmodSync(descriptor, existing.mode & 0o777);
  } catch {
    // There are file systems without permissions.
  }
}

/** @returns whether the file now belongs to the same user and group */
function takeOwner(descriptor: number, { uid, gid }: Stats): boolean {
  try {
    const own = fstatSync(descriptor);
    if (own.uid !== uid || own.gid !== gid) fchownSync(descriptor, uid, gid);
    return true;
  } catch {
    return false; // Only root gives files away.
  }
}

async function statTarget(path: string): Promise<Stats | undefined> {
  try {
    return await stat(systemPath(path));
  } catch (error) {
    // It may be missing; whatever is wrong then shows when the file beside it is made.
    if (systemCode(error) === 'ENOENT') return undefined;
    throw ioError(error, path);
  }
}

function requireNoDirectory(path: string, target: Stats | undefined): void {
  if (target?.isDirectory()) throw new PerfconvError('io', 'is a directory', { file: path });
}

/** Makes a file elsewhere than at the path that the user named. */
function createElsewhere<T>(temporary: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw ioError(error, temporary);
  }
}

/** Makes a file or directory. ENOENT means that the directory that should hold it is missing, or that files cannot be made in it (/proc). */
function create<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') {
      const directory = missingDirectory(path);
      const problem = existsSync(systemPath(directory)) ? 'no file can be created in' : 'there is no directory';
      throw new PerfconvError('io', `${problem} ${directory}`, { file: path }, { cause: error });
    }
    throw ioError(error, path);
  }
}

/** The directory as the user named it; for a symbolic link, the one that it points into. */
function missingDirectory(path: string): string {
  const target = targetOf(path);
  return dirname(target === absolutePath(path) ? path : target);
}
