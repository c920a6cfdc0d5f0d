import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { XzStreamEnds } from '../../src/unwrap/xz-ends.ts';

const packed = (name: string): Buffer => readFileSync(new URL(`../host/packed/${name}`, import.meta.url));
const first = packed('words-first.xz');
const rest = packed('words-rest.xz');

test('an xz stream ends at its footer, however the footer is divided', () => {
  const bytes = Buffer.concat([first, rest]);
  for (let cut = first.length - 14; cut < first.length; cut++) {
    const ends = new XzStreamEnds();
    expect([ends.push(bytes.subarray(0, cut)), ends.push(bytes.subarray(cut)), ends.isPastEnd], `cut at ${cut}`).toEqual([cut, first.length - cut, false]);
    expect(ends.push(rest)).toBe(rest.length);
    expect(ends.isPastEnd).toBe(false);
  }
});

test('an xz stream may be followed by padding and another one, not by anything else', () => {
  const isPastEnd = (...following: readonly number[]): boolean => {
    const ends = new XzStreamEnds();
    ends.push(first);
    ends.push(Uint8Array.from(following));
    return ends.isPastEnd;
  };
  expect(isPastEnd(0, 0, 0, 0)).toBe(false);
  expect(isPastEnd(0, 0, 0, 0, ...rest.subarray(0, 20))).toBe(false);
  expect(isPastEnd(0, 0, 0, 0, 0x50, 0x4b)).toBe(true);
  expect(isPastEnd(...rest.subarray(0, 5), 1)).toBe(true);
});

test('two letters of a footer are not one', () => {
  const ends = new XzStreamEnds();
  const changed = new Uint8Array(first);
  changed[first.length - 12] ^= 1;
  expect(ends.push(changed)).toBe(first.length);
  ends.push(Uint8Array.of(1, 2, 3));
  expect(ends.isPastEnd).toBe(false);
});
