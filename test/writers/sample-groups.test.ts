import { expect, it } from 'vitest';
import { SampleTable } from '../../src/profile/tables.ts';
import { groupSamples, sortByTime } from '../../src/writers/sample-groups.ts';

it('samples that lie in another order than that of time are put into it, each group by itself', () => {
  const samples = new SampleTable();
  const times = [30, 10, Number.NaN, 20, 10, 5];
  times.forEach((timeNs, row) => {
    samples.add(timeNs, 0, row === 5 ? 1 : 0, 0, -1, 1, 0, 0, -1);
  });
  const groups = groupSamples(samples, (row) => samples.task[row]);
  sortByTime(groups, samples);
  // Row 2 has no time, and stays behind row 1; rows 1 and 4 have the same.
  expect(groups.map(({ rows }) => [...rows])).toEqual([[1, 2, 4, 3, 0], [5]]);
});
