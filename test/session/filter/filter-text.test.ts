import { expect, test } from 'vitest';
import type { SampleFilter } from '../../../src/session/filter/filter.ts';
import { filterText } from '../../../src/session/filter/filter-text.ts';
import { parseTimeRanges } from '../../../src/session/filter/time-ranges.ts';

test.each<[SampleFilter, string]>([
  [{}, ''],
  [{ events: ['cycles:u'], pids: [12], tids: [-1], comms: ['nginx', 'my app'], cpus: [0] }, 'event cycles:u, pid 12, tid -1, comm nginx or my app, cpu 0'],
  [{ cpus: [9, 3, 1, 2, 2] }, 'cpu 1-3 or 9'],
  [{ cpus: [-1, 0, 1] }, 'cpu -1 or 0-1'],
])('the filter %o is written as %s', (filter, text) => {
  expect(filterText(filter)).toBe(text);
});

test.each([
  [{}, 1, 'without 1 truncated stack'],
  [{ pids: [12] }, 2, 'pid 12, without 2 truncated stacks'],
])('the filter %o after which %i samples were dropped is written as %s', (filter, cutCount, text) => {
  expect(filterText(filter, cutCount)).toBe(text);
});

test.each([
  ['12.5,13', 'time 12.5,13'],
  ['100,', 'time 100,'],
  [',0.000000001 3,4.05', 'time ,0.000000001 or 3,4.05'],
  ['+1,+2.50', 'time +1,+2.5'],
  ['10%-20%', 'time 10%-20%'],
  ['10%/2,33.3%/3', 'time 10%-20% or 66.6%-99.9%'],
])('the time range %s is written as %s', (range, text) => {
  expect(filterText({ times: parseTimeRanges(range, 'time') })).toBe(text);
});
