import { grown } from '../base/growable.ts';

/**
 * What a sample can carry beyond the columns that every format needs: 64-bit values of perf_event.h, by the names of their PERF_SAMPLE bits, in the order in
 * which they are stored.
 */
export const DETAIL_VALUES = ['addr', 'weight', 'dataSrc', 'physAddr', 'dataPageSize', 'codePageSize'] as const;

export type DetailValue = (typeof DETAIL_VALUES)[number];

/** A detail that can be asked for: a value, the raw payload, the branches (which SampleBranches holds), the record's misc field. */
export type DetailName = DetailValue | 'raw' | 'branchStack' | 'misc';

/** Bytes of the columns that every row has. */
const ROW_BYTES = 15;

/**
 * Details of samples, row by row, as far as they were asked for. A row begins with {@link begin}; what is added after that belongs to it. Samples that come
 * from one record (READ of a group) share a row.
 */
export class SampleDetails {
  /** Per row: misc, which values it has (bits by their place in DETAIL_VALUES), and where its values and bytes begin. */
  #misc = new Uint16Array(1024);
  #has = new Uint8Array(1024);
  #firstValue = new Uint32Array(1024);
  #firstByte = new Float64Array(1024);
  #size = 0;
  /** Low and high words. */
  #values = new Uint32Array(4096);
  #valueWords = 0;
  #bytes = new Uint8Array(0);
  #byteCount = 0;

  get size(): number {
    return this.#size;
  }

  /** Bytes of the columns. Those of variable length count twice: each may be by far the largest, and is copied as it grows. */
  get heldBytes(): number {
    return this.#size * ROW_BYTES + 2 * (this.#valueWords * 4 + this.#byteCount);
  }

  /** Begins a row. @param misc the record's misc field @returns the row's index */
  begin(misc: number): number {
    const row = this.#size++;
    if (row === this.#misc.length) {
      this.#misc = grown(this.#misc, row + 1);
      this.#has = grown(this.#has, row + 1);
      this.#firstValue = grown(this.#firstValue, row + 1);
      this.#firstByte = grown(this.#firstByte, row + 1);
    }
    this.#misc[row] = misc;
    this.#firstValue[row] = this.#valueWords;
    this.#firstByte[row] = this.#byteCount;
    return row;
  }

  /** Adds a value to the row begun last; values come in the order of DETAIL_VALUES. @param value its place there */
  addValue(value: number, lo: number, hi: number): void {
    const at = this.#valueWords;
    this.#valueWords += 2;
    this.#values = grown(this.#values, this.#valueWords);
    this.#values[at] = lo;
    this.#values[at + 1] = hi;
    this.#has[this.#size - 1] |= 1 << value;
  }

  /** Adds the raw payload to the row begun last. The bytes are copied. */
  addRaw(bytes: Uint8Array): void {
    const at = this.#byteCount;
    this.#byteCount += bytes.length;
    this.#bytes = grown(this.#bytes, this.#byteCount);
    this.#bytes.set(bytes, at);
  }

  misc(row: number): number {
    return this.#misc[row];
  }

  /** Whether the sample carries a value. */
  has(row: number, value: DetailValue): boolean {
    return (this.#has[row] & (1 << DETAIL_VALUES.indexOf(value))) !== 0;
  }

  /** Low word of a value; 0 if the sample has none. */
  lo(row: number, value: DetailValue): number {
    return this.#word(row, value, 0);
  }

  /** High word of a value; 0 if the sample has none. */
  hi(row: number, value: DetailValue): number {
    return this.#word(row, value, 1);
  }

  /** The raw payload, not copied; empty if the sample has none. */
  raw(row: number): Uint8Array {
    const end = row + 1 < this.#size ? this.#firstByte[row + 1] : this.#byteCount;
    return this.#bytes.subarray(this.#firstByte[row], end);
  }

  #word(row: number, value: DetailValue, word: number): number {
    const place = DETAIL_VALUES.indexOf(value);
    const has = this.#has[row];
    if ((has & (1 << place)) === 0) return 0;
    let before = 0;
    for (let i = 0; i < place; i++) if ((has & (1 << i)) !== 0) before++;
    return this.#values[this.#firstValue[row] + before * 2 + word];
  }
}
