import { decodeText } from '../text/text.ts';
import { addressOf } from './addresses.ts';
import { IS_LITTLE_ENDIAN_MACHINE } from './little-endian.ts';

/**
 * Bytes with a byte order. Reads are by byte offset from the view's start and need no alignment; `u16` reads 16 bits without a sign, `i32` 32 bits with one.
 * They throw RangeError beyond the end: code that reads a structure checks its length once before.
 */
export class ByteView {
  /** The viewed bytes themselves, not a copy. */
  readonly bytes: Uint8Array;
  /** Whether the low byte of a word comes first. */
  readonly littleEndian: boolean;
  /**
   * The same bytes as 32-bit words, for loops that read many: word i is at byte 4 i. Undefined if this machine's byte order is not the view's, or the bytes are
   * not on a word boundary.
   */
  readonly words: Uint32Array | undefined;
  readonly #data: DataView;

  constructor(bytes: Uint8Array, littleEndian: boolean) {
    this.bytes = bytes;
    this.littleEndian = littleEndian;
    this.#data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const fits = littleEndian === IS_LITTLE_ENDIAN_MACHINE && bytes.byteOffset % 4 === 0;
    this.words = fits ? new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2) : undefined;
  }

  get length(): number {
    return this.bytes.length;
  }

  u8(offset: number): number {
    return this.#data.getUint8(offset);
  }

  u16(offset: number): number {
    return this.#data.getUint16(offset, this.littleEndian);
  }

  u32(offset: number): number {
    return this.#data.getUint32(offset, this.littleEndian);
  }

  i32(offset: number): number {
    return this.#data.getInt32(offset, this.littleEndian);
  }

  /** Low 32 bits of a 64-bit word. */
  lo(offset: number): number {
    return this.#data.getUint32(this.littleEndian ? offset : offset + 4, this.littleEndian);
  }

  /** High 32 bits of a 64-bit word. */
  hi(offset: number): number {
    return this.#data.getUint32(this.littleEndian ? offset + 4 : offset, this.littleEndian);
  }

  /** An unsigned 64-bit word as a double: exact up to 2^53. */
  u64(offset: number): number {
    return this.hi(offset) * 0x1_0000_0000 + this.lo(offset);
  }

  /** A 64-bit word as a signed double: exact within ±2^52, and as an address ({@link addressOf}) wherever kernels are. */
  i64(offset: number): number {
    return addressOf(this.hi(offset), this.lo(offset));
  }

  /** A 64-bit word, exactly. Not for hot paths. */
  big(offset: number): bigint {
    return this.#data.getBigUint64(offset, this.littleEndian);
  }

  /** An IEEE 754 double. */
  f64(offset: number): number {
    return this.#data.getFloat64(offset, this.littleEndian);
  }

  /** Text ({@link decodeText}) from `offset` up to a NUL byte, `end` or the view's end, whichever comes first. */
  text(offset: number, end: number): string {
    const nul = this.bytes.subarray(offset, end).indexOf(0);
    return decodeText(this.bytes.subarray(offset, nul < 0 ? end : offset + nul));
  }
}

/** The 32-bit words of a view, word i from byte 4 i; a copy if {@link ByteView.words} has none. */
export function wordsOf(view: ByteView): Uint32Array {
  return view.words ?? Uint32Array.from({ length: view.length >>> 2 }, (_, i) => view.u32(4 * i));
}

/** Bytes as lower-case hex. */
export function hexOf(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}
