import { GrowingBytes } from './growing-bytes.ts';

/* Types of fields in the compact protocol. Source: Apache Thrift, thrift-compact-protocol.md. */
const TRUE = 1;
const FALSE = 2;
const I8 = 3;
const I32 = 5;
const I64 = 6;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;
const STOP = 0;

/** Lists up to this size have it in their first byte. */
const MAX_SHORT_LIST = 14;
/** Fields are written in ascending order, each at most this far from the one before it, so that its number fits into the byte of its type. */
const MAX_FIELD_STEP = 15;

const ENCODER = new TextEncoder();

/** Encodes a struct in Thrift's compact protocol, field by field in ascending order. Only what Parquet's metadata needs. */
export class ThriftBytes {
  readonly #out = new GrowingBytes(256);
  /** The number of the field before the next one in the current struct. */
  #lastField = 0;

  /** The whole struct, with what ends it. */
  end(): Uint8Array {
    this.#out.byte(STOP);
    return this.#out.collected;
  }

  bool(field: number, value: boolean): void {
    this.#begin(field, value ? TRUE : FALSE);
  }

  int8(field: number, value: number): void {
    this.#begin(field, I8);
    this.#out.byte(value);
  }

  int32(field: number, value: number): void {
    this.#begin(field, I32);
    this.#zigzag(value);
  }

  /** @param value a whole number within ±2^53 */
  int64(field: number, value: number): void {
    this.#begin(field, I64);
    this.#zigzag(value);
  }

  binary(field: number, bytes: Uint8Array): void {
    this.#begin(field, BINARY);
    this.#sized(bytes);
  }

  text(field: number, text: string): void {
    this.binary(field, ENCODER.encode(text));
  }

  struct(field: number, write: () => void): void {
    this.#begin(field, STRUCT);
    this.#struct(write);
  }

  structs<Item>(field: number, items: readonly Item[], write: (item: Item) => void): void {
    this.#beginList(field, STRUCT, items.length);
    for (const item of items) this.#struct(() => write(item));
  }

  int32s(field: number, values: readonly number[]): void {
    this.#beginList(field, I32, values.length);
    for (const value of values) this.#zigzag(value);
  }

  texts(field: number, texts: readonly string[]): void {
    this.#beginList(field, BINARY, texts.length);
    for (const text of texts) this.#sized(ENCODER.encode(text));
  }

  #begin(field: number, type: number): void {
    const step = field - this.#lastField;
    if (step < 1 || step > MAX_FIELD_STEP) throw new RangeError(`field ${field} after field ${this.#lastField}`);
    this.#out.byte((step << 4) | type);
    this.#lastField = field;
  }

  #beginList(field: number, type: number, size: number): void {
    this.#begin(field, LIST);
    if (size <= MAX_SHORT_LIST) {
      this.#out.byte((size << 4) | type);
    } else {
      this.#out.byte(0xf0 | type);
      this.#out.varint(size);
    }
  }

  #struct(write: () => void): void {
    const outer = this.#lastField;
    this.#lastField = 0;
    write();
    this.#out.byte(STOP);
    this.#lastField = outer;
  }

  #sized(bytes: Uint8Array): void {
    this.#out.varint(bytes.length);
    this.#out.append(bytes);
  }

  #zigzag(value: number): void {
    this.#out.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }
}
