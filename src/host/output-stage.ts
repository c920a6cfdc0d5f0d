import { chmodSync, mkdirSync, open, openSync, rmSync, type Stats } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ByteSink } from '../bytes/byte-sink.ts';
import { PerfconvError } from '../errors.ts';
import { FileSink } from './file-sink.ts';
import { GzipSink } from './gzip-sink.ts';
import { ioError, systemCode } from './io-error.ts';
import { targetOf } from './output-target.ts';
import { randomHex } from './random-hex.ts';
import { absolutePath, systemPath } from './system-path.ts';

const openDescriptor = promisify(open);

/** A path that is written beside its place and moved there when everything is done. */
interface StagedPath {
  readonly temporary: string;
  readonly target: string;
  /** What messages call it: the path as the user gave it. */
  readonly name: string;
  readonly isDirectory: boolean;
}

/**
 * The outputs of one conversion while they are made. Files and directories appear whole, all together at
 * {@link commit}, or not at all.
 */
export class OutputStage {
  readonly #staged: StagedPath[] = [];
  readonly #files: FileSink[] = [];
  readonly #compressors: GzipSink[] = [];

  /**
   * Opens a file. A device or a pipe is written directly: nothing may take its place.
   * @throws PerfconvError `io` when it cannot be made, before any work was spent on it
   */
  async openFile(path: string, gzip = false): Promise<ByteSink> {
    const target = await statTarget(path);
    if (target?.isDirectory()) throw new PerfconvError('io', 'is a directory', { file: path });
    const file = target !== undefined && !target.isFile() ? await this.#openDirectly(path) : await this.#openStaged(path, target);
    this.#files.push(file);
    return gzip ? this.#compressed(file) : file;
  }

  /**
   * Opens a directory, and gives what opens files in it. One that is there already keeps what is not written anew.
   * @throws PerfconvError `io`
   */
  async openDirectory(path: string): Promise<(fileName: string) => Promise<ByteSink>> {
    const target = await statTarget(path);
    if (target !== undefined && !target.isDirectory()) throw new PerfconvError('io', 'is no directory, and the tables need one', { file: path });
    const temporary = this.#stage(path, true);
    create(path, () => mkdirSync(systemPath(temporary)));
    return async (fileName) => {
      const file = new FileSink(
        create(path, () => openSync(systemPath(join(temporary, fileName)), 'wx')),
        join(path, fileName),
      );
      this.#files.push(file);
      return file;
    };
  }

  /** Everything is written: moves all outputs to their places. */
  async commit(): Promise<void> {
    for (const compressor of this.#compressors) await compressor.end();
    await this.#closeFiles();
    while (this.#staged.length > 0) {
      const { temporary, target, name, isDirectory } = this.#staged[0];
      try {
        if (isDirectory) await moveDirectory(temporary, target);
        else await rename(systemPath(temporary), systemPath(target));
      } catch (error) {
        throw ioError(error, name);
      }
      this.#staged.shift();
    }
  }

  /** Something failed: removes what was begun. Does nothing after {@link commit}. Never throws. */
  async discard(): Promise<void> {
    for (const compressor of this.#compressors) await compressor.destroy();
    await this.#closeFiles().catch(() => {});
    for (const { temporary } of this.#staged.splice(0)) await rm(systemPath(temporary), { recursive: true, force: true }).catch(() => {});
  }

  /** As {@link discard}, at once: for a process that a signal ends. */
  discardNow(): void {
    for (const { temporary } of this.#staged.splice(0)) rmSync(systemPath(temporary), { recursive: true, force: true });
  }

  #compressed(file: FileSink): GzipSink {
    const compressor = new GzipSink(file);
    this.#compressors.push(compressor);
    return compressor;
  }

  async #openStaged(path: string, target: Stats | undefined): Promise<FileSink> {
    const temporary = this.#stage(path, false);
    // At once, not in a thread: a signal must find every file that was made.
    const descriptor = create(path, () => openSync(systemPath(temporary), 'wx'));
    if (target !== undefined) chmodSync(systemPath(temporary), target.mode & 0o777);
    return new FileSink(descriptor, path);
  }

  async #openDirectly(path: string): Promise<FileSink> {
    try {
      return new FileSink(await openDescriptor(systemPath(path), 'w'), path);
    } catch (error) {
      throw ioError(error, path);
    }
  }

  /** A name beside the target, which lies in the same file system; behind a symbolic link, beside what it points to. */
  #stage(path: string, isDirectory: boolean): string {
    const target = targetOf(path);
    const temporary = join(dirname(target), `.perfconv-${process.pid}-${randomHex(4)}.tmp`);
    this.#staged.push({ temporary, target, name: path, isDirectory });
    return temporary;
  }

  async #closeFiles(): Promise<void> {
    for (const file of this.#files) await file.close();
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

/** Makes a file or directory; a path that is missing can only be the directory that it should lie in. */
function create<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw new PerfconvError('io', `there is no directory ${missingDirectory(path)}`, { file: path }, { cause: error });
    throw ioError(error, path);
  }
}

/** As the user named it; behind a symbolic link, where that points to. */
function missingDirectory(path: string): string {
  const target = targetOf(path);
  return dirname(target === absolutePath(path) ? path : target);
}

/** Moves a directory to its place; into one that is there already, file by file. */
async function moveDirectory(temporary: string, target: string): Promise<void> {
  const isThere = await stat(systemPath(target)).catch(() => undefined);
  if (isThere === undefined) {
    await rename(systemPath(temporary), systemPath(target));
    return;
  }
  for (const name of await readdir(systemPath(temporary))) await rename(systemPath(join(temporary, name)), systemPath(join(target, name)));
  await rm(systemPath(temporary), { recursive: true, force: true });
}
