import type { Writable } from 'node:stream';
import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { ioError } from '../system/io-error.ts';

/** Writes into a stream and waits for it. For standard output, which may be a file, use `openStandardOutput`. */
export class WritableSink implements ByteSink {
  readonly #writable: Writable;
  readonly #name: string;

  constructor(writable: Writable, name: string) {
    this.#writable = writable;
    this.#name = name;
    // A failed write is reported to its callback; without a listener, the stream would also throw it.
    writable.on('error', () => {});
  }

  write(chunk: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#writable.write(chunk, (error) => {
        // A stream that failed before refuses to be written: what made it fail says more.
        if (error) reject(ioError(this.#writable.errored ?? error, this.#name));
        else resolve();
      });
    });
  }
}
