import { allocated } from '../../base/tables/growable.ts';
import { TupleInterner } from '../../base/tables/tuple-interner.ts';
import type { StackTable } from '../../profile/stack-table.ts';

/**
 * By stack: the first stack that has the same ids of locations, often itself. Stacks of the profile may differ in what OTLP does not express (cpumode, whether
 * an address was a return address), but its table has each stack once.
 * @param locationId by location; 0 for one that is in no stack
 * @param idCount how many ids there are
 * @returns undefined if no two locations have the same id, so that no stack has another's
 */
export function equalStacks({ size, columns: { parents, locations } }: StackTable, locationId: Uint32Array, idCount: number): Int32Array | undefined {
  // hot
  if (usedCount(locationId) === idCount) return undefined;
  const distinct = new TupleInterner(2, size);
  const first = allocated(Int32Array, size);
  const equal = allocated(Int32Array, size);
  for (let stack = 0; stack < size; stack++) {
    const parent = parents[stack];
    const known = distinct.size;
    const node = distinct.intern(parent < 0 ? -1 : equal[parent], locationId[locations[stack]]);
    if (node === known) first[node] = stack;
    equal[stack] = first[node];
  }
  return equal;
}

function usedCount(locationId: Uint32Array): number {
  let count = 0;
  for (let location = 0; location < locationId.length; location++) if (locationId[location] !== 0) count++;
  return count;
}

/** The rows of a stack table: those that samples refer to, in this order. */
export interface UsedStacks {
  /** By row, from 0. */
  readonly stacks: Int32Array;
  readonly size: number;
  /** By stack: its row plus 1, since row 0 of the table is the empty stack; 0 for a stack that is not used. */
  readonly indexes: Int32Array;
}

/** @param referred stacks of `count` samples; −1 for none */
export function usedStacks(referred: Int32Array, count: number, stackCount: number): UsedStacks {
  // hot
  const stacks = allocated(Int32Array, Math.min(count, stackCount));
  const indexes = allocated(Int32Array, stackCount);
  let size = 0;
  for (let sample = 0; sample < count; sample++) {
    const stack = referred[sample];
    if (stack < 0 || indexes[stack] > 0) continue;
    stacks[size++] = stack;
    indexes[stack] = size;
  }
  return { stacks, size, indexes };
}
