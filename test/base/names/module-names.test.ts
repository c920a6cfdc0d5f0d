import { expect, test } from 'vitest';
import { bracketedModuleName, isModulePath, moduleNameOf } from '../../../src/base/names/module-names.ts';

test.each([
  ['[nf_tables]', 'nf_tables'],
  ['/lib/modules/6.1.0/kernel/net/nf-tables.ko.xz', 'nf_tables'],
  ['nf-tables.ko', 'nf_tables'],
  ['nf_tables', 'nf_tables'],
])('the name %s means the module %s', (name, module) => {
  expect(moduleNameOf(name)).toBe(module);
});

test.each([
  ['/lib/modules/6.1.0/nf-tables.ko.zst', '[nf_tables]'],
  ['/lib/modules/6.1.0/a.ko.ko', '[a.ko]'],
  ['/lib/modules/6.1.0/.ko', undefined],
  ['/lib/modules/6.1.0/nf-tables.ko.bz2', undefined],
  ['/usr/lib/libc.so.6', undefined],
])('the file %s is of the module %s', (path, name) => {
  expect(bracketedModuleName(path)).toBe(name);
});

test('only a whole path is one of a module', () => {
  expect(['/lib/nf-tables.ko.gz', 'nf-tables.ko', '/lib/nf-tables'].map(isModulePath)).toEqual([true, false, false]);
});
