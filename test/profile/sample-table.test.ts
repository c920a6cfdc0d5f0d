import { expect, it } from 'vitest';
import { SampleRow, SampleTable } from '../../src/profile/sample-table.ts';

it('SampleTable keeps the events of samples even if there are more than 16 bits can number, and while it grows', () => {
  const table = new SampleTable();
  const sample = new SampleRow();
  for (let row = 0; row < 5000; row++) {
    sample.event = 65_535 + (row % 3);
    table.add(sample);
  }
  expect([...table.event.subarray(0, 3)]).toEqual([65_535, 65_536, 65_537]);
  expect([...table.event.subarray(4998, 5000)]).toEqual([65_535, 65_536]);
});
