import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { FieldBytes } from './field-bytes.ts';

/** Encodes protobuf fields that go to a sink in pieces, so that the output is never completely in memory. */
export class FieldWriter extends FieldBytes {
  readonly #sink: ByteSink;

  constructor(sink: ByteSink) {
    super();
    this.#sink = sink;
  }

  /** Encodes the rows of a table, and writes what was collected whenever that is enough. @param put encodes a row */
  async putEach(size: number, put: (row: number) => void): Promise<void> {
    for (let row = 0; row < size; ) {
      for (; row < size && !this.isFull; row++) put(row);
      if (this.isFull) await this.flush();
    }
  }

  /** Writes what was collected. @throws whatever the sink throws */
  async flush(): Promise<void> {
    if (this.length > 0) await this.#sink.write(this.collected);
    this.clear();
  }
}
