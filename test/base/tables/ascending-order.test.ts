import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ascendingOrder, placesIn } from '../../../src/base/tables/ascending-order.ts';

describe('the ascending order', () => {
  it.each<[string, number[], number[]]>([
    ['no keys', [], []],
    ['sorted keys', [-3, 0, 0, 7], [0, 1, 2, 3]],
    ['equal keys among others', [5, 1, 5, 1], [1, 3, 0, 2]],
    ['keys too far apart to be packed with their index', [2 ** 53, -(2 ** 53), 0, -(2 ** 53)], [1, 3, 2, 0]],
  ])('is right for %s', (_, keys, order) => {
    expect([...ascendingOrder(Float64Array.from(keys))]).toEqual(order);
  });

  it('is that of a stable sort', () => {
    const key = fc.oneof(fc.integer({ min: -4, max: 4 }), fc.maxSafeInteger());
    fc.assert(
      fc.property(fc.array(key, { maxLength: 40 }), (keys) => {
        const expected = keys.map((_, i) => i).sort((a, b) => keys[a] - keys[b]);
        expect([...ascendingOrder(Float64Array.from(keys))]).toEqual(expected);
      }),
    );
  });
});

it('the places in an order are those at which it has each index', () => {
  expect([...placesIn([2, 0, 3, 1])]).toEqual([1, 3, 0, 2]);
  fc.assert(
    fc.property(fc.array(fc.integer(), { maxLength: 40 }), (keys) => {
      const order = ascendingOrder(Float64Array.from(keys));
      expect([...placesIn(placesIn(order))]).toEqual([...order]);
    }),
  );
});
