import { PerfconvError } from '../../base/problems/errors.ts';
import type { RecordingSource } from '../../base/streams/byte-source.ts';
import { ioError } from '../system/io-error.ts';

/**
 * Bytes that arrive once, in order: a pipe that is being written. A read waits only while there are no bytes at all, so that what was recorded so far is
 * decoded at once.
 */
export class StreamSource implements RecordingSource {
  readonly name: string;
  readonly sizeBytes = undefined;
  readonly #countStoredBytes: (() => number) | undefined;
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #closeInput: () => unknown;
  /** Bytes that have arrived but were not read yet. */
  #pending = new Uint8Array(0);
  /** Position of the first of them. */
  #position = 0;
  /** The stream's first bytes, if they were kept to be read again. */
  #kept = new Uint8Array(0);

  /**
   * @param chunks a stream of Buffers (without an encoding), or an iterable derived from one
   * @param closeInput closes what the chunks come from
   * @param countStoredBytes for unpacked bytes: how many packed bytes were read so far
   */
  constructor(chunks: AsyncIterable<Uint8Array>, name: string, closeInput: () => unknown = () => {}, countStoredBytes?: () => number) {
    this.#countStoredBytes = countStoredBytes;
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#closeInput = closeInput;
    this.name = name;
  }

  /** See RecordingSource. */
  get storedBytes(): number | undefined {
    return this.#countStoredBytes?.();
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    if (position < this.#kept.length) {
      const part = this.#kept.subarray(position, position + target.length);
      target.set(part);
      return part.length;
    }
    if (position < this.#position) throw new PerfconvError('io', 'a pipe cannot be read backwards', { file: this.name, offset: position });
    while (position >= this.#position + this.#pending.length) {
      this.#position += this.#pending.length;
      const chunk = await this.#nextChunk();
      this.#pending = chunk ?? new Uint8Array(0);
      if (chunk === undefined) return 0;
    }
    const start = position - this.#position;
    const part = this.#pending.subarray(start, start + target.length);
    target.set(part);
    this.#pending = this.#pending.subarray(start + part.length);
    this.#position = position + part.length;
    return part.length;
  }

  /** The next bytes, without consuming them: as many as asked for, fewer only if the stream ends. */
  async peek(sizeBytes: number): Promise<Uint8Array> {
    while (this.#pending.length < sizeBytes) {
      const chunk = await this.#nextChunk();
      if (chunk === undefined) break;
      const joined = new Uint8Array(this.#pending.length + chunk.length);
      joined.set(this.#pending);
      joined.set(chunk, this.#pending.length);
      this.#pending = joined;
    }
    return this.#pending.slice(0, sizeBytes);
  }

  /**
   * Keeps the first bytes, so that they can be read any number of times. To be called before anything is read.
   * @returns the bytes: as many as asked for, fewer only if the stream ends
   */
  async keep(sizeBytes: number): Promise<Uint8Array> {
    this.#kept = new Uint8Array(await this.peek(sizeBytes));
    return this.#kept;
  }

  async close(): Promise<void> {
    await this.#closeInput();
    // An unpacker holds resources, too.
    await this.#chunks.return?.().catch(() => {});
  }

  async #nextChunk(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { done, value } = await this.#next();
    if (done) return undefined;
    // Whether a stream has an encoding is not part of its type.
    if (!(value instanceof Uint8Array)) {
      throw new PerfconvError('usage', 'the stream gives text or objects, not bytes: open it without an encoding', { file: this.name });
    }
    return new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength);
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    try {
      return await this.#chunks.next();
    } catch (error) {
      throw ioError(error, this.name);
    }
  }
}
