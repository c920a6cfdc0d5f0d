import { expect, test } from 'vitest';
import { TextCache } from '../../src/writers/text-cache.ts';

test('text cache: each text is made only once, until they are too long in total', () => {
  const made: number[] = [];
  const cache = new TextCache(
    4,
    (index) => {
      made.push(index);
      return `${index}`.repeat(10);
    },
    35,
  );
  expect([0, 1, 2, 0, 1, 2].map((index) => cache.get(index))).toEqual(['0000000000', '1111111111', '2222222222', '0000000000', '1111111111', '2222222222']);
  expect(made).toEqual([0, 1, 2]);
  // The fourth text exceeds the limit, so all others are dropped.
  expect([3, 3, 1, 3].map((index) => cache.get(index)[0])).toEqual(['3', '3', '1', '3']);
  expect(made).toEqual([0, 1, 2, 3, 1]);
});
