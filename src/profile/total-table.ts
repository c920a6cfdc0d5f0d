import { lostInSum, Remainders } from '../base/tables/exact-sums.ts';
import { grown } from '../base/tables/growable.ts';
import { KeyedPairs } from '../base/tables/keyed-pairs.ts';
import { PairInterner } from '../base/tables/pair-interner.ts';

/** Samples added up: rows are unique in (event, task, stack), in order of first appearance. */
export class TotalTable {
  /** One number for each (event, task), of which there are few. */
  readonly #kinds = new PairInterner();
  /** Rows by stack + 1 and kind: most stacks belong to one thread. */
  readonly #rowOf = new KeyedPairs();
  /** Per row: its kind and its stack, side by side. */
  #keys = new Int32Array(8192);
  /** Per row: its number of samples and its sum of periods, side by side, so that adding a sample touches one cache line. */
  #sums = new Float64Array(8192);
  /** Remainders of sums beyond 2^53. */
  readonly #periodRemainders = new Remainders();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Index of a row, which is added with sums of 0 if it is new. */
  intern(event: number, task: number, stack: number): number {
    const kind = this.#kinds.intern(event, task);
    const row = this.#rowOf.find(stack + 1, kind);
    return row < 0 ? this.#addRow(stack, kind) : row;
  }

  /** Adds one sample to a row. */
  addTo(row: number, period: number): void {
    // hot
    this.#sums[row * 2]++;
    this.addPeriod(row, period);
  }

  /** Adds to the period of a row's samples. */
  addPeriod(row: number, period: number): void {
    // hot
    const before = this.#sums[row * 2 + 1];
    const sum = before + period;
    this.#sums[row * 2 + 1] = sum;
    if (sum > Number.MAX_SAFE_INTEGER) this.#periodRemainders.add(row, lostInSum(before, period));
  }

  /** Adds several samples to a row. @param periodRemainder the exact sum minus the double that stands for it */
  addSums(row: number, samples: number, period: number, periodRemainder = 0): void {
    this.#sums[row * 2] += samples;
    this.addPeriod(row, period);
    if (periodRemainder !== 0) this.addPeriod(row, periodRemainder);
  }

  /** Adds one sample to the row of its event, task and stack. */
  add(event: number, task: number, stack: number, period: number): void {
    this.addTo(this.intern(event, task, stack), period);
  }

  /** Number of distinct pairs of event and task in rows, in order of first appearance: the kinds in {@link columns}. */
  get kindCount(): number {
    return this.#kinds.size;
  }

  eventOfKind(kind: number): number {
    return this.#kinds.first[kind];
  }

  taskOfKind(kind: number): number {
    return this.#kinds.second[kind];
  }

  /**
   * For loops over every row: per row its kind and its stack, and its number of samples and its sum of periods, side by side. They have spare elements at the
   * end, and are replaced when they grow.
   */
  get columns(): { readonly keys: Int32Array; readonly sums: Float64Array } {
    return { keys: this.#keys, sums: this.#sums };
  }

  event(row: number): number {
    return this.#kinds.first[this.#keys[row * 2]];
  }

  task(row: number): number {
    return this.#kinds.second[this.#keys[row * 2]];
  }

  /** −1 for samples without a stack. */
  stack(row: number): number {
    return this.#keys[row * 2 + 1];
  }

  /** Number of samples added up. */
  samples(row: number): number {
    return this.#sums[row * 2];
  }

  /** Sum of the samples' periods, in the event's unit. */
  period(row: number): number {
    return this.#sums[row * 2 + 1];
  }

  /** The exact sum minus the double that stands for it; 0 up to 2^53. */
  periodRemainder(row: number): number {
    return this.#periodRemainders.at(row);
  }

  #addRow(stack: number, kind: number): number {
    const row = this.#size++;
    this.#keys = grown(this.#keys, row * 2 + 2);
    this.#sums = grown(this.#sums, row * 2 + 2);
    this.#keys[row * 2] = kind;
    this.#keys[row * 2 + 1] = stack;
    this.#rowOf.set(stack + 1, kind, row);
    return row;
  }
}
