import type { CallTree } from './call-tree.ts';
import { GrowingGraph } from './growing-graph.ts';
import { ROOT } from './recording.ts';

/**
 * The tree of what a function calls, wherever it is called: below the root there is one box for the function, and below that what it calls, all of its stacks
 * added up.
 */
export class CalleeGraph extends GrowingGraph {
  readonly #tree: CallTree;
  readonly #self: Float64Array;
  readonly #outermost: readonly number[];
  readonly #code: number;
  /** By node: the nodes of the tree that it stands for. */
  readonly #places: (readonly number[])[] = [];

  /** @param self by node of the tree @param outermost the function's nodes that are not below another one of it */
  constructor(tree: CallTree, self: Float64Array, outermost: readonly number[], code: number) {
    super();
    this.#tree = tree;
    this.#self = self;
    this.#outermost = outermost;
    this.#code = code;
  }

  self(node: number): number {
    return sumOf(this.#self, this.#places[node]);
  }

  protected get whole(): number {
    return sumOf(this.#tree.total, this.#outermost);
  }

  protected grow(node: number): number[] {
    if (node === ROOT) return this.#outermost.length === 0 ? [] : [this.#addPlaces(ROOT, this.#code, this.#outermost)];
    return Array.from(this.#calleesOf(node), ([code, places]) => this.#addPlaces(node, code, places));
  }

  #addPlaces(parent: number, code: number, places: readonly number[]): number {
    this.#places.push(places);
    return this.add(parent, code, sumOf(this.#tree.total, places));
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

function sumOf(weights: Float64Array, places: readonly number[]): number {
  return places.reduce((sum, place) => sum + weights[place], 0);
}
