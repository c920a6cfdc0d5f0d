import { close, write } from 'node:fs';
import { promisify } from 'node:util';
import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { ioError } from '../system/io-error.ts';

const closeDescriptor = promisify(close);

/** Writes into an open file, one chunk after the other. */
export class FileSink implements ByteSink {
  readonly #descriptor: number;
  readonly #name: string;
  #isOpen = true;

  /** @param name what messages call the file */
  constructor(descriptor: number, name: string) {
    this.#descriptor = descriptor;
    this.#name = name;
  }

  async write(chunk: Uint8Array): Promise<void> {
    // A write may store only a part; the next one then reports why.
    for (let done = 0; done < chunk.length; ) done += await this.#writeSome(done === 0 ? chunk : chunk.subarray(done));
  }

  /** May be called more than once. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    try {
      await closeDescriptor(this.#descriptor);
    } catch (error) {
      throw ioError(error, this.#name);
    }
  }

  #writeSome(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      // null: at the current offset, since pipes and devices have no other.
      write(this.#descriptor, bytes, 0, bytes.length, null, (error, count) => {
        if (error) reject(ioError(error, this.#name));
        else resolve(count);
      });
    });
  }
}
