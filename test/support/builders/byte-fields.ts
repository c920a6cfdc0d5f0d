/** Writes fields one after another in one byte order, from which tests make debug information. */
export class ByteFields {
  readonly littleEndian: boolean;
  readonly #bytes: number[] = [];

  constructor(littleEndian = true) {
    this.littleEndian = littleEndian;
  }

  get length(): number {
    return this.#bytes.length;
  }

  bytes(...values: readonly number[]): this {
    for (const value of values) this.#bytes.push(value & 0xff);
    return this;
  }

  /** A number of `sizeBytes` bytes. */
  uint(value: number | bigint, sizeBytes: number): this {
    const fields = Array.from({ length: sizeBytes }, (_, i) => Number((BigInt.asUintN(8 * sizeBytes, BigInt(value)) >> BigInt(8 * i)) & 0xffn));
    return this.bytes(...(this.littleEndian ? fields : fields.reverse()));
  }

  u16(...values: readonly number[]): this {
    for (const value of values) this.uint(value, 2);
    return this;
  }

  u32(...values: readonly number[]): this {
    for (const value of values) this.uint(value, 4);
    return this;
  }

  u64(...values: readonly (number | bigint)[]): this {
    for (const value of values) this.uint(value, 8);
    return this;
  }

  uleb(...values: readonly number[]): this {
    for (const value of values) {
      let rest = value;
      for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.bytes((rest % 0x80) | 0x80);
      this.bytes(rest);
    }
    return this;
  }

  sleb(value: number): this {
    let rest = value;
    for (;;) {
      const low = rest & 0x7f;
      rest >>= 7;
      const isLast = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
      this.bytes(isLast ? low : low | 0x80);
      if (isLast) return this;
    }
  }

  /** Text with a NUL after it. */
  text(...values: readonly string[]): this {
    for (const value of values) this.bytes(...Buffer.from(value), 0);
    return this;
  }

  /** Bytes as they are. */
  put(part: Uint8Array): this {
    for (const byte of part) this.#bytes.push(byte);
    return this;
  }

  done(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(this.#bytes);
  }
}
