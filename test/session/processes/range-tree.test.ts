import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NodeMemory, RangeTree } from '../../../src/session/processes/range-tree.ts';
import { runs } from '../../support/thoroughness.ts';

/** The addresses that the model knows: enough for some leaves full of ranges. */
const SPAN = 600;

interface Step {
  readonly op: 'put' | 'remove' | 'clone';
  /** Which of the existing trees. */
  readonly tree: number;
  readonly start: number;
  readonly length: number;
}

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  op: fc.constantFrom('put' as const, 'put' as const, 'put' as const, 'put' as const, 'remove' as const, 'clone' as const),
  tree: fc.nat({ max: 7 }),
  start: fc.integer({ min: -SPAN, max: SPAN }),
  // Mostly short, so that there are many ranges side by side.
  length: fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 1, max: 5 }) }, { weight: 1, arbitrary: fc.integer({ min: 6, max: 400 }) }),
});

/** The naive way: the owner of each single address. */
type Owners = (number | undefined)[];

function set(owners: Owners, { start, length }: Step, value: number | undefined): void {
  for (let at = Math.max(start, -SPAN); at < Math.min(start + length, SPAN); at++) owners[at + SPAN] = value;
}

function ownersIn(tree: RangeTree): Owners {
  return Array.from({ length: 2 * SPAN }, (_, i) => {
    const at = tree.find(i - SPAN);
    return at < 0 ? undefined : tree.dsoAt(at) + tree.deltaAt(at);
  });
}

describe('RangeTree', () => {
  it('agrees with maps of single addresses after any series of changes and copies, as do its copies', () => {
    fc.assert(
      fc.property(fc.array(stepArbitrary, { maxLength: 400, size: 'max' }), (steps) => {
        const trees = [{ tree: new RangeTree(), owners: new Array<number | undefined>(2 * SPAN).fill(undefined) }];
        steps.forEach((step, i) => {
          const chosen = trees[step.tree % trees.length];
          if (step.op === 'clone') {
            trees[trees.length < 8 ? trees.length : i % 8] = { tree: chosen.tree.clone(), owners: [...chosen.owners] };
          } else if (step.op === 'put') {
            chosen.tree.put(step.start, step.start + step.length, i - (i % 3), 1000 + (i % 3));
            set(chosen.owners, step, i + 1000);
          } else {
            chosen.tree.remove(step.start, step.start + step.length);
            set(chosen.owners, step, undefined);
          }
        });
        for (const { tree, owners } of trees) {
          expect(ownersIn(tree)).toEqual(owners);
          const ranges = [...tree];
          expect(tree.isEmpty).toBe(ranges.length === 0);
          ranges.forEach((range, i) => {
            expect(range.end).toBeGreaterThan(range.start);
            if (i > 0) expect(range.start).toBeGreaterThanOrEqual(ranges[i - 1].end);
            expect(tree.rangeAt(range.end - 1)).toEqual(range);
          });
          for (let start = 0; start < 2 * SPAN; start += 7) {
            const isFree = owners.slice(start, start + 5).every((owner) => owner === undefined);
            // The model knows nothing beyond its span.
            if (start + 5 <= 2 * SPAN) expect(tree.isFree(start - SPAN, start + 5 - SPAN)).toBe(isFree);
          }
          for (let dso = 1000; dso < 1004; dso++) expect(tree.firstOf(dso)).toBe(ranges.find((range) => range.dso === dso)?.start);
        }
      }),
      { numRuns: runs(150, 40) },
    );
  });

  it.each([
    ['in ascending order', (i: number) => i],
    ['in descending order', (i: number) => 20_000 - i],
    ['in no order', (i: number) => (i * 7919) % 20_011],
  ])('holds many ranges that come %s, and is empty when they are removed', (_, placeOf) => {
    const memory = new NodeMemory();
    const tree = new RangeTree(memory);
    for (let i = 0; i < 20_000; i++) tree.put(placeOf(i) * 16, placeOf(i) * 16 + 8, 1, i);
    for (let i = 0; i < 20_000; i++) {
      if (tree.dsoAt(tree.find(placeOf(i) * 16 + 7)) !== i || tree.find(placeOf(i) * 16 + 8) >= 0) expect(i).toBe('found');
    }
    expect([...tree]).toHaveLength(20_000);
    expect(memory.bytes).toBeGreaterThan(20_000 * 32);
    tree.remove(17, 2 ** 52);
    expect([...tree].at(-1)).toMatchObject({ start: 16, end: 17 });
    tree.remove(-1, 2 ** 52);
    expect([tree.isEmpty, tree.find(0), memory.bytes]).toEqual([true, -1, 0]);
  });

  it('takes memory for what differs between copies, not for what they share', () => {
    const parent = new RangeTree();
    for (let i = 0; i < 20_000; i++) parent.put(i * 16, i * 16 + 8, 1, i);
    const before = process.memoryUsage();
    const children = Array.from({ length: 5000 }, (_, i) => {
      const child = parent.clone();
      child.put(i * 16 + 8, i * 16 + 16, 2, i);
      return child;
    });
    const after = process.memoryUsage();
    const taken = after.heapUsed + after.external - before.heapUsed - before.external;
    // With ranges of their own, they would take 3.2 GB.
    expect(taken).toBeLessThan(200e6);
    expect(children.every((child, i) => child.rangeAt(i * 16 + 8)?.delta === 2 && parent.rangeAt(i * 16 + 8) === undefined)).toBe(true);
  });

  it('holds addresses of the upper half, which are negative', () => {
    const tree = new RangeTree();
    tree.put(-0x80000000, 0, 0, 7);
    expect(tree.dsoAt(tree.find(-1))).toBe(7);
    expect([tree.find(-0x80000001), tree.find(0)]).toEqual([-1, -1]);
  });
});
