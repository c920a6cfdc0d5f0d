import { afterEach, expect, it, vi } from 'vitest';
import { PeriodRemainders } from '../../../src/session/rows/period-remainders.ts';

afterEach(() => vi.unstubAllGlobals());

it('gives each remainder once, in any order', () => {
  const remainders = new PeriodRemainders();
  for (const nr of [0, 5, 70_000, 5_000_000_000]) remainders.put(nr, 1);
  expect([70_000, 6, 5_000_000_000, 5_000_000_001].map((nr) => remainders.take(nr))).toEqual([1, 0, 1, 0]);
  expect(remainders.take(70_000)).toBe(0);
  expect([remainders.isEmpty, remainders.heldObjectBytes > 0]).toEqual([false, true]);
  expect([remainders.take(0), remainders.take(5)]).toEqual([1, 1]);
  expect([remainders.isEmpty, remainders.heldObjectBytes]).toEqual([true, 0]);
});

it('holds the remainders of more records than fit into one map', () => {
  // V8's limit is 2^24, which takes a gigabyte to reach.
  class SmallMap<K, V> extends Map<K, V> {
    override set(key: K, value: V): this {
      if (this.size >= 1 << 17) throw new RangeError('Map maximum size exceeded');
      return super.set(key, value);
    }
  }
  vi.stubGlobal('Map', SmallMap);
  const remainders = new PeriodRemainders();
  const count = 300_000;
  for (let nr = 0; nr < count; nr++) remainders.put(nr, 1);
  let sum = 0;
  for (let nr = count - 1; nr >= 0; nr--) sum += remainders.take(nr);
  expect([sum, remainders.isEmpty]).toEqual([count, true]);
});
