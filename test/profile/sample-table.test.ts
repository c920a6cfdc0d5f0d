import { expect, it } from 'vitest';
import { SampleRow, SampleTable } from '../../src/profile/sample-table.ts';

it('Samples keep their events where a recording has more of them than 16 bits can number, also when the table grows', () => {
  const table = new SampleTable();
  const sample = new SampleRow();
  for (let row = 0; row < 5000; row++) {
    sample.event = 65_535 + (row % 3);
    table.add(sample);
  }
  expect([...table.event.subarray(0, 3)]).toEqual([65_535, 65_536, 65_537]);
  expect([...table.event.subarray(4998, 5000)]).toEqual([65_535, 65_536]);
});
