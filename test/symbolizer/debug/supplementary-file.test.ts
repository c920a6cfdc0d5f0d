import { beforeEach, describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { openSupplementaryFile, readSupplementaryLink, supplementaryPlaces } from '../../../src/symbolizer/debug/supplementary-file.ts';
import { SymbolSearch } from '../../../src/symbolizer/inputs/search-log.ts';
import { CheckedFiles } from '../../../src/symbolizer/search/checked-files.ts';
import { ByteFields } from '../../support/builders/byte-fields.ts';
import { buildSectionElf } from '../../support/builders/elf/section-elf.ts';
import { MadeFiles } from '../../support/builders/made-symbol-files.ts';

const ID = 'aabbccddeeff00112233445566778899aabbccdd';
const DEBUG_FILE = '/usr/lib/debug/usr/bin/x.debug';
const DIRS = { debugDirs: ['/usr/lib/debug'] };

const altlink = (path: string, id = ID) => ({ name: '.gnu_debugaltlink', content: Buffer.concat([Buffer.from(`${path}\0`), Buffer.from(id, 'hex')]) });
const sup = (isSupplementary: number, path: string, checksum: string) => ({
  name: '.debug_sup',
  content: new ByteFields()
    .u16(5)
    .bytes(isSupplementary)
    .text(path)
    .uleb(checksum.length / 2)
    .put(Buffer.from(checksum, 'hex'))
    .done(),
});
const buildIdNote = (id: string) => ({
  name: '.note.gnu.build-id',
  type: 7,
  addralign: 4,
  content: new ByteFields()
    .u32(4, id.length / 2, 3)
    .text('GNU')
    .put(Buffer.from(id, 'hex'))
    .done(),
});

function elfOf(...sections: Parameters<typeof buildSectionElf>[0]['sections']): Promise<ElfFile> {
  return ElfFile.open(new BufferSource(buildSectionElf({ sections }), DEBUG_FILE));
}

describe('readSupplementaryLink', () => {
  it('reads links that dwz writes', async () => {
    expect(await readSupplementaryLink(await elfOf(altlink('../.dwz/x')))).toEqual({ path: '../.dwz/x', id: ID, kind: 'build-id' });
  });

  it('reads links of DWARF 5', async () => {
    expect(await readSupplementaryLink(await elfOf(sup(0, '/d/shared.debug', '0102')))).toEqual({ path: '/d/shared.debug', id: '0102', kind: 'checksum' });
  });

  it('finds no links in other files, or in the shared file itself', async () => {
    const cut = { name: '.debug_sup', content: new ByteFields().u16(5).bytes(0).text('x').uleb(200).done() };
    for (const sections of [[], [sup(1, '', '0102')], [altlink('', ID)], [altlink('/x', '')], [{ ...altlink('/x'), content: Buffer.from('/x') }], [cut]]) {
      expect(await readSupplementaryLink(await elfOf(...sections))).toBeUndefined();
    }
  });
});

describe('supplementaryPlaces', () => {
  it('are the path, relative to the debug file, and the debug directories', () => {
    expect(supplementaryPlaces(DEBUG_FILE, { path: '../../.dwz/pkg/x.debug', id: ID, kind: 'build-id' }, DIRS)).toEqual([
      '/usr/lib/debug/usr/bin/../../.dwz/pkg/x.debug',
      // Not the debug file itself, which has that name.
      '/usr/lib/debug/.dwz/pkg/x.debug',
      '/usr/lib/debug/.dwz/x.debug',
      `/usr/lib/debug/.build-id/aa/${ID.slice(2)}.debug`,
    ]);
    expect(supplementaryPlaces(DEBUG_FILE, { path: '/usr/lib/debug/.dwz/x', id: '01', kind: 'checksum' }, { ...DIRS, symfs: '/sys-root' })).toEqual([
      '/sys-root/usr/lib/debug/.dwz/x',
      '/usr/lib/debug/.dwz/x',
      '/usr/lib/debug/usr/bin/x',
      '/usr/lib/debug/usr/lib/debug/.dwz/x',
    ]);
  });

  it('are never files of the kernel such as /proc/kcore', () => {
    expect(supplementaryPlaces(DEBUG_FILE, { path: '/proc/kcore', id: '01', kind: 'checksum' }, DIRS)).not.toContain('/proc/kcore');
  });
});

describe('openSupplementaryFile', () => {
  let machine: MadeFiles;
  let files: CheckedFiles;
  beforeEach(() => {
    machine = new MadeFiles();
    files = new CheckedFiles(machine, new SymbolSearch(), new Diagnostics());
  });

  it('opens only the file with the build id', async () => {
    machine.content.set('/d/x', buildSectionElf({ sections: [buildIdNote(ID.replace('a', 'b'))] }));
    machine.content.set('/usr/lib/debug/.dwz/x', buildSectionElf({ sections: [buildIdNote(ID)] }));
    const found = await openSupplementaryFile(await elfOf(altlink('/d/x')), files, DIRS);
    expect(found?.source.name).toBe('/usr/lib/debug/.dwz/x');
    await files.close();
    expect(machine.openCount).toBe(0);
  });

  it('opens only the file with the checksum that is meant to be shared', async () => {
    machine.content.set('/d/x', buildSectionElf({ sections: [sup(0, '/d/x', '0102')] }));
    machine.content.set('/usr/lib/debug/usr/bin/x', buildSectionElf({ sections: [sup(1, '', '0103')] }));
    machine.content.set('/usr/lib/debug/.dwz/x', buildSectionElf({ sections: [sup(1, '', '0102')] }));
    const found = await openSupplementaryFile(await elfOf(sup(0, '/d/x', '0102')), files, DIRS);
    expect(found?.source.name).toBe('/usr/lib/debug/.dwz/x');
  });

  it('asks for no file if nothing is shared', async () => {
    expect(await openSupplementaryFile(await elfOf(), files, DIRS)).toBeUndefined();
    expect(machine.asked).toEqual([]);
  });
});
