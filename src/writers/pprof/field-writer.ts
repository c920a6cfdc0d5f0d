import type { ByteSink } from '../../base/byte-sink.ts';
import { FieldBytes } from './field-bytes.ts';

/** Encodes protobuf fields that go to a sink in pieces, so that the output is never completely in memory. */
export class FieldWriter extends FieldBytes {
  readonly #sink: ByteSink;

  constructor(sink: ByteSink) {
    super();
    this.#sink = sink;
  }

  /** Writes what was collected. @throws whatever the sink throws */
  async flush(): Promise<void> {
    if (this.length > 0) await this.#sink.write(this.collected);
    this.clear();
  }
}
