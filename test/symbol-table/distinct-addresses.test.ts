import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DistinctAddresses } from '../../src/symbol-table/distinct-addresses.ts';

/** Each address, with the indexes of the given ones that are equal to it. */
function groupsOf({ addresses, order, firsts }: DistinctAddresses): [number, number[]][] {
  return Array.from(addresses, (address, i): [number, number[]] => [address, [...order.subarray(firsts[i], firsts[i + 1])]]);
}

describe('distinct addresses', () => {
  it('are ascending, each with the given ones that are equal to it, in their order', () => {
    expect(groupsOf(new DistinctAddresses(Float64Array.of(50, 10, Number.NaN, 30, 10, 50, 50)))).toEqual([
      [10, [1, 4]],
      [30, [3]],
      [50, [0, 5, 6]],
    ]);
  });

  it('are none if none was given', () => {
    expect(groupsOf(new DistinctAddresses(new Float64Array()))).toEqual([]);
    expect(groupsOf(new DistinctAddresses(Float64Array.of(Number.NaN)))).toEqual([]);
  });

  it('are what a Map would make of any addresses', () => {
    const anyAddress = fc.oneof(fc.integer({ min: -4, max: 4 }), fc.maxSafeInteger(), fc.constant(Number.NaN));
    fc.assert(
      fc.property(fc.array(anyAddress), (given) => {
        const groups = new Map<number, number[]>();
        given.forEach((address, i) => {
          if (!Number.isNaN(address)) groups.set(address, [...(groups.get(address) ?? []), i]);
        });
        expect(groupsOf(new DistinctAddresses(Float64Array.from(given)))).toEqual([...groups].sort(([a], [b]) => a - b));
      }),
    );
  });
});
