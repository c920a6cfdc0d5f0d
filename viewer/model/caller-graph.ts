import { GrowingGraph } from './growing-graph.ts';
import { type Recording, ROOT } from './recording.ts';

/** Samples that a node stands for: where each group of them has come to on its way up, and their weights. */
interface Paths {
  readonly nodes: Uint32Array;
  readonly weights: Float64Array;
}

const NO_PATHS: Paths = { nodes: new Uint32Array(0), weights: new Float64Array(0) };

/** The tree of callers: the functions that samples were in at the top, those that called them below. */
export class CallerGraph extends GrowingGraph {
  readonly #recording: Recording;
  /** By node. */
  readonly #paths: Paths[] = [];
  /** Those of the root, which are needed once. */
  #first: Paths;
  protected readonly whole: number;

  /** @param self by node of the recording: the weights of what is at the top, see selfWeights */
  constructor(recording: Recording, self: Float64Array) {
    super();
    this.#recording = recording;
    const nodes = Uint32Array.from(self.keys()).filter((node) => self[node] > 0);
    const weights = Float64Array.from(nodes, (node) => self[node]);
    this.whole = weights.reduce((sum, weight) => sum + weight, 0);
    this.#first = { nodes, weights };
  }

  self(): undefined {
    return undefined;
  }

  protected grow(node: number): number[] {
    if (node === ROOT) {
      const first = this.#first;
      this.#first = NO_PATHS;
      return this.#addCallers(ROOT, first);
    }
    const callers = this.#addCallers(node, this.#goOn(this.#paths[node]));
    // Not needed any more. Deep recursion would keep as many as its depth, each as long as that.
    this.#paths[node] = NO_PATHS;
    return callers;
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

  /** Adds a child for each code that paths have come to. @returns them */
  #addCallers(parent: number, { nodes, weights }: Paths): number[] {
    const { code } = this.#recording;
    const placesOf = new Map<number, number[]>();
    for (let at = 0; at < nodes.length; at++) {
      const places = placesOf.get(code[nodes[at]]);
      if (places === undefined) placesOf.set(code[nodes[at]], [at]);
      else places.push(at);
    }
    return Array.from(placesOf, ([one, places]) => {
      const own = { nodes: new Uint32Array(places.length), weights: new Float64Array(places.length) };
      let sum = 0;
      for (let nth = 0; nth < places.length; nth++) {
        own.nodes[nth] = nodes[places[nth]];
        own.weights[nth] = weights[places[nth]];
        sum += own.weights[nth];
      }
      this.#paths.push(own);
      return this.add(parent, one, sum);
    });
  }
}
