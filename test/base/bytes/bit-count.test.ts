import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bitCount } from '../../../src/base/bytes/bit-count.ts';

test('counts the bits of signed and unsigned words', () => {
  fc.assert(
    fc.property(fc.integer(), (word) => {
      const ones = (word >>> 0).toString(2).replaceAll('0', '').length;
      expect([bitCount(word), bitCount(word >>> 0)]).toEqual([ones, ones]);
    }),
  );
});
