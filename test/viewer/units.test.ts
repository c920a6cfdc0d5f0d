import { expect, test } from 'vitest';
import { namedWeightText, percentText, timeText, weightText } from '../../viewer/model/units.ts';

test.each([
  [0, '0'],
  [7, '7 ns'],
  [999, '999 ns'],
  [1000, '1.00 µs'],
  [12_345, '12.3 µs'],
  [999_700, '1.00 ms'],
  [1_234_567, '1.23 ms'],
  [9_999_000, '10.0 ms'],
  [99_960_000, '100 ms'],
  [999_499_999, '999 ms'],
  [999_700_000, '1.00 s'],
  [1_500_000_000, '1.50 s'],
  [3_600_000_000_000, '3,600 s'],
])('%d nanoseconds are %s', (ns, text) => {
  expect(timeText(ns)).toBe(text);
});

test.each([
  [0, '0%'],
  [1e-7, '<0.01%'],
  [0.0001, '0.01%'],
  [0.012345, '1.23%'],
  [0.0999, '9.99%'],
  [0.123456, '12.3%'],
  [0.9994, '>99.9%'],
  [0.9989, '99.9%'],
  [1, '100%'],
])('a share of %d is %s', (share, text) => {
  expect(percentText(share * 1000, 1000)).toBe(text);
});

test('a part of nothing is 0%', () => expect(percentText(0, 0)).toBe('0%'));

test('counts have groups of digits, and the name of what is counted where there is room', () => {
  expect(weightText(1_234_567, 'count')).toBe('1,234,567');
  expect(weightText(2 ** 60, 'count')).toBe('1,152,921,504,606,847,000');
  expect(namedWeightText(1_234_567, 'count', 'cycles')).toBe('1,234,567 cycles');
  expect(namedWeightText(1, 'samples', 'cycles')).toBe('1 sample');
  expect(namedWeightText(2e9, 'nanoseconds', 'cpu-clock')).toBe('2.00 s');
});
