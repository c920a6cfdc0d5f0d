import { expect, it } from 'vitest';
import { StackSpans } from '../../../src/writers/chrome/stack-spans.ts';
import type { FrameTree } from '../../../src/writers/frame-tree.ts';

/** Nodes 0 … 9 and 10 … 19 are two stacks of ten frames without a common one. */
const tree = { depth: (node: number) => (node % 10) + 1, parent: (node: number) => (node % 10 === 0 ? -1 : node - 1) } as FrameTree;

it('chrome: bars are laid out only up to the maximum asked for', () => {
  const count = 1000;
  const startUs = Float64Array.from({ length: count }, (_, i) => i);
  const placed = { startUs, endUs: startUs.map((start) => start + 1), clippedNs: 0 };
  const nodeAt = (position: number): number => (position % 2 === 0 ? 9 : 19);
  const spans = new StackSpans(tree);
  expect(spans.build(placed, nodeAt, count * 10 - 1)).toBe(false);
  expect(spans.size).toBeLessThan(count * 10);
  expect(spans.build(placed, nodeAt, count * 10)).toBe(true);
  expect(spans.size).toBe(count * 10);
});
