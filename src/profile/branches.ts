import { grown } from '../base/tables/growable.ts';
import { TupleInterner } from '../base/tables/tuple-interner.ts';

/** A branch that was recorded as taken, as the hardware saw it. */
export interface TakenBranch {
  /** Run-time addresses of the branch and of its target, low and high words. */
  readonly fromLo: number;
  readonly fromHi: number;
  readonly toLo: number;
  readonly toHi: number;
  /** perf_branch_entry's flags, their low 32 bits as a little-endian machine has them. */
  readonly flags: number;
}

/** Bits of {@link TakenBranch.flags}. Source: perf_event.h, struct perf_branch_entry. */
export const BranchFlag = { mispredicted: 1, predicted: 2, inTransaction: 4, aborted: 8 } as const;

/** Cycles since the previous branch, from a branch's flags. */
export function branchCycles(flags: number): number {
  return (flags >>> 4) & 0xffff;
}

/** Bytes of a row in its columns, and in the order that a writer makes. */
const ROW_BYTES = 80;

/** How often branches were recorded: a row for each event, branch and target, whatever process they were in. */
export class BranchTotals {
  readonly #rows = new TupleInterner(4, 64);
  /** Per row: how often it was taken, mispredicted, predicted, and the sum of cycles. */
  #sums = new Float64Array(256);

  get size(): number {
    return this.#rows.size;
  }

  /** Bytes of the columns. */
  get heldBytes(): number {
    return this.size * ROW_BYTES;
  }

  /** Adds a branch that was taken once. @param from, to locations of the branch and of its target */
  add(event: number, from: number, to: number, flags: number): void {
    // hot
    const at = this.#sumsOf(event, from, to, 0);
    const sums = this.#sums;
    sums[at]++;
    if ((flags & BranchFlag.mispredicted) !== 0) sums[at + 1]++;
    if ((flags & BranchFlag.predicted) !== 0) sums[at + 2]++;
    sums[at + 3] += branchCycles(flags);
  }

  /** Adds a row of another table. @param input see {@link input} */
  addRow(other: BranchTotals, row: number, event: number, from: number, to: number, input: number): void {
    const at = this.#sumsOf(event, from, to, input);
    const theirs = other.#sums;
    for (let i = 0; i < 4; i++) this.#sums[at + i] += theirs[row * 4 + i];
  }

  event(row: number): number {
    return this.#rows.words[row * 4];
  }

  /** Location of the branch. */
  from(row: number): number {
    return this.#rows.words[row * 4 + 1];
  }

  /** Location of its target. */
  to(row: number): number {
    return this.#rows.words[row * 4 + 2];
  }

  /** Index into the profile's inputs; 0 for a recording that was not merged. */
  input(row: number): number {
    return this.#rows.words[row * 4 + 3];
  }

  taken(row: number): number {
    return this.#sums[row * 4];
  }

  /** How often the processor had expected something else; also 0 if it does not say. */
  mispredicted(row: number): number {
    return this.#sums[row * 4 + 1];
  }

  /** How often the processor had expected it; also 0 if it does not say. */
  predicted(row: number): number {
    return this.#sums[row * 4 + 2];
  }

  /** Sum of the cycles since the previous branch, as far as the processor reports them. */
  cycles(row: number): number {
    return this.#sums[row * 4 + 3];
  }

  #sumsOf(event: number, from: number, to: number, input: number): number {
    const at = this.#rows.intern(event, from, to, input) * 4;
    this.#sums = grown(this.#sums, at + 4);
    return at;
  }
}

const ADDRESS_WORDS = 5;
const PLACE_WORDS = 2;

/** The branches of single samples, last taken first, for formats that show them. */
export class SampleBranches {
  /** Whether the locations of branches are kept, not only their addresses. */
  readonly hasPlaces: boolean;
  readonly #stride: number;
  /** By row of the samples: its first branch. */
  #first = new Uint32Array(1024);
  #rows = 0;
  #words = new Uint32Array(0);
  #count = 0;

  constructor(hasPlaces: boolean) {
    this.hasPlaces = hasPlaces;
    this.#stride = ADDRESS_WORDS + (hasPlaces ? PLACE_WORDS : 0);
  }

  /** Bytes of the columns, which are copied as they grow. */
  get heldBytes(): number {
    return (this.#rows + 2 * this.#count * this.#stride) * 4;
  }

  /** Begins the branches of a sample; rows come in ascending order. */
  begin(row: number): void {
    this.#first = grown(this.#first, row + 1);
    this.#first.fill(this.#count, this.#rows, row + 1);
    this.#rows = row + 1;
  }

  /** Adds a branch to the row begun last. @param from, to locations; ignored if they are not kept */
  add(branch: TakenBranch, from: number, to: number): void {
    const at = this.#count++ * this.#stride;
    this.#words = grown(this.#words, at + this.#stride);
    const words = this.#words;
    words[at] = branch.fromLo;
    words[at + 1] = branch.fromHi;
    words[at + 2] = branch.toLo;
    words[at + 3] = branch.toHi;
    words[at + 4] = branch.flags;
    if (!this.hasPlaces) return;
    words[at + 5] = from;
    words[at + 6] = to;
  }

  /** Number of branches of a sample. */
  count(row: number): number {
    if (row >= this.#rows) return 0;
    return (row + 1 < this.#rows ? this.#first[row + 1] : this.#count) - this.#first[row];
  }

  /** Flags of a sample's `nth` branch. */
  flags(row: number, nth: number): number {
    return this.#words[this.#at(row, nth) + 4];
  }

  /** An end of a sample's `nth` branch: 0 for the branch, 1 for its target. Low word of its address. */
  addressLo(row: number, nth: number, end: 0 | 1): number {
    return this.#words[this.#at(row, nth) + end * 2];
  }

  /** High word of that address. */
  addressHi(row: number, nth: number, end: 0 | 1): number {
    return this.#words[this.#at(row, nth) + end * 2 + 1];
  }

  /** Location of that end, if places are kept. */
  place(row: number, nth: number, end: 0 | 1): number {
    return this.#words[this.#at(row, nth) + ADDRESS_WORDS + end];
  }

  #at(row: number, nth: number): number {
    return (this.#first[row] + nth) * this.#stride;
  }
}
