import type { ByteSink } from '../../src/base/streams/byte-sink.ts';

/**
 * How much of an output is kept. The fuzzer shares the library's memory limit, and parsing JSON takes several times its
 * size.
 */
const MAX_KEPT_BYTES = 32 << 20;

/**
 * Collects an output. Its arrays do not count as the library's (see {@link watchAllocations}), because names of a megabyte in every frame rightly make outputs
 * of any size. Only the size is kept of an output that is too large.
 */
export class OutputSink implements ByteSink {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #sizeBytes = 0;

  /** @param maxBytes how much is kept; less if several outputs are checked at once */
  constructor(maxBytes = MAX_KEPT_BYTES) {
    this.#maxBytes = maxBytes;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#sizeBytes += bytes.length;
    if (this.isTooLarge) this.#pieces = [];
    else this.#pieces.push(Buffer.from(bytes));
  }

  /** Whether the output is larger than what is kept. */
  get isTooLarge(): boolean {
    return this.#sizeBytes > this.#maxBytes;
  }

  /** The output; undefined if it {@link isTooLarge}. */
  bytes(): Uint8Array | undefined {
    return this.isTooLarge ? undefined : Buffer.concat(this.#pieces);
  }
}
