import { describe, expect, it } from 'vitest';
import type { DebugInfoOptions } from '../../src/dwarf/debug-info.ts';
import { AT, type AttributePlan, DwarfBuilder, FORM, Label, TAG } from '../support/builders/dwarf/dwarf-builder.ts';
import { makeLineProgram } from '../support/builders/dwarf/line-program.ts';
import { die, extent, look, named, sectionsOf, subprogram, unit } from '../support/readers/debug-info.ts';

describe('split units', () => {
  const ID = 0x1234_5678_9abc_def0n;

  function split(version: 4 | 5): { skeleton: DwarfBuilder; dwo: DwarfBuilder } {
    const skeleton = new DwarfBuilder({ version });
    const dwo = new DwarfBuilder({ version });
    const isNew = version === 5;
    const [addrForm, strForm] = isNew ? [FORM.addrx, FORM.strx1] : [FORM.GNU_addr_index, FORM.GNU_str_index];
    skeleton.section.line.put(
      makeLineProgram({
        version: 4,
        directories: [],
        files: [
          ['main.c', 0],
          ['inc.h', 0],
        ],
        program: (program) => program.setAddress(0x1000).copy().advancePc(0x100).endSequence(),
      }),
    );
    // Parts of other units come first.
    skeleton.section.addr.u64(0xbad, 0xbad);
    const addrBase = skeleton.section.addr.length;
    skeleton.section.addr.u64(0x1000, 0x1020);
    skeleton.section.ranges.u64(0xbad, 0xbae, 0, 0);
    const rangesBase = skeleton.section.ranges.length;
    skeleton.section.ranges.u64(0x20, 0x28, 0, 0);
    skeleton.unit({
      unitType: 4,
      ...(isNew && { dwoId: ID }),
      root: die(isNew ? TAG.skeleton_unit : TAG.compile_unit, [
        [AT.comp_dir, FORM.string, '/build'],
        [AT.stmt_list, FORM.sec_offset, 0],
        [AT.low_pc, FORM.addr, 0x1000],
        [AT.high_pc, FORM.data4, 0x100],
        [isNew ? AT.dwo_name : AT.GNU_dwo_name, FORM.string, 'a.dwo'],
        [isNew ? AT.addr_base : AT.GNU_addr_base, FORM.sec_offset, addrBase],
        ...(isNew
          ? []
          : ([
              [AT.GNU_dwo_id, FORM.data8, ID],
              [AT.GNU_ranges_base, FORM.sec_offset, rangesBase],
            ] satisfies AttributePlan[])),
      ]),
    });
    const { str_offsets: offsets, str, rnglists } = dwo.section;
    if (isNew) {
      offsets.u32(4 + 8).u16(5, 0);
      rnglists
        .u32(8 + 4 + 4)
        .u16(5)
        .bytes(8, 0)
        .u32(1)
        .u32(4)
        .bytes(4, 0x20, 0x28, 0);
    }
    for (const text of ['outer', '_Z5innerv']) {
      offsets.u32(str.length);
      str.text(text);
    }
    const inner = new Label();
    dwo.unit({ unitType: 6, dwoId: 99n, root: die(0x41, []) });
    dwo.unit({
      unitType: 5,
      ...(isNew && { dwoId: ID }),
      root: die(TAG.compile_unit, isNew ? [] : [[AT.GNU_dwo_id, FORM.data8, ID]], [
        die(
          TAG.subprogram,
          [
            [AT.linkage_name, strForm, 1],
            [AT.decl_file, FORM.data1, 2],
            [AT.decl_line, FORM.data1, 3],
          ],
          undefined,
          { label: inner },
        ),
        die(
          TAG.subprogram,
          [
            [AT.name, strForm, 0],
            [AT.low_pc, addrForm, 0],
            [AT.high_pc, FORM.data4, 0x80],
          ],
          [
            die(TAG.inlined_subroutine, [
              [AT.abstract_origin, FORM.ref4, inner],
              [AT.ranges, isNew ? FORM.rnglistx : FORM.sec_offset, 0],
              [AT.call_file, FORM.data1, 1],
              [AT.call_line, FORM.data1, 9],
            ]),
          ],
        ),
      ]),
    });
    return { skeleton, dwo };
  }

  it.each([4, 5] as const)('of DWARF %d without code are not opened: they are modules of swiftc, and of clang -gmodules', async (version) => {
    const builder = new DwarfBuilder({ version });
    const isNew = version === 5;
    builder.unit({
      unitType: 4,
      ...(isNew && { dwoId: ID }),
      root: die(
        isNew ? TAG.skeleton_unit : TAG.compile_unit,
        [
          named('SwiftShims'),
          [isNew ? AT.dwo_name : AT.GNU_dwo_name, FORM.string, 'SwiftShims.pcm'],
          ...(isNew ? [] : ([[AT.GNU_dwo_id, FORM.data8, ID]] satisfies AttributePlan[])),
        ],
        // In place of units that share its abbreviations: all units of one table are taken for units with functions.
        [subprogram('gone', 0, 0)],
      ),
    });
    builder.unit(unit([subprogram('f', 0x1000, 0x10)], []));
    const asked: string[] = [];
    const openSplit: DebugInfoOptions['openSplit'] = async ({ dwoName }) => {
      asked.push(dwoName);
      return undefined;
    };
    const { chains } = await look(builder, [0x1000, 0x2000], { openSplit });
    expect([chains, asked]).toEqual([{ 1000: 'f:0' }, []]);
  });

  it.each([4, 5] as const)('of DWARF %d take addresses, lines and files from the main file', async (version) => {
    const { skeleton, dwo } = split(version);
    const requests: unknown[] = [];
    const openSplit: DebugInfoOptions['openSplit'] = async (request) => {
      requests.push(request);
      return sectionsOf(dwo);
    };
    const { frames, info } = await look(skeleton, [0x1000, 0x1020, 0x1028, 0x1090], { openSplit });
    expect(info.problems).toEqual([]);
    expect(requests).toEqual([{ dwoName: 'a.dwo', compDir: '/build', dwoId: '123456789abcdef0' }]);
    const outer = { name: 'outer', linkageName: '', file: '', startLine: 0 };
    const inner = { name: '', linkageName: '_Z5innerv', file: '/build/inc.h', startLine: 3 };
    const row = { file: '/build/main.c', line: 1, column: 0 };
    expect([...frames]).toEqual([
      [0x1000, [{ function: outer, ...row }]],
      [
        0x1020,
        [
          { function: inner, ...row },
          { function: outer, file: '/build/main.c', line: 9, column: 0 },
        ],
      ],
      [0x1028, [{ function: outer, ...row }]],
      [0x1090, [{ function: undefined, ...row }]],
    ]);
  });

  it('of one file are found in any order, and a missing one is reported', async () => {
    const [skeletons, dwo] = [new DwarfBuilder({ version: 5 }), new DwarfBuilder({ version: 5 })];
    const ids = [1n, 2n, 3n, 4n];
    for (const [i, id] of ids.entries()) {
      const low = 0x1000 * (i + 1);
      skeletons.unit({ unitType: 4, dwoId: id, root: die(TAG.skeleton_unit, [...extent(low, 0x10), [AT.dwo_name, FORM.string, 'all.dwo']]) });
    }
    for (const id of [4n, 2n, 1n]) dwo.unit({ unitType: 5, dwoId: id, root: die(TAG.compile_unit, [], [subprogram(`f${id}`, 0x1000 * Number(id), 0x10)]) });
    const sections = sectionsOf(dwo);
    const { chains, info } = await look(skeletons, [0x1000, 0x2000, 0x3000, 0x4000], { openSplit: async () => sections });
    expect(chains).toEqual({ 1000: 'f1:0', 2000: 'f2:0', 4000: 'f4:0' });
    expect(info.problems).toMatchObject([{ what: expect.stringContaining('no unit 0000000000000003') }]);
  });

  it('have only lines if their file is missing or a different one', async () => {
    const { skeleton } = split(5);
    const other = new DwarfBuilder();
    other.unit({ unitType: 5, dwoId: 7n, root: die(TAG.compile_unit, [], [subprogram('wrong', 0x1000, 0x80)]) });
    for (const openSplit of [undefined, async () => undefined, async () => sectionsOf(other)]) {
      const { chains } = await look(skeleton, [0x1000], openSplit && { openSplit });
      expect(chains).toEqual({ 1000: '?:1' });
    }
    const { info } = await look(skeleton, [0x1000], { openSplit: async () => sectionsOf(other) });
    expect(info.problems).toMatchObject([{ what: expect.stringContaining('no unit 123456789abcdef0') }]);
  });
});
