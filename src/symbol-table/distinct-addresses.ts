import { ascendingOrder } from '../base/tables/ascending-order.ts';

/**
 * Addresses sorted and without repetitions, as `SourceLines` expects them, and how to get back to the given addresses: `given[order[nth]]`
 * is `addresses[i]` for each `nth` from `firsts[i]` up to, but not including, `firsts[i + 1]`.
 */
export class DistinctAddresses {
  /** Ascending, without repetitions. */
  readonly addresses: Float64Array;
  /** Indexes into the given addresses, sorted by address; equal addresses keep their order. */
  readonly order: Uint32Array;
  /** For each address, the index in {@link order} of its first occurrence; at the end, the length of {@link order}. */
  readonly firsts: Uint32Array;

  /** @param given in any order, with any repetitions; NaN is left out */
  constructor(given: Float64Array) {
    const rows = new Uint32Array(given.length);
    const keys = new Float64Array(given.length);
    let known = 0;
    for (let i = 0; i < given.length; i++) {
      if (Number.isNaN(given[i])) continue;
      rows[known] = i;
      keys[known++] = given[i];
    }
    const order = ascendingOrder(keys.subarray(0, known));
    const addresses = new Float64Array(known);
    const firsts = new Uint32Array(known + 1);
    let count = 0;
    for (let nth = 0; nth < known; nth++) {
      const address = keys[order[nth]];
      order[nth] = rows[order[nth]];
      if (count > 0 && addresses[count - 1] === address) continue;
      firsts[count] = nth;
      addresses[count++] = address;
    }
    firsts[count] = known;
    this.addresses = addresses.subarray(0, count);
    this.order = order;
    this.firsts = firsts.subarray(0, count + 1);
  }
}
