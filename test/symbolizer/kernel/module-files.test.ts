import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { SymbolSearch } from '../../../src/symbolizer/inputs/search-log.ts';
import { ModuleFiles, type ModulePlaces, type RecordedModule } from '../../../src/symbolizer/kernel/module-files.ts';
import { CheckedFiles } from '../../../src/symbolizer/search/checked-files.ts';
import { buildElf } from '../../support/builders/elf/elf-builder.ts';
import { MadeFiles } from '../../support/builders/made-symbol-files.ts';

const ID = 'cc33333333333333333333333333333333333333';
const OTHER_ID = 'bb22222222222222222222222222222222222222';
const RELEASE = '/lib/modules/6.1.0';
const OWN = `${RELEASE}/kernel/net/nf_tables.ko.xz`;
const MODULE: RecordedModule = { name: '[nf_tables]', longName: OWN, buildId: ID, osRelease: '6.1.0' };
/** What the recording says of a module whose file it does not name. */
const UNNAMED: RecordedModule = { name: '[nf_tables]', buildId: ID, osRelease: '6.1.0' };

let files: MadeFiles;
let search: SymbolSearch;
beforeEach(() => {
  files = new MadeFiles();
  search = new SymbolSearch();
});

const moduleFile = (buildId = ID): Buffer => buildElf({ classBits: 64, littleEndian: true, buildId });
const put = (path: string, content: Uint8Array | string): unknown =>
  files.content.set(path, typeof content === 'string' ? new TextEncoder().encode(content) : content);

/** The files that are found, in this order. All others are closed by then, and these afterwards. */
async function found(module: RecordedModule, places: Partial<ModulePlaces> = {}): Promise<string[]> {
  const checked = new CheckedFiles(files, search, new Diagnostics());
  const names: string[] = [];
  for await (const elf of new ModuleFiles(files, { debugDirs: ['/usr/lib/debug'], buildIdDir: '/home/u/.debug', ...places }).find(module, checked)) {
    names.push(elf.source.name);
    expect(files.openCount).toBeLessThanOrEqual(names.length);
  }
  await checked.close();
  expect(files.openCount).toBe(0);
  return names;
}

describe('the file of a module', () => {
  it.each([
    OWN,
    '/home/u/.debug/.build-id/cc/33333333333333333333333333333333333333/elf',
    '/home/u/.debug/.build-id/cc/33333333333333333333333333333333333333/debug',
    `/usr/lib/debug${RELEASE}/kernel/net/nf_tables.ko`,
    `/usr/lib/debug${RELEASE}/kernel/net/nf_tables.ko.debug`,
    `/usr/lib/debug/usr${RELEASE}/kernel/net/nf_tables.ko`,
    '/usr/lib/debug/.build-id/cc/33333333333333333333333333333333333333.debug',
  ])('is found at %s', async (place) => {
    put(place, moduleFile());
    expect(await found(MODULE)).toEqual([place]);
    put(place, moduleFile(OTHER_ID));
    expect(await found(MODULE)).toEqual([]);
  });

  it('of /usr/lib has its debug file below /lib, too', async () => {
    const place = `/usr/lib/debug${RELEASE}/kernel/net/nf_tables.ko`;
    put(place, moduleFile());
    expect(await found({ ...MODULE, longName: `/usr${OWN}`, osRelease: '' })).toEqual([place]);
  });

  it.each(['modules.dep', 'modules.order'])('is found by what %s of the release lists, however its name is spelled', async (list) => {
    for (const root of [RELEASE, `/usr${RELEASE}`, `/usr/lib/debug${RELEASE}`]) {
      files.content.clear();
      put(`${root}/${list}`, 'kernel/net/other.ko: kernel/net/nf-tables.ko\nkernel/net/nf-tables.ko.gz: kernel/lib/libcrc32c.ko\n');
      put(`${root}/kernel/net/nf-tables.ko.gz`, moduleFile());
      expect(await found(UNNAMED)).toEqual([`${root}/kernel/net/nf-tables.ko.gz`]);
      expect(await found({ ...UNNAMED, osRelease: '5.10.0' })).toEqual([]);
    }
  });

  it('that is listed may have its debug file alone', async () => {
    put(`${RELEASE}/modules.dep`, 'kernel/net/nf_tables.ko.zst:\n');
    put(`/usr/lib/debug${RELEASE}/kernel/net/nf_tables.ko.debug`, moduleFile());
    expect(await found(UNNAMED)).toEqual([`/usr/lib/debug${RELEASE}/kernel/net/nf_tables.ko.debug`]);
  });

  it('is looked for at no listed path that leads elsewhere', async () => {
    put(`${RELEASE}/modules.dep`, '/etc/nf_tables.ko:\n../../etc/nf_tables.ko:\nkernel/../../nf_tables.ko:\n');
    await found(UNNAMED);
    expect(files.asked.filter((path) => /etc|\.\./.test(path))).toEqual([]);
  });

  it.each(['/etc/passwd', '/lib/modules/../../etc/nf_tables.ko', 'nf_tables.ko', '[nf_tables]', '/lib/nf_tables.ko (deleted)'])(
    'is looked for at no recorded path like %s',
    async (longName) => {
      await found({ ...MODULE, longName, osRelease: '' });
      expect(files.asked.filter((path) => !path.includes('.build-id'))).toEqual([]);
    },
  );

  it('is looked for in a tree of another machine’s files first, and there alone where no build id tells it', async () => {
    put(OWN, moduleFile());
    put(`/mnt${OWN}`, moduleFile());
    expect(await found(MODULE, { symfs: '/mnt' })).toEqual([`/mnt${OWN}`, OWN]);
    files.content.delete(`/mnt${OWN}`);
    expect(await found(MODULE, { symfs: '/mnt' })).toEqual([OWN]);
    expect(await found({ ...MODULE, buildId: '' }, { symfs: '/mnt' })).toEqual([]);
  });

  it('tells by its build id which others are of it, where none was recorded', async () => {
    put(OWN, moduleFile());
    put(`/usr/lib/debug${RELEASE}/kernel/net/nf_tables.ko`, moduleFile(OTHER_ID));
    const debug = '/usr/lib/debug/.build-id/cc/33333333333333333333333333333333333333.debug';
    put(debug, moduleFile());
    expect(await found({ ...MODULE, buildId: '' })).toEqual([OWN, debug]);
    expect(search.places.filter(({ outcome }) => outcome === 'other-build-id')).toHaveLength(1);
    // Each place is looked at once.
    expect(files.asked.filter((path) => path === OWN)).toHaveLength(1);
  });

  it.each([
    ['gzip', [0x1f, 0x8b]],
    ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
    ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ])('is unpacked by %s where its first bytes say so', async (compression, magic) => {
    const asked: string[] = [];
    files = Object.assign(files, {
      decompress: async (by: string): Promise<Uint8Array> => {
        asked.push(by);
        return moduleFile();
      },
    });
    put(OWN, Uint8Array.of(...magic, 1, 2, 3, 4));
    expect(await found(MODULE)).toEqual([OWN]);
    put(OWN, Uint8Array.of(...magic.slice(0, -1), 0xff, 1, 2, 3, 4));
    expect(await found(MODULE)).toEqual([]);
    expect(asked).toEqual([compression]);
  });

  it('is unpacked, and where it is damaged, that is noted and the next one is taken', async () => {
    put(OWN, gzipSync(moduleFile()));
    expect(await found(MODULE)).toEqual([OWN]);
    const debug = `/usr/lib/debug${RELEASE}/kernel/net/nf_tables.ko`;
    put(debug, moduleFile());
    for (const magic of [
      [0x1f, 0x8b],
      [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00],
      [0x28, 0xb5, 0x2f, 0xfd],
    ]) {
      put(OWN, Uint8Array.of(...magic, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9));
      search = new SymbolSearch();
      expect(await found(MODULE)).toEqual([debug]);
      expect(search.places.find(({ place }) => place === OWN)).toMatchObject({ outcome: 'damaged' });
    }
    expect(search.places.filter(({ outcome }) => outcome === 'absent').length).toBeGreaterThan(0);
  });
});
