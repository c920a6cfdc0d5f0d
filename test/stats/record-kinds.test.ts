import { expect, test } from 'vitest';
import { RecordCounts } from '../../src/session/reading/record-counts.ts';
import { recordKinds } from '../../src/stats/record-kinds.ts';

const READPERF_ORDER = ['MMAP', 'LOST', 'COMM', 'EXIT', 'THROTTLE', 'UNTHROTTLE', 'FORK', 'READ', 'SAMPLE', 'unknown'];

test('an empty recording has readperf’s ten rows, all 0', () => {
  expect(recordKinds(new RecordCounts())).toEqual(READPERF_ORDER.map((record) => ({ record, count: 0 })));
});

test('readperf’s rows come first in its order, then newer kinds that occur; types without a name are one row', () => {
  const counts = new RecordCounts();
  for (const type of [68, 10, 9, 9, 9, 1, 3, 3, 40, 40, 200, 32_900, 10, 64]) counts.add(type);
  const kinds = recordKinds(counts);
  expect(kinds.slice(0, 10).map(({ record }) => record)).toEqual(READPERF_ORDER);
  expect(Object.fromEntries(kinds.slice(0, 10).map(({ record, count }) => [record, count]))).toMatchObject({
    MMAP: 1,
    LOST: 0,
    COMM: 2,
    SAMPLE: 3,
    unknown: 4,
  });
  expect(kinds.slice(10)).toEqual([
    { record: 'MMAP2', count: 2 },
    { record: 'ATTR', count: 1 },
    { record: 'FINISHED_ROUND', count: 1 },
  ]);
  expect(kinds.reduce((sum, { count }) => sum + count, 0)).toBe(counts.total);
});
