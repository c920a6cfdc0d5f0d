import { TupleInterner } from '../intern/tuple-interner.ts';
import type { TotalTable } from '../profile/tables.ts';
import type { LabelSets } from './pprof-labels.ts';

/** Totals gathered into pprof's samples: one row per (stack, label set), each a linked list of totals. */
export class SampleRows {
  readonly #rows: TupleInterner;
  readonly #first: Int32Array;
  readonly #next: Int32Array;

  constructor(totals: TotalTable, labels: LabelSets) {
    this.#rows = new TupleInterner(2, Math.max(16, totals.size));
    this.#first = new Int32Array(totals.size).fill(-1);
    this.#next = new Int32Array(totals.size).fill(-1);
    for (let total = 0; total < totals.size; total++) {
      // hot
      const row = this.#rows.intern(totals.stack(total), labels.ofTask(totals.task(total)));
      this.#next[total] = this.#first[row];
      this.#first[row] = total;
    }
  }

  get size(): number {
    return this.#rows.size;
  }

  /** −1 for samples without a stack. */
  stack(row: number): number {
    return this.#rows.words[row * 2] | 0;
  }

  labelSet(row: number): number {
    return this.#rows.words[row * 2 + 1];
  }

  /** Index of one of the row's totals; the others follow by {@link nextTotal}. */
  firstTotal(row: number): number {
    return this.#first[row];
  }

  /** The total behind this one in its row, −1 at the end. */
  nextTotal(total: number): number {
    return this.#next[total];
  }
}
