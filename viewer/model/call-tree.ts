import { type Recording, ROOT } from './recording.ts';

/** The nodes of a recording with a weight, and the way from callers to callees. Made once for each selection of samples. */
export class CallTree {
  readonly recording: Recording;
  /** By node. */
  readonly total: Float64Array;
  /** Of all samples. */
  readonly whole: number;
  /** By node plus 1: where its callees begin in `#callees`. */
  readonly #first: Uint32Array;
  readonly #callees: Uint32Array;

  /** @param total by node, see totalWeights */
  constructor(recording: Recording, total: Float64Array) {
    const { caller } = recording;
    this.recording = recording;
    this.total = total;
    this.#first = new Uint32Array(caller.length + 2);
    let whole = 0;
    for (let node = 0; node < caller.length; node++) {
      if (total[node] > 0) this.#first[caller[node] + 2]++;
      if (caller[node] === ROOT) whole += total[node];
    }
    this.whole = whole;
    for (let at = 1; at < this.#first.length; at++) this.#first[at] += this.#first[at - 1];
    const next = this.#first.slice();
    this.#callees = new Uint32Array(this.#first[caller.length + 1]);
    for (let node = 0; node < caller.length; node++) if (total[node] > 0) this.#callees[next[caller[node] + 1]++] = node;
  }

  /** What a node calls, or the outermost frames for ROOT, by their numbers. */
  callees(node: number): Uint32Array {
    return this.#callees.subarray(this.#first[node + 1], this.#first[node + 2]);
  }

  /** Visits all nodes below one, callers before and after what they called; and the node itself, unless it is ROOT. */
  visit(top: number, enter: (node: number) => void, leave: (node: number) => void): void {
    const path = [top];
    /** Where to go on among the callees of each node of the path. */
    const positions = [this.#first[top + 1]];
    if (top !== ROOT) enter(top);
    // hot
    for (let depth = 0; depth >= 0; ) {
      const node = path[depth];
      const position = positions[depth];
      if (position < this.#first[node + 2]) {
        positions[depth]++;
        const callee = this.#callees[position];
        depth++;
        path[depth] = callee;
        positions[depth] = this.#first[callee + 1];
        enter(callee);
      } else {
        depth--;
        if (node !== ROOT) leave(node);
      }
    }
  }
}
