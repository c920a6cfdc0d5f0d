import type { ByteSink } from '../src/base/byte-sink.ts';

/** What the fuzzer holds of an output: its process may have no more memory than the library may, and reading JSON again takes several times its size. */
const MAX_KEPT_BYTES = 32 << 20;

/**
 * Collects an output. What it takes is the fuzzer's, and is not counted among the arrays of the library ({@link watchAllocations}): names of
 * a megabyte, one to a frame, rightly make outputs of any size. Of those only the size is known.
 */
export class OutputSink implements ByteSink {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #sizeBytes = 0;

  /** @param maxBytes what is held at most: less where several outputs are read at once */
  constructor(maxBytes = MAX_KEPT_BYTES) {
    this.#maxBytes = maxBytes;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#sizeBytes += bytes.length;
    if (this.isTooLarge) this.#pieces = [];
    else this.#pieces.push(Buffer.from(bytes));
  }

  /** Whether the output is larger than what is held. */
  get isTooLarge(): boolean {
    return this.#sizeBytes > this.#maxBytes;
  }

  /** The output; undefined when it {@link isTooLarge}. */
  bytes(): Uint8Array | undefined {
    return this.isTooLarge ? undefined : Buffer.concat(this.#pieces);
  }
}
