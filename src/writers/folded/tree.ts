import { TreeInterner } from '../../base/tables/tree-interner.ts';
import type { StackTable } from '../../profile/stack-table.ts';
import type { FrameTexts } from '../frame-texts.ts';

/**
 * The stacks as a call tree by the text of their frames: stacks that read the same share a node, whatever their
 * addresses. Node −1 is the empty stack. A parent's index is smaller than its children's.
 */
export class FoldedTree {
  /** Nodes by their caller, and the string index of their frame. */
  readonly #nodes = new TreeInterner();
  readonly #nodeOfStack: Int32Array;

  constructor(stacks: StackTable, frames: FrameTexts) {
    this.#nodeOfStack = new Int32Array(stacks.size);
    for (let stack = 0; stack < stacks.size; stack++) {
      // hot
      const parent = stacks.parent(stack);
      let node = parent < 0 ? -1 : this.#nodeOfStack[parent];
      const location = stacks.location(stack);
      for (let nth = frames.count(location) - 1; nth >= 0; nth--) node = this.#nodes.intern(node, frames.text(location, nth));
      this.#nodeOfStack[stack] = node;
    }
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** The node of a stack of the profile; −1 for stack −1. */
  nodeOf(stack: number): number {
    return stack < 0 ? -1 : this.#nodeOfStack[stack];
  }

  /** The caller's node; −1 for a root. */
  parent(node: number): number {
    return this.#nodes.parents[node];
  }

  /** String index of the node's frame. */
  text(node: number): number {
    return this.#nodes.labels[node];
  }

  /**
   * All nodes, callers before callees, the callees of each caller sorted by the rank of their texts.
   * @param rank by string index
   */
  inOrder(rank: Uint32Array): Uint32Array {
    const size = this.size;
    const firstChild = new Int32Array(size + 1).fill(-1);
    const nextSibling = new Int32Array(size).fill(-1);
    // Each child is put at the front of its caller's list, so nodes in falling rank give lists in rising rank.
    for (const node of this.#byFallingRank(rank)) {
      const parent = this.parent(node) + 1;
      nextSibling[node] = firstChild[parent];
      firstChild[parent] = node;
    }
    const order = new Uint32Array(size);
    let length = 0;
    let node = firstChild[0];
    while (node >= 0) {
      order[length++] = node;
      if (firstChild[node + 1] >= 0) {
        node = firstChild[node + 1];
        continue;
      }
      while (node >= 0 && nextSibling[node] < 0) node = this.parent(node);
      if (node >= 0) node = nextSibling[node];
    }
    return order;
  }

  /** A counting sort, since ranks are dense. */
  #byFallingRank(rank: Uint32Array): Uint32Array {
    const start = new Uint32Array(rank.length + 1);
    for (let node = 0; node < this.size; node++) start[rank.length - 1 - rank[this.text(node)] + 1]++;
    for (let slot = 0; slot < rank.length; slot++) start[slot + 1] += start[slot];
    const sorted = new Uint32Array(this.size);
    for (let node = 0; node < this.size; node++) sorted[start[rank.length - 1 - rank[this.text(node)]]++] = node;
    return sorted;
  }
}
