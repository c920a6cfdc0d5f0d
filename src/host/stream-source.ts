import type { Readable } from 'node:stream';
import type { ByteSource } from '../bytes/byte-source.ts';
import { PerfconvError } from '../errors.ts';
import { ioError } from './io-error.ts';

/**
 * Bytes that come once, in order: a pipe, as it is being written. It waits only while it has nothing at all, so that
 * what was recorded so far is decoded at once.
 */
export class StreamSource implements ByteSource {
  readonly name: string;
  readonly sizeBytes = undefined;
  readonly #readable: Readable;
  readonly #chunks: AsyncIterator<Uint8Array>;
  /** Bytes that came and were not asked for yet. */
  #pending = new Uint8Array(0);
  /** Position of the first of them. */
  #position = 0;

  /** @param readable gives Buffers: no encoding is set */
  constructor(readable: Readable, name: string) {
    this.#readable = readable;
    this.#chunks = readable[Symbol.asyncIterator]();
    this.name = name;
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    if (position < this.#position) throw new PerfconvError('io', 'a pipe cannot be read backwards', { file: this.name, offset: position });
    if (target.length === 0) return 0;
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

  /** The next bytes, without taking them: as many as asked for, fewer only where the stream ends. */
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

  async close(): Promise<void> {
    this.#readable.destroy();
  }

  async #nextChunk(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    try {
      const { done, value } = await this.#chunks.next();
      return done ? undefined : new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength);
    } catch (error) {
      throw ioError(error, this.name);
    }
  }
}
