import { expect, test } from 'vitest';
import { RuleRanges } from '../../../src/unwind/rules/rule-ranges.ts';

test('addresses have the rule of the row that they are in, which does not include its end', () => {
  const ranges = new RuleRanges();
  ranges.add(3, 0x100, 0x110, 7);
  ranges.add(3, 0x120, 0x130, 8);
  expect([0xff, 0x100, 0x10f, 0x110, 0x12f].map((svma) => ranges.find(3, svma))).toEqual([undefined, 7, 7, undefined, 8]);
  expect([2, 4, -1].map((fde) => ranges.find(fde, 0x100))).toEqual([undefined, undefined, undefined]);
});

test('no ranges are left after they are cleared', () => {
  const ranges = new RuleRanges();
  ranges.add(0, 0, 8, 1);
  ranges.clear();
  expect(ranges.find(0, 4)).toBe(undefined);
  ranges.add(0, 0, 8, 2);
  expect(ranges.find(0, 4)).toBe(2);
});

test('only the first rows of an FDE with very many rows are remembered', () => {
  const ranges = new RuleRanges();
  for (let i = 0; i < 100; i++) ranges.add(5, 8 * i, 8 * i + 8, i);
  expect([0, 63, 64, 99].map((i) => ranges.find(5, 8 * i))).toEqual([0, 63, undefined, undefined]);
  ranges.clear();
  ranges.add(5, 0x8000, 0x8008, 1);
  expect(ranges.find(5, 0x8000)).toBe(1);
});

test('only the first million rows of very many FDEs are remembered', () => {
  const ranges = new RuleRanges();
  const count = 1 << 20;
  for (let i = 0; i < count + 8; i++) ranges.add(i >> 4, 8 * i, 8 * i + 8, i);
  expect([0, count - 1, count, count + 7].map((i) => ranges.find(i >> 4, 8 * i))).toEqual([0, count - 1, undefined, undefined]);
  // Rows without addresses do not count.
  ranges.clear();
  for (let i = 0; i < count; i++) ranges.add(0, 8, 8, 1);
  ranges.add(0, 8, 16, 2);
  expect(ranges.find(0, 8)).toBe(2);
});
