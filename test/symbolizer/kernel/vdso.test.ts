import { beforeEach, describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { readElfSymbols } from '../../../src/elf/symbols/elf-symbols.ts';
import type { CodeObject } from '../../../src/symbolizer/inputs/code-object.ts';
import { SymbolSearch } from '../../../src/symbolizer/inputs/search-log.ts';
import { findVdso, type VdsoSearch } from '../../../src/symbolizer/kernel/vdso.ts';
import { CheckedFiles } from '../../../src/symbolizer/search/checked-files.ts';
import { Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { buildElf, type ElfPlan, TEXT } from '../../support/builders/elf/elf-builder.ts';
import { ServedFiles } from '../../support/programs/served-symbol-files.ts';

const ID = 'aa11111111111111111111111111111111111111';
const OTHER_ID = 'bb22222222222222222222222222222222222222';
const INSTALLED = '/lib/modules/6.1.0/vdso/vdso64.so';

let files: ServedFiles;
let diagnostics: Diagnostics;
beforeEach(() => {
  files = new ServedFiles();
  diagnostics = new Diagnostics();
});

function vdso(name: string, more: Partial<ElfPlan> = {}): Buffer {
  return buildElf({ classBits: 64, littleEndian: true, buildId: ID, symbols: [{ name, value: TEXT.vaddr, sizeBytes: 64 }], ...more });
}

async function nameOf(wanted: Partial<VdsoSearch>): Promise<string | undefined> {
  const checked = new CheckedFiles(files, new SymbolSearch(), diagnostics);
  const dirs = { debugDirs: ['/usr/lib/debug'], buildIdDir: '/home/u/.debug' };
  const found = await findVdso(checked, files, { name: '[vdso]', buildId: ID, osRelease: '6.1.0', wantsLines: false, compatPerf: false, dirs, ...wanted });
  const table = found?.symbols && (await readElfSymbols(found.symbols, found.runtime, { compatPerf: false }));
  await checked.close();
  expect(files.openCount).toBe(0);
  return table?.name(table.find(TEXT.offset));
}

describe('the vdso', () => {
  it.each([
    '/home/u/.debug/.build-id/aa/11111111111111111111111111111111111111/vdso',
    '/home/u/.debug/.build-id/aa/11111111111111111111111111111111111111',
    INSTALLED,
    '/lib/modules/6.1.0/vdso/vdso.so',
    `/usr/lib/debug${INSTALLED}`,
    `/usr/lib/debug${INSTALLED}.debug`,
    '/usr/lib/debug/.build-id/aa/11111111111111111111111111111111111111.debug',
  ])('is found by its build id at %s', async (place) => {
    files.content.set(place, vdso('found'));
    expect(await nameOf({})).toBe('found');
    files.content.set(place, vdso('wrong', { buildId: OTHER_ID }));
    expect(await nameOf({})).toBeUndefined();
  });

  it('without a build id is found by the release of its kernel', async () => {
    files.content.set(INSTALLED, vdso('found'));
    expect(await nameOf({ buildId: '' })).toBe('found');
    expect(await nameOf({ buildId: '', osRelease: '6.2.0' })).toBeUndefined();
    expect(await nameOf({ buildId: '', osRelease: '' })).toBeUndefined();
    expect(await nameOf({ buildId: '', dirs: { debugDirs: [], symfs: '/mnt' } })).toBeUndefined();
    files.content.set(`/mnt${INSTALLED}`, vdso('target'));
    expect(await nameOf({ buildId: '', dirs: { debugDirs: [], symfs: '/mnt' } })).toBe('target');
  });

  it('of 32-bit programs is never that of this process', async () => {
    files.vdso = vdso('own');
    files.kernel = { osRelease: '6.1.0', buildId: '' };
    expect(await nameOf({ name: '[vdso32]', buildId: '' })).toBeUndefined();
    files.content.set('/lib/modules/6.1.0/vdso/vdso32.so', vdso('compatible'));
    expect(await nameOf({ name: '[vdso32]', buildId: '' })).toBe('compatible');
    files.vdso = vdso('own', { buildId: OTHER_ID });
    expect(await nameOf({ name: '[vdso]' })).toBe('compatible');
  });

  it('of another kernel than the one here is nothing to warn of', async () => {
    files.vdso = vdso('own', { buildId: OTHER_ID });
    files.content.set(INSTALLED, vdso('installed', { buildId: OTHER_ID }));
    expect(await nameOf({})).toBeUndefined();
    files.content.set(`/usr/lib/debug${INSTALLED}`, vdso('found'));
    expect(await nameOf({})).toBe('found');
    expect(diagnostics.list()).toEqual([]);
  });

  it('of this process gets the names of a file if that has more of them', async () => {
    files.vdso = buildElf({ classBits: 64, littleEndian: true, buildId: ID, dynamicSymbols: [{ name: '__vdso_time', value: TEXT.vaddr, sizeBytes: 64 }] });
    expect(await nameOf({})).toBe('__vdso_time');
    files.content.set(`/usr/lib/debug${INSTALLED}`, vdso('local_one'));
    expect(await nameOf({})).toBe('local_one');
  });

  it('is asked of servers if it is not here, except with compatPerf', async () => {
    files.served.set('executable', vdso('served'));
    expect(await nameOf({ compatPerf: true })).toBeUndefined();
    expect(await nameOf({ buildId: '' })).toBeUndefined();
    expect(files.fetched).toEqual([]);
    expect(await nameOf({})).toBe('served');
    expect(files.fetched).toEqual(['executable']);
    files.content.set(INSTALLED, vdso('installed'));
    expect(await nameOf({})).toBe('installed');
    expect(files.fetched).toEqual(['executable']);
  });

  it('that is in memory is not used with compatPerf if the header lists the build id', async () => {
    files.vdso = vdso('own');
    expect(await nameOf({ isListed: true })).toBe('own');
    expect(await nameOf({ compatPerf: true })).toBe('own');
    expect(await nameOf({ compatPerf: true, isListed: true })).toBeUndefined();
    files.content.set('/home/u/.debug/.build-id/aa/11111111111111111111111111111111111111/vdso', vdso('cached'));
    expect(await nameOf({ compatPerf: true, isListed: true })).toBe('cached');
  });

  it('that is in memory is not used with compatPerf and a symfs', async () => {
    files.vdso = vdso('own');
    const dirs = { debugDirs: [], symfs: '/mnt' };
    expect(await nameOf({ dirs })).toBe('own');
    expect(await nameOf({ dirs, compatPerf: true })).toBeUndefined();
  });

  it('counts as there for perf unless the header lists its build id, and only the build-id cache may have it then', async () => {
    const isThere = (more: Partial<CodeObject> = {}, symfs?: string): Promise<boolean> => {
      const options = { debugDirs: [], compatPerf: true, buildIdDir: '/home/u/.debug', ...(symfs !== undefined && { symfs }) };
      const vdso = { name: '[vdso]', kind: 'vdso', buildId: ID, osRelease: '', ...more } as const;
      return new Symbolizer(files, options, diagnostics).forRecording({}).isThere(vdso);
    };
    expect([await isThere({}, '/'), await isThere({}, '//.')]).toEqual([true, true]);
    expect([await isThere(), await isThere({}, '/mnt'), await isThere({ name: '[vdso32]' }), await isThere({ isListed: true })]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    files.content.set('/home/u/.debug/.build-id/aa/11111111111111111111111111111111111111/vdso', vdso('cached'));
    expect(await isThere({ isListed: true })).toBe(true);
  });
});
