import type { Graph } from './graph.ts';
import { type Recording, ROOT } from './recording.ts';

/** Samples that a node stands for: where each group of them has come to on its way up, and their weights. */
interface Paths {
  readonly nodes: Uint32Array;
  readonly weights: Float64Array;
}

/**
 * The tree of callers: the functions that samples were in at the top, those that called them below. It may be many times larger than the tree of calls, so that
 * children are made when they are asked for, which is only done for boxes that can be seen.
 */
export class CallerGraph implements Graph {
  readonly #recording: Recording;
  /** By node. */
  readonly #parents: number[] = [];
  readonly #codes: number[] = [];
  readonly #weights: number[] = [];
  readonly #paths: Paths[] = [];
  readonly #children = new Map<number, readonly number[]>();
  readonly #whole: number;

  /** @param self by node of the recording, see selfWeights */
  constructor(recording: Recording, self: Float64Array) {
    this.#recording = recording;
    const nodes = Uint32Array.from(self.keys()).filter((node) => self[node] > 0);
    const weights = Float64Array.from(nodes, (node) => self[node]);
    this.#whole = weights.reduce((sum, weight) => sum + weight, 0);
    this.#children.set(ROOT, this.#add(ROOT, { nodes, weights }));
  }

  children(node: number): readonly number[] {
    let children = this.#children.get(node);
    if (children === undefined) {
      const { nodes, weights } = this.#paths[node];
      const { caller } = this.#recording;
      const goesOn = nodes.map((one) => (caller[one] === ROOT ? 0 : 1));
      children = this.#add(node, {
        nodes: nodes.filter((_, at) => goesOn[at] === 1).map((one) => caller[one]),
        weights: weights.filter((_, at) => goesOn[at] === 1),
      });
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
    return node === ROOT ? this.#whole : this.#weights[node];
  }

  /** Adds a child for each code that paths have come to. @returns them, the heaviest first */
  #add(parent: number, { nodes, weights }: Paths): readonly number[] {
    const { code } = this.#recording;
    const placesOf = new Map<number, number[]>();
    for (let at = 0; at < nodes.length; at++) {
      const places = placesOf.get(code[nodes[at]]);
      if (places === undefined) placesOf.set(code[nodes[at]], [at]);
      else places.push(at);
    }
    const children: number[] = [];
    for (const [one, places] of placesOf) {
      children.push(this.#parents.length);
      this.#parents.push(parent);
      this.#codes.push(one);
      this.#weights.push(places.reduce((sum, at) => sum + weights[at], 0));
      this.#paths.push({ nodes: Uint32Array.from(places, (at) => nodes[at]), weights: Float64Array.from(places, (at) => weights[at]) });
    }
    return children.sort((a, b) => this.#weights[b] - this.#weights[a] || a - b);
  }
}
