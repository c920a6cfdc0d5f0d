import { ExactSums } from '../../base/tables/exact-sums.ts';
import { percentOf } from '../percent.ts';
import type { ReportKey } from './keys.ts';
import type { NodeWeights, Sums } from './node-weights.ts';

/** Calls that are not shown one by one. */
export interface OmittedCalls extends Sums {
  /** How many callees of one function. */
  readonly calls: number;
  /** Whether all of them are below the limit in per cent, so that it alone explains why they are left out. */
  readonly areSmall: boolean;
}

/** A call that is shown. */
export interface TreeRow {
  /** Index of the caller's row; −1 for a root. */
  readonly parent: number;
  /** Number of rows above it on the path to the root. */
  readonly depth: number;
  /** How the row is called: a function, or what a level distinguishes. */
  readonly label: TreeLabel;
  /** Samples taken there and in what it called. */
  readonly total: Sums;
  /** Samples taken there. */
  readonly self: Sums;
  /** Its callees that are not shown; undefined if there are none. */
  readonly omitted: OmittedCalls | undefined;
}

export interface TreeLabel {
  /** The level that it belongs to; undefined for a function. */
  readonly level: ReportKey | undefined;
  readonly name: string;
  /** The binary, as recorded; empty for a level. */
  readonly dso: string;
  readonly isInlined: boolean;
}

/** What decides about the order of calls, and why some are left out. */
interface CallOrder {
  readonly percentLimit: number;
  weight(sums: Sums): number;
}

/** The shown calls of an event as rows. */
export class ShownCalls {
  readonly #weights: NodeWeights;
  readonly #order: CallOrder;
  readonly #labelOf: (call: number) => TreeLabel;
  readonly #sum: number;
  /** By caller, −1 for roots: its shown callees. */
  readonly #callees = new Map<number, number[]>();
  /** By caller, −1 for roots: index among the omitted ones. */
  readonly #omittedOf = new Map<number, number>();
  readonly #omittedPeriods = new ExactSums();
  /** By index: number of calls, samples, the largest weight. */
  readonly #omitted: { calls: number; samples: number; largest: number }[] = [];

  /** @param isShown by call; the caller of a shown one is shown @param sum the weight of all samples */
  constructor(weights: NodeWeights, isShown: Uint8Array, sum: number, order: CallOrder, labelOf: (call: number) => TreeLabel) {
    this.#weights = weights;
    this.#sum = sum;
    this.#order = order;
    this.#labelOf = labelOf;
    for (let call = 0; call < weights.size; call++) {
      if (weights.samples[call] === 0) continue;
      const caller = weights.callers[call];
      if (isShown[call] === 0) {
        if (caller < 0 || isShown[caller] !== 0) this.#omit(call, caller);
        continue;
      }
      const callees = this.#callees.get(caller);
      if (callees === undefined) this.#callees.set(caller, [call]);
      else callees.push(call);
    }
  }

  /** The rows from the roots on, heavier callees first; and what is omitted of the roots. */
  inOrder(): { readonly rows: readonly TreeRow[]; readonly omitted: OmittedCalls | undefined } {
    const rows: TreeRow[] = [];
    // Stacks may be deep: no recursion. The next row is at the end.
    const pending: { readonly call: number; readonly parent: number }[] = [];
    const push = (caller: number, parent: number): void => {
      const callees = this.#sorted(this.#callees.get(caller) ?? []);
      for (let nth = callees.length - 1; nth >= 0; nth--) pending.push({ call: callees[nth], parent });
    };
    push(-1, -1);
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { call, parent } = next;
      const depth = parent < 0 ? 0 : rows[parent].depth + 1;
      const [total, self] = [this.#weights.total(call), this.#weights.self(call)];
      rows.push({ parent, depth, label: this.#labelOf(call), total, self, omitted: this.#omittedAt(call) });
      push(call, rows.length - 1);
    }
    return { rows, omitted: this.#omittedAt(-1) };
  }

  #sorted(calls: readonly number[]): readonly number[] {
    if (calls.length < 2) return calls;
    const keyed = calls.map((call) => ({ call, weight: this.#order.weight(this.#weights.total(call)), ...this.#labelOf(call) }));
    const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
    keyed.sort((a, b) => b.weight - a.weight || compare(a.name, b.name) || compare(a.dso, b.dso) || Number(a.isInlined) - Number(b.isInlined));
    return keyed.map(({ call }) => call);
  }

  #omit(call: number, caller: number): void {
    const index = this.#omittedOf.get(caller) ?? this.#omitted.push({ calls: 0, samples: 0, largest: 0 }) - 1;
    this.#omittedOf.set(caller, index);
    const total = this.#weights.total(call);
    this.#omittedPeriods.add(index, total.period, total.periodRemainder);
    const omitted = this.#omitted[index];
    omitted.calls++;
    omitted.samples += total.samples;
    omitted.largest = Math.max(omitted.largest, this.#order.weight(total));
  }

  #omittedAt(caller: number): OmittedCalls | undefined {
    const index = this.#omittedOf.get(caller);
    if (index === undefined) return undefined;
    const { calls, samples, largest } = this.#omitted[index];
    const [period, periodRemainder] = [this.#omittedPeriods.value(index), this.#omittedPeriods.remainder(index)];
    return { calls, samples, period, periodRemainder, areSmall: percentOf(largest, this.#sum) < this.#order.percentLimit };
  }
}
