import { expect, it } from 'vitest';
import { SampleRow, SampleTable } from '../../src/profile/sample-table.ts';
import { groupSamples, sortByTime } from '../../src/writers/sample-groups.ts';

it('sample groups: the rows of each group are sorted by time', () => {
  const samples = new SampleTable();
  const times = [30, 10, Number.NaN, 20, 10, 5];
  times.forEach((timeNs, row) => {
    samples.add(Object.assign(new SampleRow(), { timeNs, event: 0, task: row === 5 ? 1 : 0, cpu: 0, period: 1 }));
  });
  const groups = groupSamples(samples, (row) => samples.task[row]);
  sortByTime(groups, samples);
  // Row 2 has no time and stays after row 1; rows 1 and 4 have the same time.
  expect(groups.map(({ rows }) => [...rows])).toEqual([[1, 2, 4, 3, 0], [5]]);
});
