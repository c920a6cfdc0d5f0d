import type { Graph } from './graph.ts';
import { type Recording, ROOT } from './recording.ts';

const NONE: readonly number[] = [];

/** The tree of calls: outermost frames at the top. Its nodes are those of the recording; those without weight are left out. */
export class CallGraph implements Graph {
  readonly #recording: Recording;
  readonly #total: Float64Array;
  readonly #whole: number;
  /** By node plus 1: where its children begin in `#children`. */
  readonly #start: Uint32Array;
  readonly #children: Uint32Array;
  /** The children of nodes that were asked for, in order. */
  readonly #sorted = new Map<number, readonly number[]>();

  /** @param total by node, see totalWeights */
  constructor(recording: Recording, total: Float64Array) {
    const { caller } = recording;
    this.#recording = recording;
    this.#total = total;
    this.#start = new Uint32Array(caller.length + 2);
    let whole = 0;
    for (let node = 0; node < caller.length; node++) {
      if (total[node] > 0) this.#start[caller[node] + 2]++;
      if (caller[node] === ROOT) whole += total[node];
    }
    this.#whole = whole;
    for (let at = 1; at < this.#start.length; at++) this.#start[at] += this.#start[at - 1];
    const next = this.#start.slice();
    this.#children = new Uint32Array(this.#start[caller.length + 1]);
    for (let node = 0; node < caller.length; node++) if (total[node] > 0) this.#children[next[caller[node] + 1]++] = node;
  }

  children(node: number): readonly number[] {
    const [start, end] = [this.#start[node + 1], this.#start[node + 2]];
    if (start === end) return NONE;
    let sorted = this.#sorted.get(node);
    if (sorted === undefined) {
      sorted = Array.from(this.#children.subarray(start, end)).sort((a, b) => this.#total[b] - this.#total[a] || a - b);
      this.#sorted.set(node, sorted);
    }
    return sorted;
  }

  parent(node: number): number {
    return node === ROOT ? ROOT : this.#recording.caller[node];
  }

  code(node: number): number {
    return this.#recording.code[node];
  }

  weight(node: number): number {
    return node === ROOT ? this.#whole : this.#total[node];
  }
}
