import { expect, test } from 'vitest';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { BoundedBytes } from '../../../src/base/streams/bounded-bytes.ts';

test('pieces are put together, up to the allowed size', () => {
  const whole = new BoundedBytes('gzip', 100_000);
  whole.push(new Uint8Array(60_000).fill(1));
  whole.push(new Uint8Array(40_000).fill(2));
  expect(whole.bytes()).toEqual(new Uint8Array(100_000).fill(1, 0, 60_000).fill(2, 60_000));
  expect(() => whole.push(Uint8Array.of(3))).toThrow('the gzip data unpacks to more than 100000 bytes');
});

test('what does not fit in memory is a PerfconvError', () => {
  const whole = new BoundedBytes('gzip', Number.MAX_SAFE_INTEGER);
  // No piece is as large, but many of them are.
  const pieces = { length: 2 ** 50 } as Uint8Array;
  expect(() => whole.push(pieces)).toThrow(PerfconvError);
});
