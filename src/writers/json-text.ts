import type { ByteSink } from '../bytes/byte-sink.ts';

const FLUSH_AT_BYTES = 1 << 20;
const HEADROOM_BYTES = 1 << 14;
const DIGIT_ZERO = 48;
const MINUS = 45;

const encoder = new TextEncoder();

/** A JSON string literal as UTF-8, quotes included. Lone surrogates come out as `\udXXX`, so the result is always valid. */
export function quotedUtf8(text: string): Uint8Array {
  return encoder.encode(JSON.stringify(text));
}

/** Text as UTF-8, for pieces that are written over and over. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/**
 * JSON on its way to a sink, in pieces of about a megabyte: digits and prepared bytes go straight into one buffer, so
 * that a number makes no string. Nothing waits but {@link flush}: a loop asks {@link isFull} once per row.
 */
export class JsonWriter {
  readonly #sink: ByteSink;
  #buffer = new Uint8Array(FLUSH_AT_BYTES + HEADROOM_BYTES);
  #length = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** Writes text as it stands: punctuation, or JSON made elsewhere. */
  raw(text: string): void {
    // UTF-8 needs at most three bytes for each UTF-16 unit.
    this.#reserve(text.length * 3);
    this.#length += encoder.encodeInto(text, this.#buffer.subarray(this.#length)).written;
  }

  /** Writes a string literal. */
  quoted(text: string): void {
    this.raw(JSON.stringify(text));
  }

  bytes(bytes: Uint8Array): void {
    const { length } = bytes;
    this.#reserve(length);
    // A loop beats TypedArray.set below some dozens of bytes.
    if (length > 64) this.#buffer.set(bytes, this.#length);
    else for (let i = 0, at = this.#length; i < length; i++) this.#buffer[at + i] = bytes[i];
    this.#length += length;
  }

  /** One ASCII character, by its code. */
  char(code: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = code;
  }

  /** Writes a finite number in decimal. */
  number(value: number): void {
    // hot
    if (!Number.isSafeInteger(value)) {
      this.raw(String(value));
      return;
    }
    this.#reserve(20);
    const buffer = this.#buffer;
    let rest = value;
    if (rest < 0) {
      buffer[this.#length++] = MINUS;
      rest = -rest;
    }
    const start = this.#length;
    this.#length += decimalDigits(rest);
    let at = this.#length;
    while (rest > 0x7fffffff) {
      const tenth = Math.floor(rest / 10);
      buffer[--at] = DIGIT_ZERO + (rest - tenth * 10);
      rest = tenth;
    }
    while (at > start) {
      const tenth = (rest / 10) | 0;
      buffer[--at] = DIGIT_ZERO + (rest - tenth * 10);
      rest = tenth;
    }
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

  #reserve(bytes: number): void {
    const need = this.#length + bytes;
    if (need <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(need, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}

/** How many decimal digits a non-negative integer has. */
export function decimalDigits(value: number): number {
  let digits = 1;
  for (let limit = 10; value >= limit; limit *= 10) digits++;
  return digits;
}
