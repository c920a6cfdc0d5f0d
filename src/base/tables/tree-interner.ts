import { grown } from './growable.ts';
import { PairInterner } from './pair-interner.ts';

/**
 * A tree of nodes, each stored once: a node is its parent plus a 32-bit label. Nodes get dense indexes in order of first appearance, so that a parent's index
 * is smaller than its children's.
 *
 * A new path is added as a run of consecutive nodes, and is usually walked again as it was added. So a child right after its parent is found by looking there;
 * only further children of a node are in a hash table.
 */
export class TreeInterner {
  /** Parents by index, −1 for a root; and labels. Replaced when they grow. */
  parents = new Int32Array(4096);
  labels = new Int32Array(4096);
  #size = 0;
  /** Pairs (parent, label) of the children that are not right after their parent, and their nodes. */
  readonly #branches = new PairInterner();
  #branchNodes = new Int32Array(1024);

  /** Number of nodes. */
  get size(): number {
    return this.#size;
  }

  /** Index of a child, which is added if it is new. @param parent −1 for a root */
  intern(parent: number, label: number): number {
    // hot
    const next = parent + 1;
    // The newest node has no children yet.
    if (next === this.#size) return this.#append(parent, label);
    if (this.parents[next] === parent && this.labels[next] === (label | 0)) return next;
    const known = this.#branches.size;
    const branch = this.#branches.intern(parent, label);
    if (branch < known) return this.#branchNodes[branch];
    const node = this.#append(parent, label);
    this.#branchNodes = grown(this.#branchNodes, branch + 1);
    this.#branchNodes[branch] = node;
    return node;
  }

  #append(parent: number, label: number): number {
    const node = this.#size++;
    if (node === this.parents.length) {
      this.parents = grown(this.parents, node + 1);
      this.labels = grown(this.labels, node + 1);
    }
    this.parents[node] = parent;
    this.labels[node] = label;
    return node;
  }
}
