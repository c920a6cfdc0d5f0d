import { expect, test } from 'vitest';
import { wordList } from '../../../src/base/text/word-list.ts';

test.each<[string[], number | undefined, string]>([
  [[], undefined, ''],
  [['a'], undefined, 'a'],
  [['a', 'b'], undefined, 'a and b'],
  [['a', 'b', 'c'], undefined, 'a, b and c'],
  [['a', 'b'], 2, 'a and b'],
  [['a', 'b', 'c'], 2, 'a, b and 1 other'],
  [['a', 'b', 'c', 'd'], 2, 'a, b and 2 others'],
])('%j, at most %s of them, are listed as %j', (words, max, text) => {
  expect(wordList(words, max)).toBe(text);
});
