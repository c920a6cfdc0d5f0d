import { expect, test } from 'vitest';
import { FIXTURE_SYMBOLS, FixtureSymbolFiles } from './fixture-symbols.ts';

const files = new FixtureSymbolFiles();

test('the shipped symbols are there', async () => {
  expect(await files.open(String(FIXTURE_SYMBOLS.kallsyms))).toMatchObject({ name: '/kallsyms' });
  expect((await files.open(`${FIXTURE_SYMBOLS.symfs}/opt/perfconv-fixtures/bin/tree`))?.sizeBytes).toBeGreaterThan(1000);
});

test('no other file of the machine is there', async () => {
  for (const path of ['/etc/hosts', '/proc/kallsyms', '/../package.json', '../package.json', '/symfs/../../package.json', '/symfs', '/']) {
    expect(await files.open(path)).toBeUndefined();
  }
  expect([await files.ownVdso(), await files.runningKernel(), files.defaultBuildIdDir()]).toEqual([undefined, undefined, undefined]);
});
