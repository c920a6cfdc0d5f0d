import { expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/diagnostics.ts';
import { ReadGrowth } from '../../src/session/read-growth.ts';

test('what last values take follows the number of threads and counters', () => {
  const growth = new ReadGrowth(new Diagnostics());
  const take = (thread: number, low: number): number[] => {
    const periods: number[] = [];
    const read = { kind: 'read', event: 0, thread, fileOffset: 0, events: [0, 1], ids: [1, 2], highs: [0, 0], lows: [low, low] } as const;
    growth.take(read, { period: -1, remainder: 0 }, (_, period) => periods.push(period));
    return periods;
  };
  expect(growth.heldObjectBytes).toBe(0);
  expect([take(7, 5), take(7, 9)]).toEqual([
    [5, 5],
    [4, 4],
  ]);
  const ofThread = growth.heldObjectBytes;
  expect(ofThread).toBeGreaterThan(0);
  // Another thread that has the number now.
  expect(take(7, 3)).toEqual([3, 3]);
  expect(growth.heldObjectBytes).toBe(ofThread);
  for (let thread = 8; thread < 17; thread++) take(thread, 1);
  expect(growth.heldObjectBytes).toBe(10 * ofThread);
});
