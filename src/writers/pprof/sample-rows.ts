import { KeyedPairs } from '../../base/keyed-pairs.ts';
import type { TotalTable } from '../../profile/total-table.ts';
import type { LabelSets } from './label-sets.ts';

/**
 * The totals of a profile as Samples of pprof: one row per (stack, label set), each a linked list of totals. All columns may be longer than the number of rows.
 */
export interface SampleRows {
  readonly size: number;
  /** −1 for samples without a stack. */
  readonly stacks: Int32Array;
  readonly labelSets: Int32Array;
  /** By row: the first total in its list. */
  readonly first: Int32Array;
  /** By total: the next one in the list; −1 at the end. */
  readonly next: Int32Array;
}

/** Groups totals into Samples. */
export function sampleRows(totals: TotalTable, labels: LabelSets): SampleRows {
  const labelSetOfKind = new Int32Array(totals.kindCount);
  for (let kind = 0; kind < labelSetOfKind.length; kind++) labelSetOfKind[kind] = labels.ofTask(totals.taskOfKind(kind));
  const { size } = totals;
  const rows = { size: 0, stacks: new Int32Array(size), labelSets: new Int32Array(size), first: new Int32Array(size).fill(-1), next: new Int32Array(size) };
  rows.size = group(totals.columns.keys, labelSetOfKind, rows);
  return rows;
}

/** @returns how many rows there are */
function group(keys: Int32Array, labelSetOfKind: Int32Array, { stacks, labelSets, first, next }: SampleRows): number {
  // hot
  /** Row by (stack + 1, label set). */
  const rowOf = new KeyedPairs();
  let size = 0;
  for (let total = 0; total < next.length; total++) {
    const stack = keys[total * 2 + 1];
    const labelSet = labelSetOfKind[keys[total * 2]];
    let row = rowOf.find(stack + 1, labelSet);
    if (row < 0) {
      row = size++;
      rowOf.set(stack + 1, labelSet, row);
      stacks[row] = stack;
      labelSets[row] = labelSet;
    }
    next[total] = first[row];
    first[row] = total;
  }
  return size;
}
