import { expect, test } from 'vitest';
import { EntryWalk } from '../../../src/unwind/modules/entry-walk.ts';

const ENTRY = 0x1000;

test('misses addresses without an instruction, as far as it has read', () => {
  const walk = new EntryWalk(ENTRY);
  for (const svma of [0x1000, 0x1001, 0x1005, 0x1400]) walk.add(svma, true);
  const missed = [0x1000, 0x1001, 0x1002, 0x1004, 0x1005, 0x13ff, 0x1400, 0x1401].filter((svma) => walk.misses(svma));
  expect(missed).toEqual([0x1002, 0x1004, 0x13ff]);
});

test('keeps what it knows when code is read again', () => {
  const walk = new EntryWalk(ENTRY);
  for (const svma of [0x1000, 0x1005, 0x1000]) walk.add(svma, true);
  expect([0x1003, 0x1005].map((svma) => walk.misses(svma))).toEqual([true, false]);
  for (const svma of [0x1005, 0x1007]) walk.add(svma, true);
  expect([0x1005, 0x1006, 0x1007].map((svma) => walk.misses(svma))).toEqual([false, true, false]);
});

test('misses everything after the place where reading ends for good', () => {
  const walk = new EntryWalk(ENTRY);
  walk.add(0x1000, true);
  walk.stop = 0x1004;
  expect([0x1004, 0x1005, 0x2000].map((svma) => walk.misses(svma))).toEqual([false, true, true]);
});

test('tells what is certain to be inside the function', () => {
  const walk = new EntryWalk(ENTRY);
  for (const [svma, isInner] of [
    [0x1000, true],
    [0x1005, true],
    [0x1006, false],
    [0x1400, true],
  ] as const)
    walk.add(svma, isInner);
  const inner = [0xfff, 0x1000, 0x1001, 0x1005, 0x1006, 0x13ff, 0x1400, 0x1401, 0x9000].filter((svma) => walk.isInner(svma));
  expect(inner).toEqual([0x1005, 0x1400]);
});
