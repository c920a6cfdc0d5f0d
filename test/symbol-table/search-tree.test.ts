import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SearchTree } from '../../src/symbol-table/search-tree.ts';
import { runs } from '../support/thoroughness.ts';

/** The symbol at the root: each symbol covers everything after its start. */
const rootOf = (tree: SearchTree): number => tree.find(1e6, () => Number.POSITIVE_INFINITY);

function treeOf(starts: readonly number[]): SearchTree {
  const tree = new SearchTree(Float64Array.from(starts));
  for (let symbol = 0; symbol < starts.length; symbol++) tree.insert(symbol);
  return tree;
}

describe('SearchTree', () => {
  it('finds what is left of symbols that do not overlap, in as many steps as a balanced tree has', () => {
    const symbols = fc.uniqueArray(fc.record({ start: fc.integer({ min: 0, max: 5000 }), isRemoved: fc.boolean() }), {
      selector: ({ start }) => start,
      maxLength: 300,
    });
    fc.assert(
      fc.property(symbols, (list) => {
        const tree = treeOf(list.map(({ start }) => start));
        for (const [symbol, { isRemoved }] of list.entries()) if (isRemoved) tree.remove(symbol);
        const left = list.filter(({ isRemoved }) => !isRemoved);
        for (const { start } of list) {
          let steps = 0;
          const found = tree.find(start + 0.5, (symbol) => {
            steps++;
            return list[symbol].start + 1;
          });
          expect(found < 0 ? undefined : list[found].start).toBe(left.find((other) => other.start === start)?.start);
          expect(steps).toBeLessThanOrEqual(2 * Math.log2(left.length + 1));
        }
      }),
      { numRuns: runs(1000, 100) },
    );
  });

  it('finds the symbol that is nearest to the root if several cover the address', () => {
    expect([1, 2, 3, 4, 7, 8, 9, 16, 40].map((count) => rootOf(treeOf(Array.from({ length: count }, (_, i) => i))))).toEqual([0, 0, 1, 1, 1, 3, 3, 3, 15]);
    expect(rootOf(treeOf([2, 0, 1]))).toBe(2);
    expect(rootOf(treeOf([0, 2, 1]))).toBe(2);
  });

  it('puts the next symbol in the place of one that is removed and has others on both sides', () => {
    const tree = treeOf([0, 1, 2, 3, 4, 5, 6, 7]);
    tree.remove(3);
    expect(rootOf(tree)).toBe(4);
    tree.remove(4);
    expect(rootOf(tree)).toBe(5);
  });

  it('puts a symbol after those with the same start', () => {
    const tree = treeOf([5, 5, 5]);
    expect(rootOf(tree)).toBe(1);
    expect(tree.find(5, () => 5)).toBe(1);
    expect(tree.find(6, () => 6)).toBe(-1);
  });

  it('finds an empty symbol where it starts', () => {
    const tree = treeOf([5]);
    expect([4, 5, 6].map((address) => tree.find(address, () => 5))).toEqual([-1, 0, -1]);
  });
});
