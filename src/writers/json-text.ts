import { showRawBytes } from '../base/text.ts';
import { TextWriter } from '../base/text-writer.ts';

const DIGIT_ZERO = 48;
const MINUS = 45;

const encoder = new TextEncoder();

/** Text as UTF-8, for pieces that are written over and over. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** A string literal of JSON. It has no lone surrogates, which strict readers refuse: bytes that are no UTF-8 read as `\xff`. */
export function quotedJson(text: string): string {
  return JSON.stringify(showRawBytes(text));
}

/**
 * JSON on its way to a sink: digits and prepared bytes go straight into the text's buffer, so that a number makes no string.
 */
export class JsonWriter extends TextWriter {
  /** Writes a string literal. */
  quoted(text: string): void {
    this.put(quotedJson(text));
  }

  bytes(bytes: Uint8Array): void {
    const { length } = bytes;
    this.reserve(length);
    // A loop beats TypedArray.set below some dozens of bytes.
    if (length > 64) this.buffer.set(bytes, this.length);
    else for (let i = 0, at = this.length; i < length; i++) this.buffer[at + i] = bytes[i];
    this.length += length;
  }

  /** One ASCII character, by its code. */
  char(code: number): void {
    this.reserve(1);
    this.buffer[this.length++] = code;
  }

  /** Writes a finite number in decimal. */
  number(value: number): void {
    // hot
    if (!Number.isSafeInteger(value)) {
      this.put(String(value));
      return;
    }
    this.reserve(20);
    const buffer = this.buffer;
    let rest = value;
    if (rest < 0) {
      buffer[this.length++] = MINUS;
      rest = -rest;
    }
    const start = this.length;
    this.length += decimalDigits(rest);
    let at = this.length;
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
}

/** How many decimal digits a non-negative integer has. */
export function decimalDigits(value: number): number {
  let digits = 1;
  for (let limit = 10; value >= limit; limit *= 10) digits++;
  return digits;
}
