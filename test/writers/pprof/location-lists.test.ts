import { describe, expect, test } from 'vitest';
import { StackTable } from '../../../src/profile/stack-table.ts';
import { LocationLists } from '../../../src/writers/pprof/location-lists.ts';

describe('pprof: the location ids of stacks', () => {
  /** Ids of one, two and three bytes. */
  const ids = Uint32Array.of(1, 300, 70_000, 5);
  const stacks = new StackTable();
  const root = stacks.intern(-1, 0);
  const middle = stacks.intern(root, 1);
  const leaf = stacks.intern(middle, 2);
  const otherLeaf = stacks.intern(middle, 3);
  const encodedLeaf = [0xf0, 0xa2, 4, 0xac, 2, 1];
  const encodedOther = [5, 0xac, 2, 1];

  /** Encodes stacks one after the other, and checks that each has the predicted length. */
  function put(lists: LocationLists, ...wanted: number[]): number[] {
    const bytes = new Uint8Array(100);
    let at = 0;
    for (const stack of wanted) {
      const end = lists.put(stack, bytes, at);
      expect(end - at).toBe(lists.lengths[stack]);
      at = end;
    }
    return [...bytes.subarray(0, at)];
  }

  test('are written leaf first, also when callers or whole stacks are repeated', () => {
    const lists = new LocationLists(stacks, ids);
    expect(put(lists, leaf, otherLeaf, middle, leaf)).toEqual([...encodedLeaf, ...encodedOther, 0xac, 2, 1, ...encodedLeaf]);
  });

  test('are encoded again in the next piece, however many bytes came before', () => {
    const lists = new LocationLists(stacks, ids);
    for (const length of [10, 2 ** 30, 7, 2 ** 30 + 5, 12]) {
      expect(put(lists, otherLeaf, leaf)).toEqual([...encodedOther, ...encodedLeaf]);
      lists.endPiece(length);
    }
  });
});
