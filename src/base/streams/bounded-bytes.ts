import { PerfconvError } from '../problems/errors.ts';
import { allocated } from '../tables/growable.ts';
import type { Compression } from './decompressor.ts';

/** Collects the pieces of what is unpacked, up to a size. */
export class BoundedBytes {
  #bytes = new Uint8Array(1 << 16);
  #sizeBytes = 0;
  readonly #name: Compression;
  readonly #maxSizeBytes: number;

  constructor(name: Compression, maxSizeBytes: number) {
    this.#name = name;
    this.#maxSizeBytes = maxSizeBytes;
  }

  /** @throws PerfconvError `damaged` if it is more than that size; `limit` if there is no memory for it */
  push(piece: Uint8Array): void {
    const sizeBytes = this.#sizeBytes + piece.length;
    if (sizeBytes > this.#maxSizeBytes) throw unpacksToMore(this.#name, this.#maxSizeBytes);
    if (sizeBytes > this.#bytes.length) {
      const larger = allocated(Uint8Array, Math.min(Math.max(2 * this.#bytes.length, sizeBytes), this.#maxSizeBytes));
      larger.set(this.#bytes.subarray(0, this.#sizeBytes));
      this.#bytes = larger;
    }
    this.#bytes.set(piece, this.#sizeBytes);
    this.#sizeBytes = sizeBytes;
  }

  /** All pieces together; valid until the next one is pushed. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#sizeBytes);
  }
}

/** The error for data that unpack to more than they may. */
export function unpacksToMore(name: Compression, maxSizeBytes: number): PerfconvError {
  return new PerfconvError('damaged', `the ${name} data unpacks to more than ${maxSizeBytes} bytes`);
}
