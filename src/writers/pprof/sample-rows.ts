import { KeyedPairs } from '../../base/tables/keyed-pairs.ts';
import type { TotalTable } from '../../profile/total-table.ts';

/**
 * The totals of a profile as Samples: one row per stack and set, such as a set of labels, each a linked list of totals. All columns may be longer than the
 * number of rows.
 */
export interface SampleRows {
  readonly size: number;
  /** −1 for samples without a stack. */
  readonly stacks: Int32Array;
  readonly sets: Int32Array;
  /** By row: the first total in its list. */
  readonly first: Int32Array;
  /** By total: the next one in the list; −1 at the end. */
  readonly next: Int32Array;
}

/**
 * Groups totals into Samples.
 * @param setOfKind by kind of totals
 * @param equalStack by stack: the one that it counts as; default: each as itself
 */
export function sampleRows(totals: TotalTable, setOfKind: Int32Array, equalStack?: Int32Array): SampleRows {
  const { size } = totals;
  const rows = { size: 0, stacks: new Int32Array(size), sets: new Int32Array(size), first: new Int32Array(size).fill(-1), next: new Int32Array(size) };
  rows.size = group(totals.columns.keys, setOfKind, equalStack, rows);
  return rows;
}

/** @returns how many rows there are */
function group(keys: Int32Array, setOfKind: Int32Array, equalStack: Int32Array | undefined, { stacks, sets, first, next }: SampleRows): number {
  // hot
  /** Row by (stack + 1, set). */
  const rowOf = new KeyedPairs();
  let size = 0;
  for (let total = 0; total < next.length; total++) {
    const recorded = keys[total * 2 + 1];
    const stack = equalStack === undefined || recorded < 0 ? recorded : equalStack[recorded];
    const set = setOfKind[keys[total * 2]];
    let row = rowOf.find(stack + 1, set);
    if (row < 0) {
      row = size++;
      rowOf.set(stack + 1, set, row);
      stacks[row] = stack;
      sets[row] = set;
    }
    next[total] = first[row];
    first[row] = total;
  }
  return size;
}
