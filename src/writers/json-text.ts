import { TextWriter } from '../base/streams/text-writer.ts';
import { showRawBytes } from '../base/text/text.ts';

const DIGIT_ZERO = 48;
const MINUS = 45;

const encoder = new TextEncoder();

/** Encodes text that is written many times, for {@link JsonWriter.bytes}. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** A JSON string literal. Bytes that are not UTF-8 are written as the text `\xff`: they are held as lone surrogates, which strict readers reject. */
export function quotedJson(text: string): string {
  return JSON.stringify(showRawBytes(text));
}

/** Writes JSON to a sink. Numbers and encoded pieces go straight into the buffer, without a string for each. */
export class JsonWriter extends TextWriter {
  /** Writes a text as a string literal. */
  quoted(text: string): void {
    this.put(quotedJson(text));
  }

  bytes(bytes: Uint8Array): void {
    const { length } = bytes;
    this.reserve(length);
    // For a few dozen bytes a loop is faster than TypedArray.set.
    if (length > 64) this.buffer.set(bytes, this.length);
    else for (let i = 0, at = this.length; i < length; i++) this.buffer[at + i] = bytes[i];
    this.length += length;
  }

  /** Writes one ASCII character, given by its code. */
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

/** Number of decimal digits of a non-negative integer. */
function decimalDigits(value: number): number {
  let digits = 1;
  for (let limit = 10; value >= limit; limit *= 10) digits++;
  return digits;
}
