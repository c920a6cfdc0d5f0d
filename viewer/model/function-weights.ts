import type { CallTree } from './call-tree.ts';
import { functionOf, ROOT } from './recording.ts';

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

/** @param self by node */
export function functionWeights(tree: CallTree, self: Float64Array): FunctionWeights {
  const { recording, total } = tree;
  const { code, functions } = recording;
  const weights = { self: new Float64Array(functions.length), total: new Float64Array(functions.length) };
  for (let node = 0; node < self.length; node++) weights.self[functionOf(code[node])] += self[node];
  /** By function: how often it is on the path to the node that is visited. */
  const depth = new Uint32Array(functions.length);
  tree.visit(
    ROOT,
    (node) => {
      const one = functionOf(code[node]);
      if (depth[one]++ === 0) weights.total[one] += total[node];
    },
    (node) => depth[functionOf(code[node])]--,
  );
  return weights;
}

/** Who called a function directly, and whom it called. A sample counts once for each of them. */
export function neighborsOf(tree: CallTree, wanted: number): Neighbors {
  const { caller, code, functions } = tree.recording;
  const [callers, callees] = [new Float64Array(functions.length), new Float64Array(functions.length)];
  const { isRecursive, outermost } = outermostNodes(tree, wanted);
  if (isRecursive) addRecursive(tree, wanted, outermost, callers, callees);
  else {
    for (const node of outermost) {
      if (caller[node] !== ROOT) callers[functionOf(code[caller[node]])] += tree.total[node];
      for (const callee of tree.callees(node)) callees[functionOf(code[callee])] += tree.total[callee];
    }
  }
  return { callers: heaviestFirst(callers), callees: heaviestFirst(callees) };
}

/** The nodes of a function that are not below another one of it, and whether there are any that are. */
export function outermostNodes({ recording, total }: CallTree, wanted: number): { readonly outermost: readonly number[]; readonly isRecursive: boolean } {
  const { caller, code } = recording;
  const outermost: number[] = [];
  /** By node: whether it, or one above it, is of the function. */
  const isWithin = new Uint8Array(caller.length);
  let isRecursive = false;
  for (let node = 0; node < caller.length; node++) {
    if (caller[node] !== ROOT && isWithin[caller[node]] === 1) {
      isWithin[node] = 1;
      isRecursive ||= functionOf(code[node]) === wanted && total[node] > 0;
    } else if (functionOf(code[node]) === wanted) {
      isWithin[node] = 1;
      if (total[node] > 0) outermost.push(node);
    }
  }
  return { outermost, isRecursive };
}

/** Adds up what is called by, and calls, a function that is in some stacks more than once. */
function addRecursive(tree: CallTree, wanted: number, outermost: readonly number[], callers: Float64Array, callees: Float64Array): void {
  const { recording, total } = tree;
  const { caller, code, functions } = recording;
  /** By function: how often the path to the node that is visited has a call of the wanted one by it, and the reverse. */
  const [asCaller, asCallee] = [new Uint32Array(functions.length), new Uint32Array(functions.length)];
  const isWanted = (node: number): boolean => functionOf(code[node]) === wanted;
  for (const top of outermost) {
    tree.visit(
      top,
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
  }
}

function heaviestFirst(weights: Float64Array): Neighbor[] {
  const found: Neighbor[] = [];
  weights.forEach((weight, index) => {
    if (weight > 0) found.push({ function: index, weight });
  });
  return found.sort((a, b) => b.weight - a.weight);
}
