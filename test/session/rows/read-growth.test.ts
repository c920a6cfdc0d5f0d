import { expect, test } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { ReadGrowth } from '../../../src/session/rows/read-growth.ts';

test('the memory for last values follows the number of threads and counters', () => {
  const growth = new ReadGrowth(false, new Diagnostics());
  const take = (thread: number, low: number): number[] => {
    const read = { kind: 'read', event: 0, thread, fileOffset: 0, events: [0, 1], ids: [1, 2], highs: [0, 0], lows: [low, low] } as const;
    growth.measure(read, { period: 7, periodRemainder: 0 });
    return [...growth.periods];
  };
  expect(growth.heldObjectBytes).toBe(0);
  expect([take(7, 5), take(7, 9)]).toEqual([
    [5, 5],
    [4, 4],
  ]);
  const ofThread = growth.heldObjectBytes;
  expect(ofThread).toBeGreaterThan(0);
  // Another thread that now has the number.
  expect(take(7, 3)).toEqual([3, 3]);
  expect(growth.heldObjectBytes).toBe(ofThread);
  for (let thread = 8; thread < 17; thread++) take(thread, 1);
  expect(growth.heldObjectBytes).toBe(10 * ofThread);
});

test('the period of a sample stays that of its own event if that is asked for', () => {
  const growth = new ReadGrowth(true, new Diagnostics());
  const measured = (low: number) => {
    const read = { kind: 'read', event: 1, thread: -1, fileOffset: 0, events: [0, 1], ids: [1, 2], highs: [0, 0], lows: [low, low] } as const;
    const count = growth.measure(read, { period: 7, periodRemainder: 1 });
    const { events, periods, periodRemainders } = growth;
    return Array.from({ length: count }, (_, i) => [events[i], periods[i], periodRemainders[i]]);
  };
  expect([measured(5), measured(5)]).toEqual([
    [
      [1, 7, 1],
      [0, 5, 0],
    ],
    [[1, 7, 1]],
  ]);
});
