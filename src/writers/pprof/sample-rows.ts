import { KeyedPairs } from '../../base/keyed-pairs.ts';
import type { TotalTable } from '../../profile/tables.ts';
import type { LabelSets } from './label-sets.ts';

/** Groups totals into the Samples of a pprof profile: one row per (stack, label set), each a linked list of totals. */
export class SampleRows {
  /** Row by (stack + 1, label set). */
  readonly #rowOf = new KeyedPairs();
  readonly #stacks: Int32Array;
  readonly #labelSets: Int32Array;
  readonly #first: Int32Array;
  readonly #next: Int32Array;
  #size = 0;

  constructor(totals: TotalTable, labels: LabelSets) {
    this.#stacks = new Int32Array(totals.size);
    this.#labelSets = new Int32Array(totals.size);
    this.#first = new Int32Array(totals.size).fill(-1);
    this.#next = new Int32Array(totals.size).fill(-1);
    for (let total = 0; total < totals.size; total++) {
      // hot
      const stack = totals.stack(total);
      const labelSet = labels.ofTask(totals.task(total));
      let row = this.#rowOf.find(stack + 1, labelSet);
      if (row < 0) {
        row = this.#size++;
        this.#rowOf.set(stack + 1, labelSet, row);
        this.#stacks[row] = stack;
        this.#labelSets[row] = labelSet;
      }
      this.#next[total] = this.#first[row];
      this.#first[row] = total;
    }
  }

  get size(): number {
    return this.#size;
  }

  /** −1 for samples without a stack. */
  stack(row: number): number {
    return this.#stacks[row];
  }

  labelSet(row: number): number {
    return this.#labelSets[row];
  }

  /** Index of the first total in the row's list; {@link nextTotal} gives the others. */
  firstTotal(row: number): number {
    return this.#first[row];
  }

  /** Index of the total that follows in the row's list; −1 at the end. */
  nextTotal(total: number): number {
    return this.#next[total];
  }
}
