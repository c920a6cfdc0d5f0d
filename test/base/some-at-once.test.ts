import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { someAtOnce } from '../../src/base/some-at-once.ts';

it('works on as many items at a time as are allowed, and gives the results in the order of the items', async () => {
  let busy = 0;
  let most = 0;
  const work = async (item: number): Promise<number> => {
    most = Math.max(most, ++busy);
    for (let turns = 0; turns < 10 - item; turns++) await turn();
    busy--;
    return 2 * item;
  };
  expect(await someAtOnce([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 4, work)).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
  expect(most).toBe(4);
  expect(await someAtOnce([3], 4, work)).toEqual([6]);
  expect(await someAtOnce([], 4, work)).toEqual([]);
});

it.each([1, 2])('fails if the work on one item does, and begins no other after it: %i at a time', async (limit) => {
  const begun: number[] = [];
  const work = async (item: number): Promise<void> => {
    begun.push(item);
    if (item === 2) throw new Error('no 2');
    await turn();
  };
  await expect(someAtOnce([1, 2, 3, 4], limit, work)).rejects.toThrow('no 2');
  await turn();
  expect(begun).toEqual([1, 2]);
});
