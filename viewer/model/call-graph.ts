import type { CallTree } from './call-tree.ts';
import type { Graph } from './graph.ts';
import { ROOT } from './recording.ts';

const NONE: readonly number[] = [];

/** The tree of calls: outermost frames at the top. Its nodes are those of the recording; those without weight are left out. */
export class CallGraph implements Graph {
  readonly #tree: CallTree;
  readonly #self: Float64Array;
  /** The children of nodes that were asked for, in order. */
  readonly #sorted = new Map<number, readonly number[]>();

  /** @param self by node, see selfWeights */
  constructor(tree: CallTree, self: Float64Array) {
    this.#tree = tree;
    this.#self = self;
  }

  children(node: number): readonly number[] {
    const known = this.#sorted.get(node);
    if (known !== undefined) return known;
    const callees = this.#tree.callees(node);
    if (callees.length === 0) return NONE;
    const { total } = this.#tree;
    const sorted = Array.from(callees).sort((a, b) => total[b] - total[a] || a - b);
    this.#sorted.set(node, sorted);
    return sorted;
  }

  parent(node: number): number {
    return node === ROOT ? ROOT : this.#tree.recording.caller[node];
  }

  code(node: number): number {
    return this.#tree.recording.code[node];
  }

  weight(node: number): number {
    return node === ROOT ? this.#tree.whole : this.#tree.total[node];
  }

  self(node: number): number {
    return this.#self[node];
  }
}
