import { ascendingOrder } from '../base/tables/ascending-order.ts';

/** A tree of calls, in which a parent's index is smaller than its children's. */
interface Calls {
  /** Number of nodes. */
  readonly size: number;
  /** −1 for an outermost frame. */
  parent(node: number): number;
}

/**
 * The order of a left-heavy flame graph: the place of each node when the tree is walked from the root, heavier callees first.
 * @param selfWeight by node, without that of its callees
 * @returns places by node
 */
export function leftHeavyRanks(tree: Calls, selfWeight: Float64Array): Float64Array {
  const weight = selfWeight.slice();
  for (let node = tree.size - 1; node > 0; node--) {
    const parent = tree.parent(node);
    if (parent >= 0) weight[parent] += weight[node];
  }
  const ascending = ascendingOrder(weight);
  /** By node plus 1 (0 is for the outermost frames): the heaviest callee. */
  const first = new Int32Array(tree.size + 1).fill(-1);
  /** By node: the next lighter callee of the same caller. */
  const next = new Int32Array(tree.size).fill(-1);
  for (const node of ascending) {
    const parent = tree.parent(node) + 1;
    next[node] = first[parent];
    first[parent] = node;
  }
  const ranks = new Float64Array(tree.size);
  let rank = 0;
  let node = first[0];
  while (node >= 0) {
    ranks[node] = rank++;
    let following = first[node + 1];
    for (let at = node; following < 0 && at >= 0; at = tree.parent(at)) following = next[at];
    node = following;
  }
  return ranks;
}
