import { functionOf, type Recording, ROOT } from './recording.ts';

/** By function: the weight of the samples in it, and of those in it or in what it called. A sample counts once, however often the function is in its stack. */
export interface FunctionWeights {
  readonly self: Float64Array;
  readonly total: Float64Array;
}

/** A caller or callee of a function, and the weight of the samples in which one called the other. */
export interface Neighbor {
  readonly function: number;
  readonly weight: number;
}

export interface Neighbors {
  /** The heaviest first. */
  readonly callers: readonly Neighbor[];
  readonly callees: readonly Neighbor[];
}

/** @param self,total by node */
export function functionWeights(recording: Recording, self: Float64Array, total: Float64Array): FunctionWeights {
  const { code, functions } = recording;
  const weights = { self: new Float64Array(functions.length), total: new Float64Array(functions.length) };
  for (let node = 0; node < self.length; node++) weights.self[functionOf(code[node])] += self[node];
  /** By function: how often it is on the path to the node that is visited. */
  const depth = new Uint32Array(functions.length);
  visitPaths(
    recording,
    total,
    (node) => {
      const one = functionOf(code[node]);
      if (depth[one]++ === 0) weights.total[one] += total[node];
    },
    (node) => depth[functionOf(code[node])]--,
  );
  return weights;
}

/** Who called a function directly, and whom it called. A sample counts once for each of them. @param total by node */
export function neighborsOf(recording: Recording, total: Float64Array, wanted: number): Neighbors {
  const { caller, code, functions } = recording;
  const [callers, callees] = [new Float64Array(functions.length), new Float64Array(functions.length)];
  /** By function: how often the path to the node that is visited has a call of the wanted one by it, and the reverse. */
  const [asCaller, asCallee] = [new Uint32Array(functions.length), new Uint32Array(functions.length)];
  const isWanted = (node: number): boolean => node !== ROOT && functionOf(code[node]) === wanted;
  visitPaths(
    recording,
    total,
    (node) => {
      const from = caller[node];
      if (from === ROOT) return;
      if (isWanted(node) && asCaller[functionOf(code[from])]++ === 0) callers[functionOf(code[from])] += total[node];
      if (isWanted(from) && asCallee[functionOf(code[node])]++ === 0) callees[functionOf(code[node])] += total[node];
    },
    (node) => {
      const from = caller[node];
      if (from === ROOT) return;
      if (isWanted(node)) asCaller[functionOf(code[from])]--;
      if (isWanted(from)) asCallee[functionOf(code[node])]--;
    },
  );
  return { callers: heaviestFirst(callers), callees: heaviestFirst(callees) };
}

function heaviestFirst(weights: Float64Array): Neighbor[] {
  const found: Neighbor[] = [];
  weights.forEach((weight, index) => {
    if (weight > 0) found.push({ function: index, weight });
  });
  return found.sort((a, b) => b.weight - a.weight);
}

/** Visits all nodes with a weight, callers before and after what they called. */
function visitPaths({ caller }: Recording, total: Float64Array, enter: (node: number) => void, leave: (node: number) => void): void {
  /** By node plus 1: its first callee; by node: the next one of the same caller. */
  const first = new Int32Array(caller.length + 1).fill(-1);
  const next = new Int32Array(caller.length);
  for (let node = caller.length - 1; node >= 0; node--) {
    if (total[node] <= 0) continue;
    next[node] = first[caller[node] + 1];
    first[caller[node] + 1] = node;
  }
  let node = first[0];
  while (node >= 0) {
    enter(node);
    let following = first[node + 1];
    for (let at = node; following < 0 && at !== ROOT; at = caller[at]) {
      leave(at);
      following = next[at];
    }
    node = following;
  }
}
