import { createReadStream, fstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { STANDARD_STREAM } from '../../base/names/input-names.ts';
import { type Diagnostic, Diagnostics } from '../../base/problems/diagnostics.ts';
import { type BlobLike, BlobSource, isBlob } from '../../base/streams/blob-source.ts';
import { BufferSource, type ByteSource } from '../../base/streams/byte-source.ts';
import type { Cancellation } from '../../base/streams/cancellation.ts';
import type { OpenInput } from '../../base/streams/recording-input.ts';
import { SharedSource } from '../../base/streams/shared-source.ts';
import { identityOf, statsIdentity } from '../system/file-identity.ts';
import { ioError } from '../system/io-error.ts';
import { systemPath } from '../system/system-path.ts';
import { FileSource } from './file-source.ts';
import { FilesRead } from './files-read.ts';
import { openDirectory } from './open-directory.ts';
import { isRegularFile, openStored, type StoredInput } from './open-input.ts';
import { keepWhole } from './spill.ts';
import { StreamSource } from './stream-source.ts';

/** A path, `-` for standard input, a descriptor, a stream, a Blob, or the bytes themselves. */
export type InputHandle = string | number | Readable | BlobLike | Uint8Array;

/**
 * Opens an input for one reading.
 * @param diagnostics gets what is wrong with the input itself, also later, while it is read
 * @param shared wraps a source that all readings share
 */
type Open = (diagnostics: Diagnostics, shared: (source: StoredInput) => StoredInput) => Promise<OpenInput>;

/**
 * An input that can be read any number of times, also several times at once. What can be read only once – a pipe, a socket, a stream – is read to its end and
 * kept: in memory up to 64 MiB, beyond that in an unnamed file. A compressed input is decompressed for each reading, unless all of it has to be kept to be read
 * at all.
 */
export class RepeatableInput {
  readonly name: string;
  /** Closed in the end. */
  readonly #stored: ByteSource;
  readonly #openAnew: Open;
  readonly #files: FilesRead;
  #isClosed = false;
  /** What all readings share, with the diagnostics of opening it; undefined if each reading opens it again. */
  #shared: Promise<{ readonly input: OpenInput; readonly findings: readonly Diagnostic[] } | undefined> | undefined;

  private constructor(stored: ByteSource, open: Open, files: FilesRead) {
    this.name = stored.name;
    this.#stored = stored;
    this.#openAnew = open;
    this.#files = files;
  }

  /**
   * @param name what to call an input that has no path
   * @param cancellation gives up a stream that is read to its end
   * @throws PerfconvError `io`; `damaged` for a directory recording without its main file
   */
  static async open(handle: InputHandle, name: string, cancellation: Cancellation): Promise<RepeatableInput> {
    if (handle instanceof Uint8Array) return RepeatableInput.#ofStored(new BufferSource(handle, name));
    if (isBlob(handle)) return RepeatableInput.#ofStored(new BlobSource(handle, name));
    if (handle instanceof Readable) return RepeatableInput.#ofStream(handle, name, cancellation);
    if (typeof handle === 'string' && handle !== STANDARD_STREAM) return RepeatableInput.#ofPath(handle, cancellation);
    const descriptor = typeof handle === 'string' ? process.stdin.fd : handle;
    if (isRegularFile(descriptor)) {
      const identity = statsIdentity(fstatSync(descriptor, { bigint: true }));
      return RepeatableInput.#ofStored(await FileSource.restOf(descriptor, name), identity);
    }
    const stream = typeof handle === 'string' ? process.stdin : createReadStream('', { fd: descriptor, autoClose: false });
    return RepeatableInput.#ofStream(stream, name, cancellation);
  }

  static async #ofPath(path: string, cancellation: Cancellation): Promise<RepeatableInput> {
    const stats = await stat(systemPath(path)).catch((error: unknown) => {
      throw ioError(error, path);
    });
    if (stats.isFile()) return RepeatableInput.#ofStored(await FileSource.open(path), identityOf(path));
    if (!stats.isDirectory()) return RepeatableInput.#ofStream(createReadStream(systemPath(path)), path, cancellation);
    const found = new Diagnostics();
    const directory = await openDirectory(path, found);
    const open: Open = async (diagnostics, shared) => {
      diagnostics.addAll(found.list());
      return { ...directory, source: shared(directory.source) };
    };
    const files = new FilesRead();
    files.addInput(path);
    return new RepeatableInput(directory.source, open, files);
  }

  /** @param identity the file's identity, if it is a file */
  static #ofStored(stored: StoredInput, identity?: string): RepeatableInput {
    const files = new FilesRead();
    if (identity !== undefined) files.addInputFile(identity, stored.name);
    return new RepeatableInput(stored, (diagnostics, shared) => openStored(shared(stored), diagnostics), files);
  }

  static async #ofStream(stream: Readable, name: string, cancellation: Cancellation): Promise<RepeatableInput> {
    const source = new StreamSource(stream, name, () => stream.destroy());
    return RepeatableInput.#ofStored(await keepWhole(cancellation.source(source)));
  }

  /**
   * Opens the input for one reading, which is to close the source at its end.
   * @param diagnostics of this reading alone: gets what is wrong with a compressed input or a directory, also later, while it is read
   * @param cancellation gives up what is decompressed before the first reading
   * @throws PerfconvError `unsupported` for a compression that is not supported, `damaged` if nothing can be decompressed
   */
  async open(diagnostics: Diagnostics, cancellation: Cancellation): Promise<OpenInput> {
    this.#shared ??= this.#share(cancellation).catch((error: unknown) => {
      // The next reading tries again: too many files may have been open, or there may have been no space left.
      this.#shared = undefined;
      throw error;
    });
    const shared = await this.#shared;
    if (shared === undefined) return this.#open(diagnostics, cancellation);
    diagnostics.addAll(shared.findings);
    return { ...shared.input, source: this.#use(shared.input.source) };
  }

  /** Opens the input once for all readings, unless it is decompressed as it is read, which works only once. */
  async #share(cancellation: Cancellation): Promise<{ readonly input: OpenInput; readonly findings: readonly Diagnostic[] } | undefined> {
    const found = new Diagnostics();
    const input = await this.#open(found, cancellation);
    if (input.source.sizeBytes !== undefined) return { input, findings: found.list() };
    await input.source.close();
    return undefined;
  }

  #open(diagnostics: Diagnostics, cancellation: Cancellation): Promise<OpenInput> {
    return this.#openAnew(diagnostics, (source) => cancellation.source(this.#use(source)));
  }

  #use(source: StoredInput): SharedSource {
    return new SharedSource(source, () => this.#isClosed);
  }

  /** What writing an output to a path would do to the input, such as `overwrite the input perf.data`; undefined if it does no harm. */
  conflictOfWriting(path: string): string | undefined {
    return this.#files.conflictOfWriting(path);
  }

  /** Closes everything. Readings that are not finished fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#stored.close();
    const shared = await this.#shared?.catch(() => undefined);
    await shared?.input.source.close();
  }
}
