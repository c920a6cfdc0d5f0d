import type { ByteView } from '../../base/bytes/byte-view.ts';

/** Reads fields one after the other. Past the end, all are 0, and {@link overran} is set. */
export class LineCursor {
  at: number;
  overran = false;
  readonly view: ByteView;
  readonly #end: number;

  constructor(view: ByteView, at: number, end: number) {
    this.view = view;
    this.at = at;
    this.#end = Math.min(end, view.length);
  }

  get left(): number {
    return this.#end - this.at;
  }

  u8(): number {
    return this.skip(1) ? this.view.u8(this.at - 1) : 0;
  }

  u16(): number {
    return this.skip(2) ? this.view.u16(this.at - 2) : 0;
  }

  u24(): number {
    if (!this.skip(3)) return 0;
    const [a, b, c] = this.view.bytes.subarray(this.at - 3, this.at);
    return this.view.littleEndian ? a | (b << 8) | (c << 16) : c | (b << 8) | (a << 16);
  }

  u32(): number {
    return this.skip(4) ? this.view.u32(this.at - 4) : 0;
  }

  u64(): number {
    return this.skip(8) ? this.view.u64(this.at - 8) : 0;
  }

  /** An offset or length: 4 bytes in the 32-bit format, 8 in the 64-bit one. */
  offset(sizeBytes: 4 | 8): number {
    return sizeBytes === 8 ? this.u64() : this.u32();
  }

  /** An unsigned LEB128 number as a double: exact up to 2^53. */
  uleb(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.u8();
      // There may be any amount of padding, which adds nothing.
      if ((byte & 0x7f) !== 0) value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  /** Skips a string that ends with NUL; returns where it begins. */
  text(): number {
    const start = this.at;
    const nul = this.view.bytes.indexOf(0, start);
    this.skip(nul < 0 ? Number.POSITIVE_INFINITY : nul + 1 - start);
    return start;
  }

  /** Skips bytes. @returns whether there were that many */
  skip(sizeBytes: number): boolean {
    if (sizeBytes <= this.#end - this.at) {
      this.at += sizeBytes;
      return true;
    }
    this.at = this.#end;
    this.overran = true;
    return false;
  }
}
