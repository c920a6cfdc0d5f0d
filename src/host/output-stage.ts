import { existsSync, fchmodSync, fchownSync, fstatSync, mkdirSync, open, openSync, rmSync, type Stats } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ByteSink } from '../base/byte-sink.ts';
import { PerfconvError } from '../base/errors.ts';
import { FileSink } from './file-sink.ts';
import { GzipSink } from './gzip-sink.ts';
import { ioError, reasonOf, systemCode } from './io-error.ts';
import { type CommitOptions, type InPlaceOutput, isWritableFile, OutputCommit, type StagedPath } from './output-commit.ts';
import { targetOf } from './output-target.ts';
import { absolutePath, systemPath } from './system-path.ts';
import { temporaryPath } from './temporary-path.ts';
import { forgetUnfinished, noteUnfinished } from './unfinished-files.ts';

const openDescriptor = promisify(open);

/** Errors for directories in which this user cannot create files. */
const NOT_WRITABLE = ['EACCES', 'EPERM', 'EROFS'];

/**
 * The outputs of one conversion while they are made. Files and directories appear whole, all together at
 * {@link commit}, or not at all.
 */
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
   * Opens a file. One that is there already keeps its mode, and its owner and hard links where that is possible. A device or a pipe is
   * written directly: nothing may replace it.
   * @throws PerfconvError `io` when it cannot be made, before any work was spent on it
   */
  async openFile(path: string, gzip = false): Promise<ByteSink> {
    const target = await statTarget(path);
    requireNoDirectory(path, target);
    const file = target !== undefined && !target.isFile() ? await this.#openDirectly(path) : this.#openStaged(path, target);
    this.#files.push(file);
    return gzip ? this.#compressed(file) : file;
  }

  /**
   * Opens a directory, and gives what opens files in it. One that is there already keeps what is not written anew.
   * @param fileNames names of files that will be opened: what is in the way of one is reported at once
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
   * Everything is written: puts all outputs in their places.
   * @returns those that could not be replaced as a whole and were written in place
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

  /** Something failed: removes what was begun. Does nothing after {@link commit}. Never throws. */
  async discard(): Promise<void> {
    for (const compressor of this.#compressors) await compressor.destroy();
    await this.#closeFiles().catch(() => {});
    for (const { temporary } of this.#staged.splice(0)) {
      await rm(systemPath(temporary), { recursive: true, force: true }).catch(() => {});
      forgetUnfinished(temporary);
    }
  }

  /** As {@link discard}, at once: for a process that a signal ends. In the middle of {@link commit}, outputs become what they were. */
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

  /** Opens a file beside its place, which lies in the same file system; for a symbolic link, beside what it points to. */
  #openStaged(path: string, existing: Stats | undefined): FileSink {
    const target = targetOf(path);
    try {
      const descriptor = this.#create({ temporary: temporaryPath(dirname(target)), target, name: path, isDirectory: false, inPlace: undefined }, existing);
      return new FileSink(descriptor, path);
    } catch (error) {
      if (existing === undefined || !NOT_WRITABLE.includes(systemCode(error) ?? '') || !isWritableFile(target)) throw error;
      const inPlace = `no file can be made beside it (${reasonOf(error)})`;
      return new FileSink(this.#create({ temporary: temporaryPath(tmpdir()), target, name: path, isDirectory: false, inPlace }, existing), path);
    }
  }

  /**
   * Makes the file to write to, and decides how it comes to its place.
   * @param existing the file that is there already
   */
  #create(staged: StagedPath, existing: Stats | undefined): number {
    this.#staged.push(staged);
    noteUnfinished(staged.temporary);
    try {
      // At once, not in a thread: a signal must find every file that was made. Until it has the mode of the other, it is for nobody else.
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

/** Why a file that is there has to be written to if it is to keep what it has; undefined when another can take its place. */
function whyInPlace(descriptor: number, existing: Stats): string | undefined {
  if (existing.nlink > 1) return 'it has other hard links';
  return takeOwner(descriptor, existing) ? undefined : 'it would lose its owner';
}

/** Owner and permissions of the file that is replaced, where they can be had. Its set-user-ID bits are dropped, as a write to it would. */
function takeAttributes(descriptor: number, existing: Stats): void {
  takeOwner(descriptor, existing);
  try {
    fchmodSync(descriptor, existing.mode & 0o777);
  } catch {
    // There are file systems without permissions.
  }
}

/** @returns whether the file belongs to the same user and group now */
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
    // Missing is what it may be; whatever else is wrong shows when the file beside it is made.
    if (systemCode(error) === 'ENOENT') return undefined;
    throw ioError(error, path);
  }
}

function requireNoDirectory(path: string, target: Stats | undefined): void {
  if (target?.isDirectory()) throw new PerfconvError('io', 'is a directory', { file: path });
}

/** Makes a file that does not lie where the user named one. */
function createElsewhere<T>(temporary: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw ioError(error, temporary);
  }
}

/** Makes a file or directory; a path that is missing is the directory that it should lie in, unless files cannot be made there (/proc). */
function create<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') {
      const directory = missingDirectory(path);
      const problem = existsSync(systemPath(directory)) ? 'no file can be made in' : 'there is no directory';
      throw new PerfconvError('io', `${problem} ${directory}`, { file: path }, { cause: error });
    }
    throw ioError(error, path);
  }
}

/** As the user named it; for a symbolic link, where it points to. */
function missingDirectory(path: string): string {
  const target = targetOf(path);
  return dirname(target === absolutePath(path) ? path : target);
}
