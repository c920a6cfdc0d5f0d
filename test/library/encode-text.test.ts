import { expect, test } from 'vitest';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import { encodeText } from '../../src/index.ts';

test('a text is encoded with the bytes that are not UTF-8', () => {
  expect([...encodeText('a\udcffä')]).toEqual([0x61, 0xff, 0xc3, 0xa4]);
});

test.each([1, undefined, null, ['a']])('what is not a text is refused: %s', (text) => {
  const message = `the text to encode is of type ${typeof text}: expected a string`;
  expect(() => encodeText(text as unknown as string)).toThrow(new PerfconvError('usage', message));
});
