import { expect, test } from 'vitest';
import { LastList } from '../../../src/symbolizer/kernel/last-list.ts';

const LIST = new TextEncoder().encode('ffffffff81000000 T _text\nffffffff81000100 T schedule\n');

test('a kernel list is read once for consecutive recordings', async () => {
  const lists = new LastList();
  const read: string[] = [];
  const open = async (path: string): Promise<Uint8Array> => {
    read.push(path);
    return LIST;
  };
  const first = await lists.at('/proc/kallsyms', open);
  expect(first?.addressOf('schedule')).toBe(0x81000100 - 2 ** 32);
  expect(await lists.at('/proc/kallsyms', open)).toBe(first);
  await lists.at('/kcore/kallsyms', open);
  expect(await lists.at('/proc/kallsyms', open)).not.toBe(first);
  expect(read).toEqual(['/proc/kallsyms', '/kcore/kallsyms', '/proc/kallsyms']);
});

test('a missing kernel list is asked for again', async () => {
  const lists = new LastList();
  expect(await lists.at('/proc/kallsyms', async () => undefined)).toBeUndefined();
  await expect(lists.at('/proc/kallsyms', async () => Promise.reject(new Error('too many open files')))).rejects.toThrow('too many open files');
  expect((await lists.at('/proc/kallsyms', async () => LIST))?.hiddenCount).toBe(0);
});
