/**
 * Bytes with a byte order. Reading outside gives 0, and writing there does nothing, since mutated files are often cut
 * short.
 */
export class BoundedView {
  readonly bytes: Uint8Array;
  readonly littleEndian: boolean;
  readonly #data: DataView;

  constructor(bytes: Uint8Array, littleEndian: boolean) {
    this.bytes = bytes;
    this.littleEndian = littleEndian;
    this.#data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get length(): number {
    return this.bytes.length;
  }

  u16(at: number): number {
    return this.#has(at, 2) ? this.#data.getUint16(at, this.littleEndian) : 0;
  }

  u32(at: number): number {
    return this.#has(at, 4) ? this.#data.getUint32(at, this.littleEndian) : 0;
  }

  u64(at: number): bigint {
    return this.#has(at, 8) ? this.#data.getBigUint64(at, this.littleEndian) : 0n;
  }

  /** A 64-bit word as a double. */
  number(at: number): number {
    return this.#has(at, 8) ? this.low(at) + this.u32(this.littleEndian ? at + 4 : at) * 0x1_0000_0000 : 0;
  }

  /** The low 32 bits of a 64-bit word. */
  low(at: number): number {
    return this.u32(this.littleEndian ? at : at + 4);
  }

  /** A word of 1, 2, 4 or 8 bytes. */
  get(at: number, sizeBytes: number): bigint {
    if (sizeBytes === 8) return this.u64(at);
    if (sizeBytes === 4) return BigInt(this.u32(at));
    return BigInt(sizeBytes === 2 ? this.u16(at) : (this.bytes[at] ?? 0));
  }

  /** Writes a word of 1, 2, 4 or 8 bytes, cut off to its size. */
  set(at: number, sizeBytes: number, value: bigint): void {
    if (!this.#has(at, sizeBytes)) return;
    if (sizeBytes === 8) this.#data.setBigUint64(at, BigInt.asUintN(64, value), this.littleEndian);
    else if (sizeBytes === 4) this.#data.setUint32(at, Number(BigInt.asUintN(32, value)), this.littleEndian);
    else if (sizeBytes === 2) this.#data.setUint16(at, Number(BigInt.asUintN(16, value)), this.littleEndian);
    else this.#data.setUint8(at, Number(BigInt.asUintN(8, value)));
  }

  #has(at: number, sizeBytes: number): boolean {
    return at >= 0 && at + sizeBytes <= this.bytes.length;
  }
}
