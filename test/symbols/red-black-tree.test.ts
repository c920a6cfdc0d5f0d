import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RedBlackTree } from '../../src/symbols/red-black-tree.ts';

describe('RedBlackTree', () => {
  it('holds the rows inserted and not removed, by key and then by insertion', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ key: fc.integer({ min: 0, max: 60 }), isRemoved: fc.boolean() }), { maxLength: 80 }), (rows) => {
        const keys = Float64Array.from(rows, ({ key }) => key);
        const tree = new RedBlackTree(keys);
        rows.forEach((_, row) => {
          tree.insert(row);
        });
        rows.forEach(({ isRemoved }, row) => {
          if (isRemoved) tree.remove(row);
        });
        // One key's rows hide each other: only one of them can be found.
        const left = rows.flatMap(({ isRemoved, key }) => (isRemoved ? [] : [key]));
        const found: number[] = [];
        tree.visit(
          keys.map((key) => key + 1),
          (row, first, end) => {
            expect(rows[row].isRemoved).toBe(false);
            expect([first, end]).toEqual([keys[row], keys[row] + 1]);
            found.push(keys[row]);
          },
        );
        expect(found).toEqual([...new Set(left)].sort((a, b) => a - b));
      }),
      { numRuns: 300 },
    );
  });

  it('gives each address the row that a descent ends at', () => {
    // Inserted 2, 1, 3: row 0 is the root, and its range hides row 1's end and row 2's start.
    const tree = new RedBlackTree(Float64Array.of(20, 10, 30));
    for (const row of [0, 1, 2]) tree.insert(row);
    const found: number[][] = [];
    tree.visit(Float64Array.of(35, 25, 40), (...segment) => found.push(segment));
    expect(found).toEqual([
      [1, 10, 20],
      [0, 20, 35],
      [2, 35, 40],
    ]);
  });
});
