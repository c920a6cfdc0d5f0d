import { expect, it } from 'vitest';
import { SampleRow, SampleTable } from '../../src/profile/sample-table.ts';
import { groupSamples, sortByTime } from '../../src/writers/sample-groups.ts';

it('samples that lie in another order than that of time are put into it, each group by itself', () => {
  const samples = new SampleTable();
  const times = [30, 10, Number.NaN, 20, 10, 5];
  times.forEach((timeNs, row) => {
    samples.add(Object.assign(new SampleRow(), { timeNs, event: 0, task: row === 5 ? 1 : 0, cpu: 0, period: 1 }));
  });
  const groups = groupSamples(samples, (row) => samples.task[row]);
  sortByTime(groups, samples);
  // Row 2 has no time, and stays behind row 1; rows 1 and 4 have the same.
  expect(groups.map(({ rows }) => [...rows])).toEqual([[1, 2, 4, 3, 0], [5]]);
});
