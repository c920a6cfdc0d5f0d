import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { ByteSink } from '../../base/byte-sink.ts';

const FLUSH_AT_BYTES = 1 << 20;

/** Passes protobuf fields to a sink in pieces of about a megabyte, so that a profile is never in memory as a whole. */
export class PprofPieces {
  readonly writer = new BinaryWriter();
  readonly #sink: ByteSink;
  #pendingBytes = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /**
   * Call this after each top-level field.
   * @param bytes estimated size of the field (the writer does not report how much it holds)
   * @returns whether it is time to {@link flush}
   */
  added(bytes: number): boolean {
    this.#pendingBytes += bytes;
    return this.#pendingBytes >= FLUSH_AT_BYTES;
  }

  /** Returns everything collected, which then does not go to the sink. */
  take(): Uint8Array {
    this.#pendingBytes = 0;
    return this.writer.finish();
  }

  /** Adds encoded fields, without copying them. */
  append(fields: Uint8Array): void {
    this.writer.raw(fields);
    this.#pendingBytes += fields.length;
  }

  /** Writes everything collected to the sink. Call it once more at the end. */
  async flush(): Promise<void> {
    const piece = this.take();
    if (piece.length > 0) await this.#sink.write(piece);
  }
}
