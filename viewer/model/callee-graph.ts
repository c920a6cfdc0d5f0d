import type { CallTree } from './call-tree.ts';
import type { Graph } from './graph.ts';
import { ROOT } from './recording.ts';

/**
 * The tree of what a function calls, wherever it is called: below the root there is one box for the function, and below that what it calls, all of its stacks
 * added up. Children are made when they are asked for.
 */
export class CalleeGraph implements Graph {
  readonly #tree: CallTree;
  readonly #self: Float64Array;
  /** By node: the nodes of the tree that it stands for. */
  readonly #places: (readonly number[])[] = [];
  readonly #parents: number[] = [];
  readonly #codes: number[] = [];
  readonly #weights: number[] = [];
  readonly #children = new Map<number, readonly number[]>();

  /** @param self by node of the tree @param outermost the function's nodes that are not below another one of it */
  constructor(tree: CallTree, self: Float64Array, outermost: readonly number[], code: number) {
    this.#tree = tree;
    this.#self = self;
    this.#children.set(ROOT, outermost.length === 0 ? [] : [this.#add(ROOT, code, outermost)]);
  }

  children(node: number): readonly number[] {
    let children = this.#children.get(node);
    if (children === undefined) {
      children = Array.from(this.#calleesOf(node), ([code, places]) => this.#add(node, code, places)).sort(
        (a, b) => this.#weights[b] - this.#weights[a] || a - b,
      );
      this.#children.set(node, children);
    }
    return children;
  }

  parent(node: number): number {
    return node === ROOT ? ROOT : this.#parents[node];
  }

  code(node: number): number {
    return this.#codes[node];
  }

  weight(node: number): number {
    return node === ROOT ? this.children(ROOT).reduce((sum, child) => sum + this.#weights[child], 0) : this.#weights[node];
  }

  self(node: number): number {
    return this.#places[node].reduce((sum, place) => sum + this.#self[place], 0);
  }

  #add(parent: number, code: number, places: readonly number[]): number {
    this.#parents.push(parent);
    this.#codes.push(code);
    this.#weights.push(places.reduce((sum, place) => sum + this.#tree.total[place], 0));
    return this.#places.push(places) - 1;
  }

  /** The nodes of the tree that are called from those of a node, by their code. */
  #calleesOf(node: number): Map<number, number[]> {
    const found = new Map<number, number[]>();
    for (const place of this.#places[node]) {
      for (const callee of this.#tree.callees(place)) {
        const code = this.#tree.recording.code[callee];
        const places = found.get(code);
        if (places === undefined) found.set(code, [callee]);
        else places.push(callee);
      }
    }
    return found;
  }
}
