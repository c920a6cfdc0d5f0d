import { beforeEach, describe, expect, it } from 'vitest';
import type { DebugSections } from '../../../src/dwarf/sections/debug-sections.ts';
import { SplitIndex } from '../../../src/dwarf/units/split-index.ts';
import { dwoPlaces, dwpPlaces } from '../../../src/symbolizer/debug/split-places.ts';
import { SplitUnits } from '../../../src/symbolizer/debug/split-units.ts';
import { SymbolSearch } from '../../../src/symbolizer/inputs/search-log.ts';
import { ByteFields } from '../../support/builders/byte-fields.ts';
import { memorySections } from '../../support/builders/dwarf/memory-sections.ts';
import { buildSectionElf } from '../../support/builders/elf/section-elf.ts';
import { MadeFiles } from '../../support/builders/made-symbol-files.ts';

const DIRS = { paths: ['/opt/app/bin/server'], recordedPath: '/opt/app/bin/server', debugDirs: ['/usr/lib/debug'] };
const REQUEST = { dwoName: 'obj/a.dwo', compDir: '/build', dwoId: '1122334455667788' };

/** A unit of DWARF 5, DW_UT_split_compile, with one DIE without attributes. */
function splitUnit(id: string): Uint8Array<ArrayBuffer> {
  const body = new ByteFields()
    .u16(5)
    .bytes(5, 8)
    .u32(0)
    .u64(BigInt(`0x${id}`))
    .uleb(1);
  return new ByteFields().u32(body.length).put(body.done()).done();
}

/** A unit of DWARF 4 whose DIE has DW_AT_GNU_dwo_id. */
function gnuSplitUnit(id: string): { info: Uint8Array<ArrayBuffer>; abbrev: Uint8Array<ArrayBuffer> } {
  const body = new ByteFields()
    .u16(4)
    .u32(0)
    .bytes(8)
    .uleb(1)
    .u64(BigInt(`0x${id}`));
  const abbrev = new ByteFields().uleb(1, 0x11).bytes(0).uleb(0x2131, 0x07, 0, 0, 0).done();
  return { info: new ByteFields().u32(body.length).put(body.done()).done(), abbrev };
}

const ABBREV = new ByteFields().uleb(1, 0x11).bytes(0, 0, 0, 0).done();

function dwo(info: Uint8Array, abbrev: Uint8Array = ABBREV): Uint8Array {
  return buildSectionElf({
    type: 1,
    sections: [
      { name: '.debug_info.dwo', content: info },
      { name: '.debug_abbrev.dwo', content: abbrev },
    ],
  });
}

async function infoOf(sections: DebugSections | undefined): Promise<string> {
  const info = sections!.section('info');
  return Buffer.from((await info.read(0, 1000)).bytes).toString('hex');
}

/** An index with one column for each section id, where row i has offset 100 i and size 10 + i. */
function makeIndex(version: 2 | 5, ids: readonly string[], sectionIds: readonly number[], littleEndian = true): Uint8Array {
  const slots = 8;
  const fields = new ByteFields(littleEndian);
  if (version === 2) fields.u32(2);
  else fields.u16(5, 0);
  fields.u32(sectionIds.length, ids.length, slots);
  const filled = Array.from({ length: slots }, (_, slot) => (slot % 2 === 1 && slot >> 1 < ids.length ? slot >> 1 : -1));
  for (const row of filled) fields.u64(row < 0 ? 0 : BigInt(`0x${ids[row]}`));
  for (const row of filled) fields.u32(row + 1);
  fields.u32(...sectionIds);
  for (const offset of ids.keys()) for (const _ of sectionIds) fields.u32(100 * offset);
  for (const size of ids.keys()) for (const _ of sectionIds) fields.u32(10 + size);
  return fields.done();
}

describe('places', () => {
  it('of a .dwo file are where it was written, beside the binary, and under the debug directories', () => {
    expect(dwoPlaces(REQUEST, DIRS)).toEqual([
      '/build/obj/a.dwo',
      '/opt/app/bin/obj/a.dwo',
      '/opt/app/bin/a.dwo',
      '/usr/lib/debug/build/obj/a.dwo',
      '/usr/lib/debug/a.dwo',
    ]);
    expect(dwoPlaces({ ...REQUEST, dwoName: '/abs/../b.dwo' }, { ...DIRS, symfs: 'sys', debugDirs: [], paths: ['server'] })).toEqual([
      'sys/b.dwo',
      '/b.dwo',
      './b.dwo',
    ]);
  });

  it('are never files of the kernel such as /proc/kcore, or directories above the binary', () => {
    expect(dwoPlaces({ ...REQUEST, dwoName: '/proc/kcore' }, DIRS)).toEqual(['/opt/app/bin/kcore', '/usr/lib/debug/kcore']);
    expect(dwoPlaces({ ...REQUEST, dwoName: '../../../../proc/x', compDir: '/a' }, DIRS)).toEqual(['/opt/app/bin/x', '/usr/lib/debug/x']);
    expect(dwoPlaces({ ...REQUEST, dwoName: '..', compDir: '' }, DIRS)).toEqual([]);
    expect(dwoPlaces({ ...REQUEST, dwoName: '', compDir: '' }, DIRS)).toEqual([]);
  });

  it('of a package are beside the binary and its debug file', () => {
    expect(dwpPlaces({ ...DIRS, paths: ['/usr/lib/debug/opt/app/bin/server.debug'] })).toEqual([
      '/usr/lib/debug/opt/app/bin/server.debug.dwp',
      '/usr/lib/debug/opt/app/bin/server.dwp',
      '/opt/app/bin/server.dwp',
    ]);
    expect(dwpPlaces({ ...DIRS, paths: [], recordedPath: '[vdso]' })).toEqual([]);
  });
});

describe('SplitUnits', () => {
  let machine: MadeFiles;
  beforeEach(() => {
    machine = new MadeFiles();
  });

  it('finds a unit by its id', async () => {
    const unit = splitUnit(REQUEST.dwoId);
    machine.content.set('/build/obj/a.dwo', dwo(unit));
    const units = new SplitUnits(machine, DIRS);
    expect(await infoOf(await units.openSplit(REQUEST))).toBe(Buffer.from(unit).toString('hex'));
    // Nothing of a small file stays open.
    expect(machine.openCount).toBe(0);
    expect([units.missing.count, units.problems]).toEqual([0, []]);
  });

  it('finds a unit of DWARF 4 by the id among its attributes', async () => {
    const { info, abbrev } = gnuSplitUnit(REQUEST.dwoId);
    machine.content.set('/opt/app/bin/a.dwo', dwo(info, abbrev));
    expect(await new SplitUnits(machine, DIRS).openSplit(REQUEST)).toBeDefined();
    expect(await new SplitUnits(machine, DIRS).openSplit({ ...REQUEST, dwoId: '1122334455667789' })).toBeUndefined();
  });

  it('skips files of other builds, with a report', async () => {
    machine.content.set('/build/obj/a.dwo', dwo(splitUnit('1122334455667789')));
    machine.content.set('/opt/app/bin/obj/a.dwo', Buffer.from('no ELF file'));
    machine.content.set('/usr/lib/debug/a.dwo', dwo(Buffer.concat([splitUnit('0000000000000001'), splitUnit(REQUEST.dwoId)])));
    const units = new SplitUnits(machine, DIRS);
    expect((await units.openSplit(REQUEST))!.name).toBe('/usr/lib/debug/a.dwo');
    expect(units.problems).toEqual([
      '/build/obj/a.dwo: it is from another build: no unit has the id 1122334455667788',
      expect.stringContaining('/opt/app/bin/obj/a.dwo: ELF header at 0x0: not an ELF file'),
    ]);
  });

  it('counts missing units, and stops looking if it finds none', async () => {
    const units = new SplitUnits(machine, DIRS);
    for (let i = 0; i < 2000; i++) await units.openSplit({ ...REQUEST, dwoName: `${i}.dwo` });
    expect(units.missing).toEqual({ count: 2000, firstName: '0.dwo' });
    expect(machine.asked.length).toBeLessThan(2000);
  });

  it('stops looking if it finds hardly any units', async () => {
    machine.content.set('/build/obj/a.dwo', dwo(splitUnit(REQUEST.dwoId)));
    const units = new SplitUnits(machine, DIRS);
    await units.openSplit(REQUEST);
    for (let i = 0; i < 2000; i++) await units.openSplit({ ...REQUEST, dwoName: `${i}.dwo` });
    expect(units.missing.count).toBe(2000);
    expect(machine.asked.length).toBeLessThan(2500);
  });

  it('does not read the same files over and over for alternating units', async () => {
    for (const name of ['a', 'b']) machine.content.set(`/build/${name}.dwo`, Buffer.concat([dwo(splitUnit(REQUEST.dwoId)), new Uint8Array(1 << 20)]));
    const units = new SplitUnits(machine, { ...DIRS, debugDirs: [], paths: [] });
    let found = 0;
    for (let i = 0; i < 100; i++) found += (await units.openSplit({ ...REQUEST, dwoName: i % 2 === 0 ? 'a.dwo' : 'b.dwo' })) === undefined ? 0 : 1;
    // In the end, one of the two is in memory, and the other is not read any more.
    expect(found).toBeGreaterThan(50);
    expect(found).toBeLessThan(80);
    expect(units.problems.at(-1)).toContain('read over and over');
    expect(machine.openCount).toBe(0);
  });

  it('finds a unit in a package, which stays open', async () => {
    const info = new ByteFields().put(new Uint8Array(100)).put(splitUnit('aaaaaaaa00000002')).done();
    const index = makeIndex(5, ['bbbbbbbb00000001', 'aaaaaaaa00000002'], [1, 3]);
    const sections = [
      { name: '.debug_info.dwo', content: info },
      { name: '.debug_cu_index', content: index },
    ];
    machine.content.set('/opt/app/bin/server.dwp', buildSectionElf({ sections }));
    const units = new SplitUnits(machine, DIRS);
    const found = await units.openSplit({ ...REQUEST, dwoId: 'aaaaaaaa00000002' });
    expect(await infoOf(found)).toBe(Buffer.from(info.subarray(100, 111)).toString('hex'));
    expect(found!.section('info').sizeBytes).toBe(11);
    // A unit that a package lacks may still be in its own file.
    machine.content.set('/build/obj/a.dwo', dwo(splitUnit(REQUEST.dwoId)));
    expect(await units.openSplit(REQUEST)).toBeDefined();
    expect(machine.asked.filter((path) => path.endsWith('.dwp'))).toHaveLength(1);
    await units.close();
    expect(machine.openCount).toBe(0);
  });

  describe('tells about the search', () => {
    let search: SymbolSearch;
    const told = () => search.places.map(({ place, outcome, detail, uses }) => [place, outcome, detail, ...uses]);
    const packages = [
      ['/opt/app/bin/server.dwp', 'absent', ''],
      ['/usr/lib/debug/opt/app/bin/server.dwp', 'absent', ''],
    ];
    beforeEach(() => {
      search = new SymbolSearch();
    });

    it('the first file that was found, and how many more', async () => {
      for (const name of ['a', 'b', 'c']) machine.content.set(`/build/${name}.dwo`, dwo(splitUnit(REQUEST.dwoId)));
      const units = new SplitUnits(machine, DIRS, search);
      await units.openSplit({ ...REQUEST, dwoName: 'a.dwo' });
      expect(told()).toEqual([...packages, ['/build/a.dwo', 'fits', '', 'lines']]);
      for (const name of ['b', 'c', 'a', 'b']) await units.openSplit({ ...REQUEST, dwoName: `${name}.dwo` });
      expect(told()).toEqual([...packages, ['/build/a.dwo', 'fits', '2 other .dwo files are also used', 'lines']]);
    });

    it('where the first missing file was looked for, what was there instead, and how many more are missing', async () => {
      machine.content.set('/build/obj/a.dwo', dwo(splitUnit('1122334455667789')));
      machine.content.set('/opt/app/bin/obj/a.dwo', Buffer.from('no ELF file'));
      const isForbidden = async (path: string): Promise<boolean> => path === '/opt/app/bin/a.dwo';
      const units = new SplitUnits(Object.assign(machine, { isForbidden }), DIRS, search);
      for (let i = 0; i < 1000; i++) await units.openSplit({ ...REQUEST, dwoName: i === 0 ? REQUEST.dwoName : `${i}.dwo` });
      expect(told()).toEqual([
        ...packages,
        ['/build/obj/a.dwo', 'other-build-id', 'it is from another build: no unit has the id 1122334455667788'],
        ['/opt/app/bin/obj/a.dwo', 'damaged', expect.stringMatching(/^ELF header at 0x0: not an ELF file/)],
        ['/opt/app/bin/a.dwo', 'forbidden', ''],
        ['/usr/lib/debug/build/obj/a.dwo', 'absent', ''],
        ['/usr/lib/debug/a.dwo', 'absent', "the rest of one unit's debug information (-gsplit-dwarf); that of 999 more units is also missing"],
      ]);
    });

    it('whether a package is used or has none of the units', async () => {
      const place = '/opt/app/bin/server.dwp';
      const sections = [
        { name: '.debug_info.dwo', content: splitUnit(REQUEST.dwoId) },
        { name: '.debug_cu_index', content: makeIndex(5, [REQUEST.dwoId, 'bbbbbbbb00000001'], [1, 3]) },
      ];
      machine.content.set(place, buildSectionElf({ sections }));
      await new SplitUnits(machine, DIRS, search).openSplit(REQUEST);
      expect(told()).toEqual([[place, 'fits', '', 'lines']]);
      search = new SymbolSearch();
      await new SplitUnits(machine, DIRS, search).openSplit({ ...REQUEST, dwoId: '1122334455667789' });
      expect(told()[0]).toEqual([place, 'fits', '']);
    });
  });
});

describe('SplitIndex', () => {
  const whole = new Uint8Array(1000).map((_, i) => i);
  const sectionsWith = (index: Uint8Array, littleEndian = true) =>
    memorySections({ info: whole, abbrev: whole, line: whole, str_offsets: whole, rnglists: whole, str: whole, cu_index: index }, { littleEndian });

  it.each([
    [2, true],
    [2, false],
    [5, true],
    [5, false],
  ] as const)('finds units (version %s, little-endian: %s)', async (version, littleEndian) => {
    const index = makeIndex(version, ['0000000100000002', 'ffffffff00000003'], [1, 3, 4, 5, 6, 7, 8], littleEndian);
    const unit = (await SplitIndex.read(sectionsWith(index, littleEndian), 'cu_index')).unit('ffffffff00000003')!;
    for (const name of ['info', 'abbrev', 'line', 'str_offsets'] as const) {
      expect(unit.section(name).sizeBytes).toBe(11);
      expect(Array.from((await unit.section(name).read(1, 100)).bytes)).toEqual(Array.from(whole.subarray(101, 111)));
    }
    // Section 8 is .debug_macro in version 2; strings belong to all units.
    expect(unit.section('rnglists').sizeBytes).toBe(version === 5 ? 11 : 0);
    expect(unit.section('str').sizeBytes).toBe(1000);
    expect((await unit.section('info').read(11, 5)).length).toBe(0);
  });

  it.each([
    [2, 'types', 2],
    [5, 'info', 1],
  ] as const)('finds type units (version %s: in .debug_%s)', async (version, section, id) => {
    const [compile, types] = [makeIndex(version, ['0000000100000002', 'ffffffff00000003'], [1, 3]), makeIndex(version, ['1', '0000000200000004'], [id, 3])];
    const sections = memorySections({ info: whole, types: whole, abbrev: whole, cu_index: compile, tu_index: types });
    const unit = (await SplitIndex.read(sections, 'cu_index')).unit('0000000100000002')!;
    const type = (await unit.typeUnit!('0000000200000004'))!;
    expect(type.section(section).sizeBytes).toBe(11);
    expect(await unit.typeUnit!('0000000100000002')).toBeUndefined();
    const without = (await SplitIndex.read(memorySections({ cu_index: compile }), 'cu_index')).unit('0000000100000002')!;
    expect(await without.typeUnit!('0000000200000004')).toBeUndefined();
  });

  it('knows only its units', async () => {
    expect((await SplitIndex.read(sectionsWith(makeIndex(5, ['0000000100000002'], [1])), 'cu_index')).unit('0000000000000000')).toBeUndefined();
  });

  it('is refused if it is damaged', async () => {
    const good = makeIndex(5, ['0000000100000002'], [1]);
    await expect(SplitIndex.read(sectionsWith(good.subarray(0, 20)), 'cu_index')).rejects.toThrow('overrun 20 bytes');
    await expect(SplitIndex.read(sectionsWith(good.subarray(0, 8)), 'cu_index')).rejects.toThrow('8 bytes are too few for an index');
    const lying = good.slice();
    new DataView(lying.buffer).setUint32(12, 0xffffffff, true);
    await expect(SplitIndex.read(sectionsWith(lying), 'cu_index')).rejects.toThrow('overrun');
    lying[0] = 6;
    await expect(SplitIndex.read(sectionsWith(lying), 'cu_index')).rejects.toThrow('version 6');
    const behind = (await SplitIndex.read(memorySections({ cu_index: good, info: new Uint8Array(4) }), 'cu_index')).unit('0000000100000002')!;
    expect(behind.section('info').sizeBytes).toBe(4);
  });
});
