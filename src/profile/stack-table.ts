import { TreeInterner } from '../base/tables/tree-interner.ts';

/**
 * Call stacks as a tree, each stored once: a stack is its caller's stack plus one location. A parent's index is smaller than its children's. Stack −1 is the
 * empty one.
 */
export class StackTable {
  readonly #tree = new TreeInterner();

  get size(): number {
    return this.#tree.size;
  }

  /** @param parent the caller's stack, −1 for the outermost frame */
  intern(parent: number, location: number): number {
    return this.#tree.intern(parent, location);
  }

  /** The caller's stack; −1 when this frame is the outermost. */
  parent(index: number): number {
    return this.#tree.parents[index];
  }

  location(index: number): number {
    return this.#tree.labels[index];
  }

  /** All callers' stacks and all locations, by index, for loops over every stack. They have spare elements at the end, and are replaced when they grow. */
  get columns(): { readonly parents: Int32Array; readonly locations: Int32Array } {
    return { parents: this.#tree.parents, locations: this.#tree.labels };
  }
}
