import { bitCount } from '../base/bytes/bit-count.ts';
import type { ByteView } from '../base/bytes/byte-view.ts';
import { grown } from '../base/tables/growable.ts';

/**
 * What a sample can carry beyond the columns that every format needs: 64-bit values of perf_event.h, by the names of their PERF_SAMPLE bits, in the order in
 * which they are stored.
 */
export const DETAIL_VALUES = ['addr', 'weight', 'dataSrc', 'physAddr', 'dataPageSize', 'codePageSize'] as const;

export type DetailValue = (typeof DETAIL_VALUES)[number];

/** Registers at the sample's interrupt (PERF_SAMPLE_REGS_INTR) and in user code (PERF_SAMPLE_REGS_USER), in the order in which they are stored. */
export const REGISTER_SETS = ['regsIntr', 'regsUser'] as const;

export type RegisterSet = (typeof REGISTER_SETS)[number];

/**
 * A detail that can be asked for: a value, registers, the raw payload, the branches (which SampleBranches holds), the record's misc field, what is at the
 * address of a page fault (only together with the address).
 */
export type DetailName = DetailValue | RegisterSet | 'raw' | 'branchStack' | 'misc' | 'addrPlace';

/** In the bits that tell what a row has, sets of registers follow the values. */
const VALUE_BITS = (1 << DETAIL_VALUES.length) - 1;

/** Names of registers, in the order of their bits in the event's mask; undefined for one without a name. */
export type RegisterNames = Readonly<Record<RegisterSet, readonly (string | undefined)[]>>;

/** Registers of a sample. Source: perf_event.h, PERF_SAMPLE_REGS_USER. */
export interface RegisterValues {
  /** PERF_SAMPLE_REGS_ABI_*: 1 for registers of a 32-bit process, 2 for those of a 64-bit one. */
  readonly abi: number;
  /** The low and the high word of each register, in the order of its bit in the event's mask. */
  readonly words: Uint32Array;
}

/** Bytes of the columns that every row has. */
const ROW_BYTES = 15;

/**
 * Details of samples, row by row, as far as they were asked for. A row begins with {@link begin}; what is added after that belongs to it. Samples that come
 * from one record (READ of a group) share a row.
 */
export class SampleDetails {
  /** Per row: misc, which values and registers it has (bits by their place in DETAIL_VALUES and then in REGISTER_SETS), and where its words and bytes begin. */
  #misc = new Uint16Array(1024);
  #has = new Uint8Array(1024);
  #firstValue = new Uint32Array(1024);
  #firstByte = new Float64Array(1024);
  #size = 0;
  /** Per row: location + 1 of its address; 0 if that was not looked up. Rows at the end may be missing. */
  #places = new Int32Array(0);
  /** Low and high words of values; after those of a row, its sets of registers, each of which begins with its ABI and the number of registers. */
  #values = new Uint32Array(4096);
  #valueWords = 0;
  #bytes = new Uint8Array(0);
  #byteCount = 0;

  get size(): number {
    return this.#size;
  }

  /** Bytes of the columns. Those of variable length count twice: each may be by far the largest, and is copied as it grows. */
  get heldBytes(): number {
    return this.#size * ROW_BYTES + this.#places.byteLength + 2 * (this.#valueWords * 4 + this.#byteCount);
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

  /**
   * Adds registers to the row begun last, after its values; sets come in the order of REGISTER_SETS. A sample without any (PERF_SAMPLE_REGS_ABI_NONE) gets none.
   * @param at offset of the set's ABI, which the registers follow
   */
  addRegisters(set: RegisterSet, view: ByteView, at: number, count: number): void {
    const abi = view.u64(at);
    if (abi === 0) return;
    let word = this.#valueWords;
    this.#valueWords += 2 + count * 2;
    this.#values = grown(this.#values, this.#valueWords);
    this.#values[word++] = abi;
    this.#values[word++] = count;
    for (let register = at + 8; register < at + 8 + count * 8; register += 8) {
      this.#values[word++] = view.lo(register);
      this.#values[word++] = view.hi(register);
    }
    this.#has[this.#size - 1] |= registerBit(set);
  }

  /** Adds the raw payload to the row begun last. The bytes are copied. */
  addRaw(bytes: Uint8Array): void {
    const at = this.#byteCount;
    this.#byteCount += bytes.length;
    this.#bytes = grown(this.#bytes, this.#byteCount);
    this.#bytes.set(bytes, at);
  }

  /** Sets where the address (`addr`) of a row is. @param location in the profile's table */
  setPlace(row: number, location: number): void {
    this.#places = grown(this.#places, row + 1);
    this.#places[row] = location + 1;
  }

  /** The location of a row's address; −1 if only the address is known. */
  place(row: number): number {
    return row < this.#places.length ? this.#places[row] - 1 : -1;
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

  /** A set of registers, not copied; undefined if the sample has none. */
  registers(row: number, set: RegisterSet): RegisterValues | undefined {
    const has = this.#has[row];
    if ((has & registerBit(set)) === 0) return undefined;
    let at = this.#firstValue[row] + bitCount(has & VALUE_BITS) * 2;
    for (const before of REGISTER_SETS.slice(0, REGISTER_SETS.indexOf(set))) {
      if ((has & registerBit(before)) !== 0) at += 2 + this.#values[at + 1] * 2;
    }
    const first = at + 2;
    return { abi: this.#values[at], words: this.#values.subarray(first, first + this.#values[at + 1] * 2) };
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
    const before = bitCount(has & ((1 << place) - 1));
    return this.#values[this.#firstValue[row] + before * 2 + word];
  }
}

function registerBit(set: RegisterSet): number {
  return 1 << (DETAIL_VALUES.length + REGISTER_SETS.indexOf(set));
}
