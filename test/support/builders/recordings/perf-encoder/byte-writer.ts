export type ByteOrder = 'little' | 'big';

/** Collects bytes in one byte order. Everything is appended; a part whose size comes before it is written by a writer of its own. */
export class ByteWriter {
  readonly byteOrder: ByteOrder;
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  constructor(byteOrder: ByteOrder) {
    this.byteOrder = byteOrder;
  }

  get length(): number {
    return this.#length;
  }

  /** A copy of all bytes written so far. */
  bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  u8(value: number): this {
    const offset = this.#reserve(1);
    this.#view.setUint8(offset, value);
    return this;
  }

  u16(value: number): this {
    const offset = this.#reserve(2);
    this.#view.setUint16(offset, value, this.#little);
    return this;
  }

  u32(value: number): this {
    const offset = this.#reserve(4);
    this.#view.setUint32(offset, value, this.#little);
    return this;
  }

  /** Also takes negative values, which come out in two's complement. */
  u64(value: bigint): this {
    const offset = this.#reserve(8);
    this.#view.setBigUint64(offset, BigInt.asUintN(64, value), this.#little);
    return this;
  }

  f64(value: number): this {
    const offset = this.#reserve(8);
    this.#view.setFloat64(offset, value, this.#little);
    return this;
  }

  raw(bytes: Uint8Array): this {
    const offset = this.#reserve(bytes.length);
    this.#bytes.set(bytes, offset);
    return this;
  }

  zeros(count: number): this {
    this.#reserve(count);
    return this;
  }

  /** Zeros up to the next multiple of `alignment`, counted from the writer's first byte. */
  align(alignment: number): this {
    return this.zeros((alignment - (this.#length % alignment)) % alignment);
  }

  /** UTF-8 and at least one NUL, filled with NULs until its own length is a multiple of `multiple` bytes. */
  cString(text: string, multiple = 8): this {
    const bytes = new TextEncoder().encode(text);
    return this.raw(bytes).zeros(multiple - (bytes.length % multiple));
  }

  /** UTF-8 in a field of exactly `sizeBytes` bytes, the last of them NUL. */
  fixedString(text: string, sizeBytes: number): this {
    const bytes = new TextEncoder().encode(text);
    if (bytes.length >= sizeBytes) throw new RangeError(`'${text}' does not fit ${sizeBytes} bytes with its NUL`);
    return this.raw(bytes).zeros(sizeBytes - bytes.length);
  }

  /**
   * A u64 made of C bit-fields in declaration order. Little-endian compilers fill a word from its least significant bit,
   * big-endian ones from its most significant: so different bits are set for the same struct.
   */
  bitFields(fields: readonly { readonly bits: number; readonly value: bigint }[]): this {
    let word = 0n;
    let used = 0;
    for (const { bits, value } of fields) {
      if (value < 0n || value >= 1n << BigInt(bits)) throw new RangeError(`${value} does not fit a bit-field of ${bits} bits`);
      word |= value << BigInt(this.#little ? used : 64 - used - bits);
      used += bits;
    }
    return this.u64(word);
  }

  get #little(): boolean {
    return this.byteOrder === 'little';
  }

  /** Makes room (zeroed) for `count` more bytes and returns the offset of the first. May replace the buffer: take the offset before the view. */
  #reserve(count: number): number {
    const offset = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2));
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return offset;
  }
}
