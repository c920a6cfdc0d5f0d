import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repeatedBytes } from '../../src/jitdump/repeated-bytes.ts';

describe('repeatedBytes', () => {
  it('is the length of the longest end with which the other begins', () => {
    const bytes = fc.uint8Array({ max: 2, maxLength: 30 });
    fc.assert(
      fc.property(bytes, bytes, (before, after) => {
        const lengths = Array.from({ length: Math.min(before.length, after.length) + 1 }, (_, length) => length);
        const isRepeated = (length: number): boolean => after.subarray(0, length).every((byte, i) => byte === before[before.length - length + i]);
        expect(repeatedBytes(before, after)).toBe(Math.max(...lengths.filter(isRepeated)));
      }),
    );
  });
});
