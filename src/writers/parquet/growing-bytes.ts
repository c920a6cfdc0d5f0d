import { grown } from '../../base/tables/growable.ts';
import { MAX_VARINT_BYTES, putVarint } from '../pprof/field-bytes.ts';

/** Bytes that are collected one after the other, in an array that grows and can be used again. */
export class GrowingBytes {
  #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;

  /** @param roomBytes how many bytes there is room for at first */
  constructor(roomBytes: number = 1 << 16) {
    this.#bytes = new Uint8Array(roomBytes);
  }

  clear(): void {
    this.#length = 0;
  }

  /** What was collected; valid until more is added. */
  get collected(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** Adds the lowest bytes of a number, the lowest one first. @param count 0 to 4 */
  number(value: number, count: number): void {
    // hot
    this.#reserve(4);
    const bytes = this.#bytes;
    const at = this.#length;
    bytes[at] = value;
    bytes[at + 1] = value >>> 8;
    bytes[at + 2] = value >>> 16;
    bytes[at + 3] = value >>> 24;
    this.#length = at + count;
  }

  /** @param value a whole number from 0 on */
  varint(value: number): void {
    this.#reserve(MAX_VARINT_BYTES);
    this.#length = putVarint(this.#bytes, this.#length, value);
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Bytes with their number before them: levels, and texts in PLAIN. */
  sized(bytes: Uint8Array): void {
    this.number(bytes.length, 4);
    this.append(bytes);
  }

  #reserve(count: number): void {
    if (this.#length + count > this.#bytes.length) this.#bytes = grown(this.#bytes, this.#length + count);
  }
}
