import { expect, test } from 'vitest';
import { percentText } from '../../src/writers/percent.ts';

// Expected: printf "%.2f" of a C library.
test.each([
  [3.125, '3.12'],
  [3.375, '3.38'],
  [3.625, '3.62'],
  [3.875, '3.88'],
  [0.125, '0.12'],
  [99.875, '99.88'],
  [3.13, '3.13'],
  [3.25, '3.25'],
  [0, '0.00'],
  [100, '100.00'],
])('%d percent is written as %s', (percent, text) => {
  expect(percentText(percent)).toBe(text);
});
