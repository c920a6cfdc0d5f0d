import { ExactSums } from '../../base/exact-sums.ts';
import type { TreeInterner } from '../../base/tree-interner.ts';
import type { Profile } from '../../profile/profile.ts';

/** Samples added up. */
export interface Sums {
  readonly samples: number;
  readonly period: number;
  /** The exact sum of the periods minus `period`; 0 up to 2^53. */
  readonly periodRemainder: number;
}

/** The samples of one event, by node. */
export class NodeWeights {
  readonly size: number;
  /** With those of callees. */
  readonly samples: Float64Array;
  readonly #periods = new ExactSums();
  readonly #selfSamples: Float64Array;
  readonly #selfPeriods = new ExactSums();

  constructor({ totals }: Profile, nodes: TreeInterner, nodeOfTotal: Int32Array, event: number) {
    this.size = nodes.size;
    this.#selfSamples = new Float64Array(this.size);
    for (let total = 0; total < totals.size; total++) {
      // hot
      if (totals.event(total) !== event) continue;
      const node = nodeOfTotal[total];
      this.#selfSamples[node] += totals.samples(total);
      this.#selfPeriods.add(node, totals.period(total), totals.periodRemainder(total));
    }
    this.samples = this.#selfSamples.slice();
    // Callees come after their callers.
    for (let node = this.size - 1; node >= 0; node--) {
      // hot
      if (this.samples[node] === 0) continue;
      this.#periods.add(node, this.#selfPeriods.value(node), this.#selfPeriods.remainder(node));
      const parent = nodes.parents[node];
      if (parent < 0) continue;
      this.samples[parent] += this.samples[node];
      this.#periods.add(parent, this.#periods.value(node), this.#periods.remainder(node));
    }
  }

  total(node: number): Sums {
    return { samples: this.samples[node], period: this.#periods.value(node), periodRemainder: this.#periods.remainder(node) };
  }

  self(node: number): Sums {
    return { samples: this.#selfSamples[node], period: this.#selfPeriods.value(node), periodRemainder: this.#selfPeriods.remainder(node) };
  }
}
