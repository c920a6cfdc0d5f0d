import { encodeText, hasRawBytes } from '../text/text.ts';
import type { ByteSink } from './byte-sink.ts';

const FLUSH_AT_BYTES = 1 << 20;
const HEADROOM_BYTES = 1 << 16;
/** Longer text is encoded in parts, so that room is made for its actual size, not for three times as much. */
const MAX_PART_LENGTH = 1 << 16;

const encoder = new TextEncoder();

/**
 * Writes text to a sink, as the bytes that it stands for ({@link encodeText}), in pieces of about a megabyte. `put` never waits, so that a loop over samples
 * does not make a promise per line; the loop asks {@link isFull} and awaits {@link flush} now and then.
 */
export class TextWriter {
  readonly #sink: ByteSink;
  /** The collected bytes are the first `length` of `buffer`. A subclass may add to them after {@link reserve}. */
  protected buffer = new Uint8Array(FLUSH_AT_BYTES + HEADROOM_BYTES);
  protected length = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** Writes text as it is. */
  put(text: string): void {
    if (text.length <= MAX_PART_LENGTH) {
      this.#putPart(text);
      return;
    }
    for (let start = 0; start < text.length; ) {
      const end = partEnd(text, start + MAX_PART_LENGTH);
      this.#putPart(text.slice(start, end));
      start = end;
    }
  }

  #putPart(text: string): void {
    // UTF-8 needs at most three bytes for each UTF-16 unit.
    this.reserve(text.length * 3);
    const { written } = encoder.encodeInto(text, this.buffer.subarray(this.length));
    // Bytes that are not UTF-8 are not ASCII either: the length shows that without a look at the text.
    if (written !== text.length && hasRawBytes(text)) this.#putBytes(encodeText(text));
    else this.length += written;
  }

  #putBytes(bytes: Uint8Array): void {
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  get isFull(): boolean {
    return this.length >= FLUSH_AT_BYTES;
  }

  /** Hands everything collected to the sink. Call it once more at the end. */
  async flush(): Promise<void> {
    if (this.length === 0) return;
    await this.#sink.write(this.buffer.subarray(0, this.length));
    this.length = 0;
  }

  /** Makes room for that many more bytes. */
  protected reserve(bytes: number): void {
    const need = this.length + bytes;
    if (need <= this.buffer.length) return;
    const larger = new Uint8Array(Math.max(need, this.buffer.length * 2));
    larger.set(this.buffer.subarray(0, this.length));
    this.buffer = larger;
  }
}

/** The index at which text can be cut: `end`, or the next one if that is between the two halves of a character. */
function partEnd(text: string, end: number): number {
  const isHighSurrogate = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isHighSurrogate ? end + 1 : end;
}
