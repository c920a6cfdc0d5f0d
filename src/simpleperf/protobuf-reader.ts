import { addressOf } from '../base/addresses.ts';
import { ByteView } from '../base/byte-view.ts';

const WIRE_VARINT = 0;
const WIRE_64_BIT = 1;
const WIRE_BYTES = 2;
const WIRE_32_BIT = 5;

const BITS_28 = 0x1000_0000;
const BITS_32 = 0x1_0000_0000;

/**
 * Walks the fields of one protobuf message, in the order in which they lie.
 *
 * ```ts
 * const message = new ProtobufReader(bytes, 0, bytes.length);
 * while (message.next()) if (message.field === 1) name = message.bytesStart …
 * ```
 *
 * Source: the encoding that protobuf.dev documents. Damage throws RangeError.
 */
export class ProtobufReader {
  /** Number of the current field. */
  field = 0;
  /** Its value where it is a number, both halves of 64 bits; 0 where it is bytes. */
  lo = 0;
  hi = 0;
  /** Where its bytes lie, if it is bytes, text or a message; −1 and −1 where it is a number. */
  start = -1;
  end = -1;
  readonly #view: ByteView;
  readonly #limit: number;
  #at: number;

  /** @param start, end where in `bytes` the message lies */
  constructor(bytes: Uint8Array, start: number, end: number) {
    if (start < 0 || end > bytes.length || start > end) throw new RangeError('message overruns its bytes');
    // Fixed-width numbers are little-endian wherever they are written.
    this.#view = new ByteView(bytes, true);
    this.#at = start;
    this.#limit = end;
  }

  /** The current number as an unsigned double: exact up to 2^53. */
  get u64(): number {
    return this.hi * BITS_32 + this.lo;
  }

  /** The current number as an address: see {@link addressOf}. */
  get i64(): number {
    return addressOf(this.hi, this.lo);
  }

  /** Whether the current field is bytes, text or a message. */
  get isBytes(): boolean {
    return this.start >= 0;
  }

  /** Steps to the next field. False at the end of the message. */
  next(): boolean {
    if (this.#at === this.#limit) return false;
    this.#varint();
    const wireType = this.lo & 7;
    this.field = Math.floor(this.u64 / 8);
    this.start = -1;
    this.end = -1;
    switch (wireType) {
      case WIRE_VARINT:
        this.#varint();
        return true;
      case WIRE_64_BIT:
        this.#need(8);
        this.lo = this.#view.lo(this.#at);
        this.hi = this.#view.hi(this.#at);
        this.#at += 8;
        return true;
      case WIRE_32_BIT:
        this.#need(4);
        this.lo = this.#view.u32(this.#at);
        this.hi = 0;
        this.#at += 4;
        return true;
      case WIRE_BYTES: {
        this.#varint();
        const length = this.u64;
        this.#need(length);
        this.start = this.#at;
        this.#at += length;
        this.end = this.#at;
        this.lo = 0;
        this.hi = 0;
        return true;
      }
      default:
        throw new RangeError(`wire type ${wireType}`);
    }
  }

  /** The numbers of the current field: packed ones one after the other, else the one that it is. */
  numbers(): number[] {
    if (!this.isBytes) return [this.u64];
    const packed = new ProtobufReader(this.#view.bytes, this.start, this.end);
    const numbers: number[] = [];
    while (packed.#at < packed.#limit) {
      packed.#varint();
      numbers.push(packed.u64);
    }
    return numbers;
  }

  #need(bytes: number): void {
    if (bytes > this.#limit - this.#at) throw new RangeError('field overruns its message');
  }

  /** Reads a base-128 number of up to ten bytes into {@link lo} and {@link hi}. */
  #varint(): void {
    const { bytes } = this.#view;
    // 28, 28 and 8 bits: what shifts of 32-bit numbers can hold.
    let low = 0;
    let middle = 0;
    let high = 0;
    for (let count = 0; ; count++) {
      if (count === 10) throw new RangeError('number of more than ten bytes');
      this.#need(1);
      const byte = bytes[this.#at++];
      if (count < 4) low |= (byte & 0x7f) << (count * 7);
      else if (count < 8) middle |= (byte & 0x7f) << ((count - 4) * 7);
      else high |= (byte & 0x7f) << ((count - 8) * 7);
      if (byte < 0x80) break;
    }
    this.lo = (low + (middle & 0xf) * BITS_28) >>> 0;
    this.hi = ((middle >>> 4) | (high << 24)) >>> 0;
  }
}
