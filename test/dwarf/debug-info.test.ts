import { describe, expect, it } from 'vitest';
import { ByteView } from '../../src/base/bytes/byte-view.ts';
import { DebugInfo } from '../../src/dwarf/debug-info.ts';
import type { DebugSection } from '../../src/dwarf/sections/debug-sections.ts';
import { AT, type AttributePlan, type DiePlan, DwarfBuilder, FORM, Label, TAG } from '../support/builders/dwarf/dwarf-builder.ts';
import { makeLineProgram } from '../support/builders/dwarf/line-program.ts';
import { memorySections } from '../support/builders/dwarf/memory-sections.ts';
import { die, extent, look, lookIn, named, nameOf, sectionsOf, subprogram, unit } from '../support/readers/debug-info.ts';

describe('functions at addresses', () => {
  const formats = [2, 3, 4, 5].flatMap((version) =>
    [false, true].flatMap((is64) =>
      [true, false].flatMap((littleEndian) => ([4, 8] as const).map((addressSize) => ({ version, is64, littleEndian, addressSize }))),
    ),
  );

  it.each(formats)('are found in DWARF $version, 64-bit format $is64, little-endian $littleEndian, addresses of $addressSize bytes', async (format) => {
    const builder = new DwarfBuilder(format);
    const inlined = new Label();
    const offsetForm = format.version >= 4 ? FORM.sec_offset : format.is64 ? FORM.data8 : FORM.data4;
    builder.section.line.put(
      makeLineProgram({
        version: format.version as 2 | 3 | 4 | 5,
        is64: format.is64,
        littleEndian: format.littleEndian,
        addressSize: format.addressSize,
        directories: format.version === 5 ? ['/build', 'inc'] : ['inc'],
        // From version 5 on, files are counted from 0, and the first one is there twice.
        files: [...(format.version === 5 ? [['a.c', 0] as const] : []), ['a.c', 0], ['b.h', 1]],
        program: (program) => program.setAddress(0x1000).advanceLine(9).copy().advancePc(0x10).setFile(2).advanceLine(20).copy().advancePc(0x100).endSequence(),
      }),
    );
    const [a, b] = [1, 2];
    // Before version 4, the end of a function is an address.
    const high = (low: number, size: number): AttributePlan => (format.version < 4 ? [AT.high_pc, FORM.addr, low + size] : [AT.high_pc, FORM.udata, size]);
    builder.unit(
      unit(
        [
          die(
            TAG.subprogram,
            [named('inner'), [AT.linkage_name, FORM.strp, '_Z5innerv'], [AT.decl_file, FORM.data1, b], [AT.decl_line, FORM.data2, 300]],
            undefined,
            { label: inlined },
          ),
          die(
            TAG.subprogram,
            [[AT.name, FORM.strp, 'outer'], [AT.low_pc, FORM.addr, 0x1000], high(0x1000, 0x40), [AT.decl_file, FORM.data1, a], [AT.decl_line, FORM.udata, 8]],
            [
              die(TAG.variable, [[AT.location, FORM.block1, 3]]),
              die(
                TAG.lexical_block,
                [],
                [
                  die(TAG.inlined_subroutine, [
                    [AT.abstract_origin, FORM.ref_addr, inlined],
                    [AT.low_pc, FORM.addr, 0x1010],
                    high(0x1010, 8),
                    [AT.call_file, FORM.data1, a],
                    [AT.call_line, FORM.data2, 12],
                    [AT.call_column, FORM.data1, 5],
                  ]),
                ],
              ),
            ],
          ),
        ],
        [[AT.comp_dir, FORM.string, '/build'], [AT.stmt_list, offsetForm, 0], [AT.low_pc, FORM.addr, 0x1000], high(0x1000, 0x40)],
      ),
    );
    const { frames, info } = await look(builder, [0xfff, 0x1000, 0x1010, 0x1017, 0x1018, 0x1040]);
    const outer = { name: 'outer', linkageName: '', file: '/build/a.c', startLine: 8 };
    const inner = { name: 'inner', linkageName: '_Z5innerv', file: '/build/inc/b.h', startLine: 300 };
    const row = { file: '/build/inc/b.h', line: 30, column: 0 };
    const call = { function: outer, file: '/build/a.c', line: 12, column: 5 };
    expect(info.problems).toEqual([]);
    expect([...frames]).toEqual([
      [0x1000, [{ function: outer, file: '/build/a.c', line: 10, column: 0 }]],
      [0x1010, [{ function: inner, ...row }, call]],
      [0x1017, [{ function: inner, ...row }, call]],
      [0x1018, [{ function: outer, ...row }]],
    ]);
    expect(frames.get(0x1000)![0].function).toBe(frames.get(0x1017)![1].function);
  });

  it('are called from the file of their caller if the call has only a line', async () => {
    const builder = new DwarfBuilder();
    builder.section.line.put(
      makeLineProgram({ version: 4, files: [['a.c', 0]], program: (program) => program.setAddress(0x1000).copy().advancePc(0x40).endSequence() }),
    );
    const inner = new Label();
    const inlined = (low: number, attributes: AttributePlan[]) =>
      die(TAG.inlined_subroutine, [[AT.abstract_origin, FORM.ref_addr, inner], [AT.low_pc, FORM.addr, low], [AT.high_pc, FORM.data4, 4], ...attributes]);
    builder.unit(
      unit(
        [
          die(TAG.subprogram, [named('inner')], undefined, { label: inner }),
          subprogram('outer', 0x1000, 0x40, [inlined(0x1010, [[AT.call_line, FORM.data1, 7]]), inlined(0x1020, [])], [[AT.decl_file, FORM.data1, 1]]),
        ],
        [[AT.comp_dir, FORM.string, '/build'], [AT.stmt_list, FORM.sec_offset, 0], ...extent(0x1000, 0x40)],
      ),
    );
    const { frames } = await look(builder, [0x1010, 0x1020]);
    expect(frames.get(0x1010)![1]).toMatchObject({ file: '/build/a.c', line: 7 });
    expect(frames.get(0x1020)![1]).toMatchObject({ file: '', line: 0 });
  });

  it("have the file of their namespace, as Zig's own backend writes it", async () => {
    const builder = new DwarfBuilder();
    builder.section.line.put(
      makeLineProgram({ version: 4, files: [['Writer.zig', 0]], program: (program) => program.setAddress(0x1000).copy().advancePc(0x40).endSequence() }),
    );
    const [file, type] = [new Label(), new Label()];
    builder.unit(
      unit(
        [
          die(TAG.structure_type, [[AT.decl_file, FORM.data1, 1], named('Writer')], undefined, { label: file }),
          die(TAG.structure_type, [[AT.ZIG_parent, FORM.ref_addr, file], [AT.decl_line, FORM.data1, 3], named('Inner')], undefined, { label: type }),
          subprogram('print', 0x1000, 0x40, undefined, [[AT.ZIG_parent, FORM.ref_addr, type]]),
        ],
        [[AT.comp_dir, FORM.string, '/std'], [AT.stmt_list, FORM.sec_offset, 0], ...extent(0x1000, 0x40)],
      ),
    );
    const { frames } = await look(builder, [0x1000]);
    expect(frames.get(0x1000)![0].function).toMatchObject({ name: 'print', file: '/std/Writer.zig' });
  });

  it('are found after padded abbreviation codes', async () => {
    const builder = new DwarfBuilder();
    const { abbrev } = builder.section;
    abbrev.bytes(1, TAG.compile_unit, 1, 0, 0, 2, TAG.variable, 0, AT.const_value, FORM.data1, 0, 0);
    abbrev.bytes(3, TAG.subprogram, 0, AT.name, FORM.string, AT.low_pc, FORM.addr, AT.high_pc, FORM.data1, 0, 0, 0);
    const f = [102, 0, 0x00, 0x10, 0, 0, 0, 0, 0, 0, 0x20];
    const dies = [1, 2, 7, 0x82, 0x00, 7, 0x82, 0x80, 0x00, 7, 0x83, 0x80, 0x00, ...f, 0];
    builder.raw(Uint8Array.of(7 + dies.length, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, ...dies));
    expect((await look(builder, [0x1010])).chains).toEqual({ 1010: 'f:0' });
  });

  it('are found among attributes of every form', async () => {
    const builder = new DwarfBuilder();
    const odd: AttributePlan[] = [
      [AT.const_value, FORM.block1, 2],
      [AT.const_value, FORM.block2, 300],
      [AT.const_value, FORM.block4, 5],
      [AT.const_value, FORM.block, 200],
      [AT.location, FORM.exprloc, 0],
      [AT.location, FORM.loclistx, 300],
      [AT.const_value, FORM.data16, 1],
      [AT.const_value, FORM.sdata, -3],
      [AT.const_value, FORM.udata, 70_000],
      [AT.const_value, FORM.flag_present, 1],
      [AT.const_value, FORM.implicit_const, -5],
      [AT.const_value, [FORM.indirect, FORM.data2], 7],
      [AT.const_value, [FORM.indirect, FORM.string], 'text'],
      [AT.const_value, FORM.ref_sig8, 12],
      [AT.const_value, FORM.ref_sup8, 12],
      [AT.const_value, FORM.strx3, 1],
      [AT.const_value, FORM.string, 'some text'],
      [AT.const_value, FORM.GNU_strp_alt, 5],
    ];
    for (const [i, attribute] of odd.entries()) {
      builder.unit(
        unit([die(TAG.variable, [attribute]), subprogram(`f${i}`, 0x1000 + i * 0x10, 0x10, undefined, [attribute])], extent(0x1000 + i * 0x10, 0x10)),
      );
    }
    const addresses = odd.map((_, i) => 0x1000 + i * 0x10);
    const { chains } = await look(builder, addresses);
    expect(chains).toEqual(Object.fromEntries(odd.map((_, i) => [(0x1000 + i * 0x10).toString(16), `f${i}:0`])));
  });

  it('are found by indexes into .debug_addr, .debug_str_offsets and .debug_rnglists', async () => {
    for (const is64 of [false, true]) {
      const builder = new DwarfBuilder({ is64 });
      const { addr, str, str_offsets: offsets, rnglists } = builder.section;
      const base = is64 ? 16 : 8;
      builder
        .length(addr, 4 + 4 * 8)
        .u16(5)
        .bytes(8, 0)
        .u64(0x1000, 0x1100, 0x1200, 0x1300);
      builder.length(offsets, 4 + 4 * builder.offsetSize).u16(5, 0);
      for (const text of ['zero', 'one', 'two', 'three']) {
        builder.offset(offsets, str.length);
        str.text(text);
      }
      // base_addressx 1, offset_pair; startx_endx; startx_length; start_end; start_length; base_address, offset_pair
      const list = new Uint8Array([1, 1, 4, 0, 2, 2, 2, 3, 3, 3, 4, 0]);
      builder
        .length(rnglists, 8 + 2 * builder.offsetSize + list.length + 1)
        .u16(5)
        .bytes(8, 0)
        .u32(2);
      builder
        .offset(builder.offset(rnglists, 2 * builder.offsetSize), 2 * builder.offsetSize + 1)
        .bytes(0)
        .put(list);
      builder.unit(
        unit(
          [
            die(TAG.subprogram, [
              [AT.name, FORM.strx1, 1],
              [AT.low_pc, FORM.addrx, 0],
              [AT.high_pc, FORM.data4, 4],
            ]),
            die(TAG.subprogram, [
              [AT.name, FORM.strx2, 2],
              [AT.ranges, FORM.rnglistx, 1],
            ]),
            die(TAG.subprogram, [
              [AT.name, FORM.strx3, 3],
              [AT.low_pc, FORM.addrx1, 2],
              [AT.high_pc, FORM.addrx2, 3],
            ]),
            die(TAG.subprogram, [
              [AT.name, FORM.strx4, 0],
              [AT.low_pc, FORM.addrx4, 3],
              [AT.high_pc, FORM.data1, 4],
            ]),
            die(TAG.subprogram, [
              [AT.name, FORM.strx, 1],
              [AT.low_pc, FORM.addrx3, 3],
              [AT.high_pc, FORM.data1, 2],
            ]),
          ],
          [
            [AT.low_pc, FORM.addrx, 0],
            [AT.high_pc, FORM.udata, 0x400],
            [AT.addr_base, FORM.sec_offset, base],
            [AT.str_offsets_base, FORM.sec_offset, base],
            [AT.rnglists_base, FORM.sec_offset, base + 4],
          ],
        ),
      );
      const { chains, info } = await look(builder, [0x1000, 0x1003, 0x1004, 0x1100, 0x1101, 0x1102, 0x1200, 0x1301, 0x1303, 0x1304]);
      expect(info.problems).toEqual([]);
      expect(chains).toEqual({ 1000: 'one:0', 1003: 'one:0', 1100: 'two:0', 1101: 'two:0', 1200: 'three:0', 1301: 'one:0', 1303: 'zero:0' });
    }
  });

  it('are found by range lists of DWARF 4, with bases, empty and dead ranges', async () => {
    const builder = new DwarfBuilder({ version: 4 });
    const { ranges } = builder.section;
    ranges.u64(
      0x10,
      0x20,
      5,
      5,
      0xffff_ffff_ffff_ffffn,
      0x5000,
      0,
      8,
      0xffff_ffff_ffff_ffffn,
      1,
      0x3000,
      0x4000,
      0xffff_ffff_ffff_ffffn,
      0,
      0x7000,
      0x7004,
      0,
      0,
    );
    builder.unit(
      unit(
        [die(TAG.subprogram, [named('f'), [AT.ranges, FORM.sec_offset, 0]])],
        [
          [AT.low_pc, FORM.addr, 0x1000],
          [AT.ranges, FORM.sec_offset, 0],
        ],
      ),
    );
    const { chains } = await look(builder, [0x1000, 0x1010, 0x101f, 0x1020, 0x3001, 0x5000, 0x5008, 0x7003]);
    expect(Object.keys(chains).sort()).toEqual(['1010', '101f', '5000', '7003']);
  });

  it('are found by range lists that count backwards, as in Go', async () => {
    const builder = new DwarfBuilder();
    const minus = (distance: number): number[] =>
      Array.from({ length: 10 }, (_, i) => Number((BigInt.asUintN(64, BigInt(-distance)) >> BigInt(7 * i)) & 0x7fn) | (i < 9 ? 0x80 : 0));
    builder.section.rnglists.bytes(4, ...minus(0x600c61), ...minus(0x600c50), 4, 0, 0x10, 0);
    const root: AttributePlan[] = [
      [AT.low_pc, FORM.addr, 0x70_0000],
      [AT.ranges, FORM.sec_offset, 0],
    ];
    builder.unit(unit([subprogram('before', 0x70_0000 - 0x600c61, 0x11), subprogram('at', 0x70_0000, 0x10)], root));
    const { chains } = await look(builder, [0x70_0000 - 0x600c62, 0x70_0000 - 0x600c61, 0x70_0000 - 0x600c51, 0x70_000f]);
    expect(Object.values(chains)).toEqual(['before:0', 'before:0', 'at:0']);
  });

  it('are found in the kernel, in the upper half of the address space', async () => {
    const builder = new DwarfBuilder();
    const low = 0xffff_ffff_8100_0000n;
    const at: AttributePlan[] = [
      [AT.low_pc, FORM.addr, low],
      [AT.high_pc, FORM.data4, 0x100],
    ];
    builder.unit(unit([die(TAG.subprogram, [named('start_kernel'), ...at])], at));
    expect((await look(builder, [Number(BigInt.asIntN(64, low)) + 0xff])).chains).toEqual({ '-7effff01': 'start_kernel:0' });
  });

  it('are not found if the linker discarded them', async () => {
    for (const [version, addressSize] of [
      [4, 8],
      [5, 8],
      [5, 4],
    ] as const) {
      const builder = new DwarfBuilder({ version, addressSize });
      const top = addressSize === 8 ? 0xffff_ffff_ffff_ffffn : 0xffff_ffffn;
      const dead = [0, 1, top, top - 1n].map((low, i) =>
        die(TAG.subprogram, [named(`dead${i}`), [AT.low_pc, FORM.addr, low], [AT.high_pc, FORM.data4, 0x10000]]),
      );
      builder.unit(unit([subprogram('alive', 0x1000, 0x10), ...dead]));
      builder.unit(unit(dead, extent(0, 0x10000)));
      builder.aranges(0, [0, 0x20000]);
      expect((await look(builder, [0x10, 0x1000])).chains).toEqual({ 1000: 'alive:0' });
      expect((await look(builder, [0x10, 0x1000], { hasCodeAtZero: true })).chains['10']).toBe('dead1:0');
    }
  });

  it('are found in a unit whose addresses .debug_aranges gives to another unit', async () => {
    const builder = new DwarfBuilder();
    const first = builder.unit(unit([subprogram('f', 0x1000, 0x10)], extent(0x1000, 0x10)));
    builder.unit(unit([subprogram('g', 0x2000, 0x10)], extent(0x2000, 0x10)));
    builder.aranges(first, [0x1000, 0x10], [0x2000, 0x10]);
    expect((await look(builder, [0x1000, 0x2000])).chains).toEqual({ 1000: 'f:0', 2000: 'g:0' });
  });

  it.each(['info', 'aranges'] as const)('are found without waiting at each word of padding in .debug_%s', async (padded) => {
    const builder = new DwarfBuilder();
    const unitAt = builder.unit(unit([subprogram('f', 0x1000, 0x10)], extent(0x1000, 0x10)));
    if (padded === 'aranges') builder.aranges(unitAt, [0x1000, 0x10]);
    const content = builder.content();
    const sections = memorySections({ ...content, [padded]: Buffer.concat([content[padded]!, new Uint8Array(4 << 20)]) });
    let turns = 0;
    let isDone = false;
    const counting = (async () => {
      for (; !isDone; turns++) await undefined;
    })();
    const found = await lookIn(await DebugInfo.open(sections), [0x1000]);
    isDone = true;
    await counting;
    expect(found.get(0x1000)![0].function?.name).toBe('f');
    expect(turns).toBeLessThan(10_000);
  });

  it('are found in a unit that does not say where its code is', async () => {
    const builder = new DwarfBuilder({ version: 2 });
    builder.unit(unit([die(TAG.namespace, [named('n')], [subprogram('f', 0x1000, 0x10)])], []));
    builder.unit(unit([subprogram('g', 0x2000, 0x10)], [[AT.low_pc, FORM.addr, 0]]));
    expect((await look(builder, [0x1000, 0x2000, 0x3000])).chains).toEqual({ 1000: 'f:0', 2000: 'g:0' });
  });

  it('are found while a unit that is not needed is still being read', async () => {
    const builder = new DwarfBuilder();
    const places = [0x1000, 0x2000, 0x3000, 0x4000].map((low, i) => builder.unit(unit([subprogram('fghi'[i], low, 0x10)], extent(low, 0x10))));
    const [first, unneeded, third, last] = places;
    builder.aranges(first, [0x1000, 0x10]);
    builder.aranges(unneeded, [0x1000, 0x10]);
    builder.aranges(third, [0x3000, 0x10]);
    builder.aranges(last, [0x4000, 0x10]);
    const sections = sectionsOf(builder);
    const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
    let lastIsRead = (): void => {};
    const untilLast = new Promise<void>((done) => {
      lastIsRead = done;
    });
    const info = sections.section('info');
    const slow: DebugSection = {
      sizeBytes: info.sizeBytes,
      async read(offset, sizeBytes, memory) {
        const view = await info.read(offset, sizeBytes);
        if (memory === undefined) return view;
        const bytes = memory.take(view.length);
        if (offset === unneeded) await Promise.race([untilLast, pause(20)]);
        bytes.set(view.bytes);
        if (offset === last) {
          lastIsRead();
          await pause(0);
        }
        return new ByteView(bytes, true);
      },
    };
    const opened = await DebugInfo.open({ ...sections, section: (name) => (name === 'info' ? slow : sections.section(name)) });
    const frames = await lookIn(opened, [0x1000, 0x3000, 0x4000]);
    expect([...frames.values()].map(([frame]) => nameOf(frame.function))).toEqual(['f', 'h', 'i']);
  });

  it('are the last ones where functions overlap', async () => {
    const builder = new DwarfBuilder();
    builder.unit(unit([subprogram('f', 0x1000, 0x20), subprogram('g', 0x1010, 0x20)]));
    expect((await look(builder, [0x1000, 0x1010, 0x1020])).chains).toEqual({ 1000: 'f:0', 1010: 'g:0', 1020: 'g:0' });
  });

  it('are found in DIEs that are skipped at first: types, declarations and functions without the address', async () => {
    const builder = new DwarfBuilder();
    const within = (tag: number, attributes: readonly AttributePlan[], child: DiePlan): DiePlan => {
      const end = new Label();
      return die(tag, [...attributes, [AT.sibling, FORM.ref4, end]], [child], { end });
    };
    const origin = new Label();
    const inlined = (low: number): DiePlan =>
      die(TAG.inlined_subroutine, [[AT.abstract_origin, FORM.ref4, origin], ...extent(low, 4), [AT.call_line, FORM.data1, 3]]);
    builder.unit(
      unit([
        die(TAG.subprogram, [named('inlined')], undefined, { label: origin }),
        within(TAG.structure_type, [named('S')], subprogram('method', 0x1000, 0x10)),
        within(TAG.subprogram, [named('abstract')], within(TAG.class_type, [], subprogram('lambda', 0x1010, 0x10, [inlined(0x1018)]))),
        within(TAG.subprogram, [named('outer'), ...extent(0x1020, 0x10)], die(TAG.lexical_block, [], [inlined(0x1024), subprogram('nested', 0x1030, 0x10)])),
      ]),
    );
    const { chains } = await look(builder, [0x1000, 0x1010, 0x1018, 0x1020, 0x1024, 0x1030, 0x1050]);
    expect(chains).toEqual({
      1000: 'method:0',
      1010: 'lambda:0',
      1018: 'inlined:0 < lambda:3',
      1020: 'outer:0',
      1024: 'inlined:0 < outer:3',
      1030: 'nested:0',
    });
  });

  it('may be inlined side by side, each into what is around it', async () => {
    const builder = new DwarfBuilder();
    const [a, b, c] = [new Label(), new Label(), new Label()];
    const inlined = (origin: Label, low: number, size: number, children?: readonly DiePlan[]): DiePlan =>
      die(TAG.inlined_subroutine, [[AT.abstract_origin, FORM.ref4, origin], ...extent(low, size)], children);
    builder.unit(
      unit([
        ...[a, b, c].map((label, i) => die(TAG.subprogram, [named('abc'[i])], undefined, { label })),
        subprogram('f', 0x1000, 0x40, [
          inlined(a, 0x1000, 0x10, [inlined(b, 0x1004, 4, [die(TAG.lexical_block, [], [inlined(c, 0x1006, 1)])]), inlined(c, 0x100a, 2, [])]),
          inlined(b, 0x1020, 8, [inlined(a, 0x2000, 8, [inlined(c, 0x2000, 1)])]),
          inlined(c, 0x1030, 4),
        ]),
        subprogram('g', 0x1040, 0x10, [inlined(b, 0x1040, 8)]),
      ]),
    );
    const { chains } = await look(builder, [0x1000, 0x1004, 0x1006, 0x100a, 0x1010, 0x1020, 0x1030, 0x1040]);
    const names = Object.fromEntries(Object.entries(chains).map(([address, chain]) => [address, chain.replaceAll(/:0| /g, '')]));
    expect(names).toEqual({ 1000: 'a<f', 1004: 'b<a<f', 1006: 'c<b<a<f', '100a': 'c<a<f', 1010: 'f', 1020: 'b<f', 1030: 'c<f', 1040: 'b<g' });
  });

  it('may be inlined into one without an extent of its own, as in strict DWARF 2', async () => {
    const builder = new DwarfBuilder({ version: 2 });
    const [a, b] = [new Label(), new Label()];
    builder.unit(
      unit([
        die(TAG.subprogram, [named('a')], undefined, { label: a }),
        die(TAG.subprogram, [named('b')], undefined, { label: b }),
        subprogram('f', 0x1000, 0x40, [
          die(
            TAG.inlined_subroutine,
            [[AT.abstract_origin, FORM.ref4, a], ...extent(0x1000, 0), [AT.call_line, FORM.data1, 4]],
            [die(TAG.inlined_subroutine, [[AT.abstract_origin, FORM.ref4, b], ...extent(0x1020, 0x10), [AT.call_line, FORM.data1, 7]])],
          ),
        ]),
      ]),
    );
    expect((await look(builder, [0x1000, 0x1020])).chains).toEqual({ 1000: 'f:0', 1020: 'b:0 < a:7 < f:4' });
  });

  it('may be inlined in a piece outside their caller, since strict DWARF 2 gives only one piece of a function', async () => {
    const builder = new DwarfBuilder({ version: 2 });
    const [a, b] = [new Label(), new Label()];
    const withSibling = (tag: number, attributes: readonly AttributePlan[], children: readonly DiePlan[]): DiePlan => {
      const end = new Label();
      return die(tag, [...attributes, [AT.sibling, FORM.ref4, end]], children, { end });
    };
    const inlined = (origin: Label, low: number, size: number): AttributePlan[] => [[AT.abstract_origin, FORM.ref4, origin], ...extent(low, size)];
    builder.unit(
      unit(
        [
          die(TAG.subprogram, [named('a')], undefined, { label: a }),
          die(TAG.subprogram, [named('b')], undefined, { label: b }),
          withSibling(
            TAG.subprogram,
            [named('f'), ...extent(0x1000, 0x40)],
            [withSibling(TAG.inlined_subroutine, inlined(a, 0x1000, 4), [die(TAG.inlined_subroutine, inlined(b, 0x1020, 0x10))])],
          ),
          withSibling(
            TAG.subprogram,
            [named('g'), ...extent(0x1040, 0x40)],
            [withSibling(TAG.inlined_subroutine, inlined(a, 0x1040, 4), [die(TAG.inlined_subroutine, inlined(b, 0x2008, 8))])],
          ),
          subprogram('__second_sect_of_g', 0x2000, 0x40),
        ],
        extent(0x1000, 0x1040),
      ),
    );
    expect((await look(builder, [0x1000, 0x1008, 0x1020, 0x2000, 0x2008, 0x2010])).chains).toEqual({
      1000: 'a:0 < f:0',
      1008: 'f:0',
      1020: 'b:0 < a:0 < f:0',
      2000: '__second_sect_of_g:0',
      2008: 'b:0 < a:0 < g:0',
      2010: '__second_sect_of_g:0',
    });
  });
});
