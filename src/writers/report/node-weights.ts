import { ExactSums } from '../../base/tables/exact-sums.ts';
import { grown } from '../../base/tables/growable.ts';
import type { TreeInterner } from '../../base/tables/tree-interner.ts';
import type { Profile } from '../../profile/profile.ts';

/** Samples added up. */
export interface Sums {
  readonly samples: number;
  readonly period: number;
  /** The exact sum of the periods minus `period`; 0 up to 2^53. */
  readonly periodRemainder: number;
}

/**
 * The samples of one event, by the calls that they were in. Calls are the nodes of a tree that has those of all events; here, they have numbers of their own, so
 * that work for an event grows with its own calls.
 */
export class NodeWeights {
  /** By call: its node. Callers come before callees. */
  readonly nodes: Uint32Array;
  /** By call: its caller; −1 for a root. */
  readonly callers: Int32Array;
  /** With those of callees. */
  readonly samples: Float64Array;
  readonly #periods = new ExactSums();
  readonly #selfSamples: Float64Array;
  readonly #selfPeriods = new ExactSums();

  /**
   * @param rows those of the event in the profile's totals
   * @param nodeOfTotal by row of these: the node that its stack ends in
   * @param callOf room for a number for each node: −1, before and after
   */
  constructor({ totals }: Profile, tree: TreeInterner, rows: Uint32Array, nodeOfTotal: Int32Array, callOf: Int32Array) {
    this.nodes = nodesOf(tree, rows, nodeOfTotal, callOf);
    this.callers = Int32Array.from(this.nodes, (node) => (tree.parents[node] < 0 ? -1 : callOf[tree.parents[node]]));
    this.#selfSamples = new Float64Array(this.size);
    for (const row of rows) {
      // hot
      const call = callOf[nodeOfTotal[row]];
      this.#selfSamples[call] += totals.samples(row);
      this.#selfPeriods.add(call, totals.period(row), totals.periodRemainder(row));
    }
    for (const node of this.nodes) callOf[node] = -1;
    this.samples = this.#selfSamples.slice();
    for (let call = this.size - 1; call >= 0; call--) {
      // hot
      this.#periods.add(call, this.#selfPeriods.value(call), this.#selfPeriods.remainder(call));
      const caller = this.callers[call];
      if (caller < 0) continue;
      this.samples[caller] += this.samples[call];
      this.#periods.add(caller, this.#periods.value(call), this.#periods.remainder(call));
    }
  }

  /** Number of calls. */
  get size(): number {
    return this.nodes.length;
  }

  total(call: number): Sums {
    return { samples: this.samples[call], period: this.#periods.value(call), periodRemainder: this.#periods.remainder(call) };
  }

  self(call: number): Sums {
    return { samples: this.#selfSamples[call], period: this.#selfPeriods.value(call), periodRemainder: this.#selfPeriods.remainder(call) };
  }
}

/** The nodes of some stacks, callers first. @param callOf gets the place of each of them */
function nodesOf(tree: TreeInterner, rows: Uint32Array, nodeOfTotal: Int32Array, callOf: Int32Array): Uint32Array {
  let found = new Uint32Array(1024);
  let count = 0;
  for (const row of rows) {
    // hot
    for (let node = nodeOfTotal[row]; node >= 0 && callOf[node] < 0; node = tree.parents[node]) {
      callOf[node] = 0;
      found = grown(found, count + 1);
      found[count++] = node;
    }
  }
  const nodes = found.subarray(0, count).sort();
  for (let call = 0; call < count; call++) callOf[nodes[call]] = call;
  return nodes;
}
