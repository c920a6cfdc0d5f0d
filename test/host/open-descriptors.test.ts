import { expect, test } from 'vitest';
import { OpenDescriptors } from '../../src/host/system/open-descriptors.ts';

/** A limited number of descriptors, and files that hold them. */
function few(available: number, most: number) {
  const held = new OpenDescriptors(most);
  let free = available;
  const suspended: string[] = [];
  const take = (): void => {
    if (free === 0) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    free--;
  };
  const open = (name: string) => {
    held.opening(take);
    const file = {
      suspend: (): void => {
        suspended.push(name);
        free++;
      },
    };
    held.use(file);
    return file;
  };
  return { held, open, suspended, free: () => free };
}

test('if too many files are open, the least recently read one is closed', () => {
  const { held, open, suspended } = few(10, 2);
  const a = open('a');
  open('b');
  held.use(a);
  open('c');
  expect(suspended).toEqual(['b']);
});

test('if no descriptors are left, half of the files are closed, and some descriptors stay free for others', () => {
  const { open, suspended, free } = few(4, 100);
  for (const name of 'abcdefgh') open(name);
  expect(suspended).toEqual([...'abcdef']);
  expect(free()).toBe(2);
});

test('if others hold all descriptors, that is an error', () => {
  expect(() => few(0, 10).open('a')).toThrow('too many open files');
});

test('a file that was closed permanently is not closed again', () => {
  const { held, open, suspended } = few(10, 1);
  held.forget(open('a'));
  open('b');
  expect(suspended).toEqual([]);
});
