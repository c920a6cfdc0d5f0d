import type { ByteSink } from '../src/index.ts';

/**
 * Collects an output. What it takes is the fuzzer's, and is not counted among the arrays of the library ({@link watchAllocations}): names of
 * 64 kB, one to a frame, rightly make outputs of any size.
 */
export class OutputSink implements ByteSink {
  readonly #pieces: Buffer[] = [];

  async write(bytes: Uint8Array): Promise<void> {
    this.#pieces.push(Buffer.from(bytes));
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#pieces);
  }

  text(): string {
    return this.bytes().toString();
  }
}
