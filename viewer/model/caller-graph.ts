import type { Graph } from './graph.ts';
import { type Recording, ROOT } from './recording.ts';

/** Samples that a node stands for: where each group of them has come to on its way up, and their weights. */
interface Paths {
  readonly nodes: Uint32Array;
  readonly weights: Float64Array;
}

const NO_PATHS: Paths = { nodes: new Uint32Array(0), weights: new Float64Array(0) };

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

  /** @param self by node of the recording: the weights of what is at the top, see selfWeights */
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
      children = this.#add(node, this.#goOn(this.#paths[node]));
      this.#children.set(node, children);
      // Not needed any more. Deep recursion would keep as many as its depth, each as long as that.
      this.#paths[node] = NO_PATHS;
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

  self(): undefined {
    return undefined;
  }

  /** One caller further up, without the paths that have come to their root. */
  #goOn({ nodes, weights }: Paths): Paths {
    const { caller } = this.#recording;
    const above = { nodes: new Uint32Array(nodes.length), weights: new Float64Array(nodes.length) };
    let count = 0;
    for (let at = 0; at < nodes.length; at++) {
      if (caller[nodes[at]] === ROOT) continue;
      above.nodes[count] = caller[nodes[at]];
      above.weights[count++] = weights[at];
    }
    return { nodes: above.nodes.subarray(0, count), weights: above.weights.subarray(0, count) };
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
      const own = { nodes: new Uint32Array(places.length), weights: new Float64Array(places.length) };
      let sum = 0;
      for (let nth = 0; nth < places.length; nth++) {
        own.nodes[nth] = nodes[places[nth]];
        own.weights[nth] = weights[places[nth]];
        sum += own.weights[nth];
      }
      this.#weights.push(sum);
      this.#paths.push(own);
    }
    return children.sort((a, b) => this.#weights[b] - this.#weights[a] || a - b);
  }
}
