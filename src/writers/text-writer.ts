import type { ByteSink } from '../bytes/byte-sink.ts';

const FLUSH_AT_BYTES = 1 << 20;

/**
 * UTF-8 text on its way to a sink, collected into pieces of about a megabyte. `put` never waits, so that a loop over
 * samples makes no promise per line; the loop asks {@link isFull} and awaits {@link flush} now and then.
 */
export class TextWriter {
  readonly #sink: ByteSink;
  readonly #encoder = new TextEncoder();
  #buffer = new Uint8Array(FLUSH_AT_BYTES + (1 << 16));
  #length = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  put(text: string): void {
    // UTF-8 needs at most three bytes for each UTF-16 unit.
    const need = this.#length + text.length * 3;
    if (need > this.#buffer.length) this.#grow(need);
    this.#length += this.#encoder.encodeInto(text, this.#buffer.subarray(this.#length)).written;
  }

  get isFull(): boolean {
    return this.#length >= FLUSH_AT_BYTES;
  }

  /** Hands everything collected to the sink. Call it once more at the end. */
  async flush(): Promise<void> {
    if (this.#length === 0) return;
    await this.#sink.write(this.#buffer.subarray(0, this.#length));
    this.#length = 0;
  }

  #grow(need: number): void {
    const larger = new Uint8Array(Math.max(need, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}
