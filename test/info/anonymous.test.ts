import { expect, test } from 'vitest';
import { withoutHome, withoutHomes } from '../../src/info/anonymous.ts';

test.each([
  ['/home/jane/app', '~/app'],
  ['/home/jane', '~'],
  ['/home/jane doe/my app', '~/my app'],
  ['/Users/jane/app', '~/app'],
  ['/usr/local/google/home/jane/app', '~/app'],
  ['/export/home/jane/app', '~/app'],
  ['/root/app', '~/app'],
  ['/root', '~'],
  ['/rootfs/app', '/rootfs/app'],
  ['/usr/lib/home.so', '/usr/lib/home.so'],
  ['/home', '/home'],
  ['[kernel.kallsyms]', '[kernel.kallsyms]'],
])('%s becomes %s', (path, without) => expect(withoutHome(path)).toBe(without));

test('paths in a sentence are shortened, too', () => {
  expect(withoutHomes('no symbols for /home/jane/app and /usr/lib/x.so (12 of 13), /root/y')).toBe('no symbols for ~/app and /usr/lib/x.so (12 of 13), ~/y');
});

test('a path with many parts does not take long', () => {
  const path = '/a'.repeat(50_000);
  expect(withoutHomes(path)).toBe(path);
});
