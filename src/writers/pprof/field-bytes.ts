import { grown } from '../../base/tables/growable.ts';
import { showRawBytes } from '../../base/text/text.ts';

/** About how much is collected before it goes to the sink. */
const FLUSH_AT_BYTES = 1 << 19;
/** Length of the longest varint of 64 bits. */
export const MAX_VARINT_BYTES = 10;

/** The largest value of an int64 field. */
const MAX_INT64 = 2n ** 63n - 1n;

/** Wire types of protobuf: a varint, eight bytes, and a value that begins with its length. */
const VARINT = 0;
const I64 = 1;
const LENGTH_DELIMITED = 2;

const ENCODER = new TextEncoder();

/**
 * Encodes protobuf fields one after the other into one array. This is done by hand because the BinaryWriter of @bufbuild/protobuf makes
 * several objects for each message, and a large profile has hundreds of thousands. Field numbers are below 16, so that a tag is a byte.
 */
export class FieldBytes {
  /** What was encoded: the first {@link length} bytes. Replaced when it grows. */
  bytes = new Uint8Array(1 << 12);
  length = 0;

  /** Whether it is time to write what was collected, and to {@link clear} it. */
  get isFull(): boolean {
    return this.length >= FLUSH_AT_BYTES;
  }

  /** What was collected; valid until more is added. */
  get collected(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  /** Makes room for this many bytes after what was collected. */
  reserve(bytes: number): void {
    if (this.length + bytes > this.bytes.length) this.bytes = grown(this.bytes, this.length + bytes);
  }

  /** Begins a message that is a field of the surrounding one. @returns the position to pass to {@link end} */
  begin(field: number): number {
    this.reserve(2);
    this.bytes[this.length] = tagOf(field);
    // Most messages are shorter than 128 bytes, so that one byte holds their length.
    this.length += 2;
    return this.length;
  }

  /** Ends the message that was begun last. @param start what {@link begin} returned for it */
  end(start: number): void {
    const size = this.length - start;
    const further = varintLength(size) - 1;
    if (further > 0) {
      this.reserve(further);
      this.bytes.copyWithin(start + further, start, this.length);
      this.length += further;
    }
    putVarint(this.bytes, start - 1, size);
  }

  /** Adds a whole number below 2^63; nothing for 0, which is the default in proto3. */
  number(field: number, value: number): void {
    if (value !== 0) this.element(field, value);
  }

  /** Like {@link number}, for an element of a list, in which 0 counts, too. */
  element(field: number, value: number): void {
    this.reserve(1 + MAX_VARINT_BYTES);
    this.bytes[this.length] = (field << 3) | VARINT;
    this.length = putVarint(this.bytes, this.length + 1, value);
  }

  /** Adds a number of 64 bits, given as two words, signed or not; nothing for 0. */
  words(field: number, lo: number, hi: number): void {
    if (lo === 0 && hi === 0) return;
    this.reserve(1 + MAX_VARINT_BYTES);
    this.bytes[this.length] = (field << 3) | VARINT;
    this.length = putWords(this.bytes, this.length + 1, lo, hi);
  }

  /** Like {@link words}, as a fixed64. */
  fixed64(field: number, lo: number, hi: number): void {
    if (lo === 0 && hi === 0) return;
    this.reserve(9);
    this.bytes[this.length++] = (field << 3) | I64;
    for (const word of [lo, hi]) for (let shift = 0; shift < 32; shift += 8) this.bytes[this.length++] = word >>> shift;
  }

  /** Adds a packed list of whole numbers below 2^63; nothing for an empty one. */
  packed(field: number, values: readonly number[]): void {
    if (values.length === 0) return;
    const start = this.begin(field);
    for (const value of values) this.count(value, 0);
    this.end(start);
  }

  /** Begins a field that is followed by this many bytes. */
  lengthPrefix(field: number, length: number): void {
    this.reserve(1 + MAX_VARINT_BYTES);
    this.bytes[this.length] = tagOf(field);
    this.length = putVarint(this.bytes, this.length + 1, length);
  }

  /** Adds fields that are encoded. */
  append(encoded: Uint8Array): void {
    this.reserve(encoded.length);
    this.bytes.set(encoded, this.length);
    this.length += encoded.length;
  }

  /** Adds a count of 64 bits without a tag, as in a packed list. @param remainder see {@link putCount} */
  count(value: number, remainder: number): void {
    this.reserve(MAX_VARINT_BYTES);
    this.length = putCount(this.bytes, this.length, value, remainder);
  }

  /** Adds a text as UTF-8, which the specification requires: Go's readers reject anything else. */
  text(field: number, text: string): void {
    this.reserve(1 + MAX_VARINT_BYTES + text.length);
    this.bytes[this.length] = tagOf(field);
    const start = putVarint(this.bytes, this.length + 1, text.length);
    if (putAscii(this.bytes, start, text)) {
      this.length = start + text.length;
      return;
    }
    const encoded = ENCODER.encode(showRawBytes(text));
    this.reserve(1 + MAX_VARINT_BYTES + encoded.length);
    this.length = putVarint(this.bytes, this.length + 1, encoded.length);
    this.bytes.set(encoded, this.length);
    this.length += encoded.length;
  }
}

/** The tag of a field that begins with its length. */
export function tagOf(field: number): number {
  return (field << 3) | LENGTH_DELIMITED;
}

/** The low and the high word of a number of 64 bits, signed or not. */
export function wordsOf(value: bigint): [lo: number, hi: number] {
  return [Number(BigInt.asUintN(32, value)), Number(BigInt.asUintN(32, value >> 32n))];
}

/** How many bytes {@link putVarint} writes for a number below 2^32. */
export function varintLength(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : 5;
}

/** How many bytes a field has whose value begins with its length. */
export function fieldLength(length: number): number {
  return 1 + varintLength(length) + length;
}

/** Writes a whole number from 0 to 2^63 as a varint at `at` and returns where it ends. */
export function putVarint(bytes: Uint8Array, at: number, value: number): number {
  // hot
  if (value >= 0x8000_0000) return putWords(bytes, at, value >>> 0, Math.floor(value / 0x1_0000_0000));
  let rest = value;
  let next = at;
  while (rest >= 0x80) {
    bytes[next++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[next++] = rest;
  return next;
}

/**
 * Like {@link putVarint}, for a count that is `value` + `remainder`: beyond 2^53, doubles are not exact. A count beyond int64 becomes the largest value.
 * @param remainder 0 up to 2^53
 */
export function putCount(bytes: Uint8Array, at: number, value: number, remainder: number): number {
  // hot
  return value > Number.MAX_SAFE_INTEGER ? putWideVarint(bytes, at, value, remainder) : putVarint(bytes, at, value);
}

function putWideVarint(bytes: Uint8Array, at: number, value: number, remainder: number): number {
  const exact = BigInt(value) + BigInt(remainder);
  let rest = exact < MAX_INT64 ? exact : MAX_INT64;
  let next = at;
  for (; rest >= 0x80n; rest >>= 7n) bytes[next++] = Number(rest & 0x7fn) | 0x80;
  bytes[next++] = Number(rest);
  return next;
}

/** Like {@link putVarint}, for 64 bits that are given as two words. */
function putWords(bytes: Uint8Array, at: number, lo: number, hi: number): number {
  // hot
  let next = at;
  let high = hi | 0;
  let low = lo | 0;
  while (high !== 0 || low >>> 7 !== 0) {
    bytes[next++] = (low & 0x7f) | 0x80;
    low = (low >>> 7) | (high << 25);
    high >>>= 7;
  }
  bytes[next++] = low;
  return next;
}

/** Writes an ASCII text, one byte for each character. @returns false for any other text, of which a part may have been written */
function putAscii(bytes: Uint8Array, at: number, text: string): boolean {
  // hot
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x80) return false;
    bytes[at + i] = code;
  }
  return true;
}
