import { expect, test } from 'vitest';
import { SampleOrder } from '../../src/info/sample-order.ts';
import { recordRow } from '../support/builders/recordings/record-row.ts';

/** Times in the order of the file; a sample without a time is delivered at once. */
test.each([
  [[], 0],
  [[1, 2, 3], 0],
  [[2, 2, 2], 0],
  [[1, 3, 2], 1],
  [[3, 1, 2], 1],
  [[3, 2, 1], 2],
  [[5, 6, 7, 1, 2, 3], 3],
  [[Number.NaN, 2, Number.NaN, 1], 1],
])('of samples at %j, this many are before an older one: %i', (times, count) => {
  const order = new SampleOrder();
  const rank = (timeNs: number): number => (Number.isNaN(timeNs) ? 0 : timeNs);
  const inTime = times.map((timeNs, nr) => ({ timeNs, nr })).sort((a, b) => rank(a.timeNs) - rank(b.timeNs) || a.nr - b.nr);
  for (const { timeNs, nr } of inTime) order.sample(recordRow({ nr, timeNs }));
  expect(order.outOfOrder).toBe(count);
  const byDefinition = times.filter((time, i) => times.slice(i + 1).some((later) => later < time));
  expect(byDefinition).toHaveLength(count);
});

test('samples delivered in the order of the file count if they follow a newer one', () => {
  const order = new SampleOrder();
  for (const [nr, timeNs] of [5, 6, Number.NaN, 1, 2, 7].entries()) order.sample(recordRow({ nr, timeNs }));
  expect(order.outOfOrder).toBe(2);
});
