import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { ByteSink } from '../../base/byte-sink.ts';

const FLUSH_AT_BYTES = 1 << 20;

/** Protobuf fields on their way to a sink, in pieces of about a megabyte, so that the whole never lies in memory. */
export class PprofPieces {
  readonly writer = new BinaryWriter();
  readonly #sink: ByteSink;
  #pendingBytes = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /**
   * To be called behind each field of the top level.
   * @param bytes about what it takes (the writer does not tell how much it holds)
   * @returns whether it is time to {@link flush}
   */
  added(bytes: number): boolean {
    this.#pendingBytes += bytes;
    return this.#pendingBytes >= FLUSH_AT_BYTES;
  }

  /** Gives everything collected to the caller, in place of the sink. */
  take(): Uint8Array {
    this.#pendingBytes = 0;
    return this.writer.finish();
  }

  /** Adds encoded fields; they are not copied. */
  append(fields: Uint8Array): void {
    this.writer.raw(fields);
    this.#pendingBytes += fields.length;
  }

  /** Hands everything collected to the sink. Call it once more at the end. */
  async flush(): Promise<void> {
    const piece = this.take();
    if (piece.length > 0) await this.#sink.write(piece);
  }
}
