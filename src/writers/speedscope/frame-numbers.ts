import { ascendingOrder, placesIn } from '../../base/tables/ascending-order.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import type { FrameTree } from '../frame-tree.ts';

/**
 * Builds the nodes of all samples, and numbers the frames by how often they are written, from 0 on. The numbers in stacks make up most of a document, so the
 * shortest ones go to the frames that are in most stacks.
 * @returns by frame of the tree
 */
export function numberByUse(tree: FrameTree, { size, stack }: SampleTable): Uint32Array {
  for (let row = 0; row < size; row++) tree.nodeOf(stack[row]);
  /** By node: its samples; further down, also those of its callees. */
  const samples = new Float64Array(tree.size);
  for (let row = 0; row < size; row++) samples[tree.nodeOf(stack[row])]++;
  const uses = new Float64Array(tree.frames.length);
  // A parent's index is smaller than its children's.
  for (let node = tree.size - 1; node >= 0; node--) {
    uses[tree.frame(node)] += samples[node];
    if (tree.parent(node) >= 0) samples[tree.parent(node)] += samples[node];
  }
  return placesIn(ascendingOrder(uses.map((count) => -count)));
}
