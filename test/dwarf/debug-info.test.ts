import { describe, expect, it } from 'vitest';
import { ByteView } from '../../src/base/byte-view.ts';
import { DebugInfo, type DebugInfoOptions } from '../../src/dwarf/debug-info.ts';
import type { DebugSection } from '../../src/dwarf/debug-sections.ts';
import type { SourceFrame, SourceFunction } from '../../src/symbol-table/code-symbols.ts';
import { AT, type AttributePlan, type DiePlan, DwarfBuilder, FORM, Label, TAG, type UnitPlan } from '../support/dwarf-builder.ts';
import { makeLineProgram } from '../support/line-program.ts';
import { memorySections } from '../support/memory-sections.ts';

interface Looked {
  /** Functions at each address, innermost first, as name or linkage name with the line of the frame; `?` for no function. */
  readonly chains: Record<string, string>;
  readonly frames: ReadonlyMap<number, readonly SourceFrame[]>;
  readonly info: DebugInfo;
}

function sectionsOf(builder: DwarfBuilder, hasCodeAtZero = false) {
  const { littleEndian, addressSize } = builder;
  return memorySections(builder.content(), { littleEndian, addressSize, hasCodeAtZero });
}

async function look(builder: DwarfBuilder, addresses: readonly number[], options: DebugInfoOptions & { hasCodeAtZero?: boolean } = {}): Promise<Looked> {
  const info = await DebugInfo.open(sectionsOf(builder, options.hasCodeAtZero), options);
  const frames = await lookIn(info, addresses);
  const chains: Record<string, string> = {};
  for (const [address, chain] of frames) chains[address.toString(16)] = chain.map((frame) => `${nameOf(frame.function)}:${frame.line}`).join(' < ');
  return { chains, frames, info };
}

async function lookIn(info: DebugInfo, addresses: readonly number[]): Promise<Map<number, readonly SourceFrame[]>> {
  const frames = new Map<number, readonly SourceFrame[]>();
  await info.lookup(Float64Array.from(addresses), (index, found) => {
    expect(frames.has(addresses[index])).toBe(false);
    frames.set(addresses[index], [...found]);
  });
  return frames;
}

function nameOf(one: SourceFunction | undefined): string {
  return one === undefined ? '?' : one.linkageName || one.name;
}

const die = (tag: number, attributes: readonly AttributePlan[], children?: readonly DiePlan[], more: Partial<DiePlan> = {}): DiePlan => ({
  tag,
  attributes,
  ...(children && { children }),
  ...more,
});

const extent = (low: number, size: number): AttributePlan[] => [
  [AT.low_pc, FORM.addr, low],
  [AT.high_pc, FORM.data4, size],
];
const named = (name: string): AttributePlan => [AT.name, FORM.string, name];
const subprogram = (name: string, low: number, size: number, children?: readonly DiePlan[], more: readonly AttributePlan[] = []): DiePlan =>
  die(TAG.subprogram, [named(name), ...extent(low, size), ...more], children);
const unit = (children: readonly DiePlan[], attributes: readonly AttributePlan[] = extent(0x1000, 0x1000)): UnitPlan => ({
  root: die(TAG.compile_unit, [named('a.c'), ...attributes], children),
});

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

describe('the description of a function', () => {
  it('comes from the DIEs that it refers to, each attribute from the first that has it', async () => {
    const builder = new DwarfBuilder();
    const [declared, abstract] = [new Label(), new Label()];
    builder.unit(
      unit([
        die(
          TAG.structure_type,
          [named('S')],
          [die(TAG.subprogram, [named('get'), [AT.linkage_name, FORM.string, '_ZN1S3getEv'], [AT.decl_line, FORM.data1, 4]], undefined, { label: declared })],
        ),
        die(
          TAG.subprogram,
          [
            [AT.specification, FORM.ref4, declared],
            [AT.decl_line, FORM.data1, 40],
          ],
          undefined,
          { label: abstract },
        ),
        die(TAG.subprogram, [[AT.abstract_origin, FORM.ref4, abstract], ...extent(0x1000, 0x10)]),
        die(TAG.subprogram, [[AT.abstract_origin, FORM.ref4, abstract], [AT.linkage_name, FORM.string, '_ZN1SC2Ev'], ...extent(0x1010, 0x10)]),
        subprogram('f', 0x1020, 0x10, [die(TAG.inlined_subroutine, [[AT.abstract_origin, FORM.ref4, abstract], ...extent(0x1020, 4)])]),
      ]),
    );
    const { frames } = await look(builder, [0x1000, 0x1010, 0x1020]);
    const get = { name: 'get', linkageName: '_ZN1S3getEv', file: '', startLine: 40 };
    expect(frames.get(0x1000)![0].function).toEqual(get);
    expect(frames.get(0x1010)![0].function).toEqual({ ...get, linkageName: '_ZN1SC2Ev' });
    // One object for one description.
    expect(frames.get(0x1020)![0].function).toBe(frames.get(0x1000)![0].function);
  });

  it('stays the same object from one look-up to the next', async () => {
    const builder = new DwarfBuilder();
    builder.unit(unit([subprogram('f', 0x1000, 0x20)]));
    const info = await DebugInfo.open(sectionsOf(builder));
    const first = (await lookIn(info, [0x1000])).get(0x1000)![0].function;
    expect(first?.name).toBe('f');
    expect((await lookIn(info, [0x1001])).get(0x1001)![0].function).toBe(first);
  });

  it('may be in other units, before or after, also in partial ones', async () => {
    const [before, behind, last] = [new Label(), new Label(), new Label()];
    const build = (): DwarfBuilder => {
      const builder = new DwarfBuilder();
      builder.unit({ root: die(TAG.partial_unit, [], [die(TAG.subprogram, [named('before')], undefined, { label: before })]), unitType: 3 });
      builder.unit(
        unit([
          die(TAG.subprogram, [[AT.abstract_origin, FORM.ref_addr, before], ...extent(0x1000, 0x10)]),
          die(TAG.subprogram, [[AT.abstract_origin, FORM.ref_addr, behind], ...extent(0x1010, 0x10)]),
        ]),
      );
      builder.unit(unit([die(TAG.subprogram, [named('behind'), [AT.specification, FORM.ref_addr, last]], undefined, { label: behind })], []));
      builder.unit({ root: die(TAG.partial_unit, [], [die(TAG.subprogram, [[AT.linkage_name, FORM.string, '_last']], undefined, { label: last })]) });
      return builder;
    };
    // References to later units are right only the second time, when their labels have offsets.
    build();
    const builder = build();
    const { frames, info } = await look(builder, [0x1000, 0x1010]);
    expect(info.problems).toEqual([]);
    expect(frames.get(0x1000)![0].function?.name).toBe('before');
    expect(frames.get(0x1010)![0].function).toMatchObject({ name: 'behind', linkageName: '_last' });
  });

  it('may be in the supplementary file', async () => {
    for (const [reference, text] of [
      [FORM.GNU_ref_alt, FORM.GNU_strp_alt],
      [FORM.ref_sup4, FORM.strp_sup],
      [FORM.ref_sup8, FORM.strp_sup],
    ]) {
      const other = new DwarfBuilder();
      const shared = new Label();
      other.unit({ root: die(TAG.partial_unit, [], [die(TAG.subprogram, [[AT.name, FORM.strp, 'shared']], undefined, { label: shared })]), unitType: 3 });
      const textAt = other.section.str.length;
      other.section.str.text('text');
      const builder = new DwarfBuilder();
      builder.unit(
        unit([
          die(TAG.subprogram, [[AT.abstract_origin, reference, shared], ...extent(0x1000, 0x10)]),
          die(TAG.subprogram, [[AT.name, text, textAt], ...extent(0x1010, 0x10)]),
        ]),
      );
      const { chains } = await look(builder, [0x1000, 0x1010], { supplementary: sectionsOf(other) });
      expect(chains).toEqual({ 1000: 'shared:0', 1010: 'text:0' });
      // Without that file, the function is there, but has no name.
      expect((await look(builder, [0x1000])).chains).toEqual({ 1000: ':0' });
    }
  });

  it('is not found in circles or after too many references', async () => {
    const builder = new DwarfBuilder();
    const chain = Array.from({ length: 40 }, () => new Label());
    const ring = [new Label(), new Label()];
    builder.unit(
      unit([
        ...chain.map((label, i) => die(TAG.subprogram, i === 39 ? [named('far')] : [[AT.specification, FORM.ref4, chain[i + 1]]], undefined, { label })),
        die(TAG.subprogram, [[AT.specification, FORM.ref4, ring[1]]], undefined, { label: ring[0] }),
        die(TAG.subprogram, [[AT.specification, FORM.ref_addr, ring[0]]], undefined, { label: ring[1] }),
        die(TAG.subprogram, [[AT.abstract_origin, FORM.ref4, ring[0]], ...extent(0x1000, 0x10)]),
        die(TAG.subprogram, [[AT.abstract_origin, FORM.ref4, chain[0]], ...extent(0x1010, 0x10)]),
        die(TAG.subprogram, [[AT.abstract_origin, FORM.ref4, chain[30]], ...extent(0x1020, 0x10)]),
      ]),
    );
    expect((await look(builder, [0x1000, 0x1010, 0x1020])).chains).toEqual({ 1000: ':0', 1010: ':0', 1020: 'far:0' });
  });
});

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

describe('damaged units', () => {
  const good = (name: string, low: number): UnitPlan => unit([subprogram(name, low, 0x10)], extent(low, 0x10));

  it.each<[string, Partial<UnitPlan>]>([
    ['of an unknown version', { version: 7 }],
    ['without abbreviations', { abbrevOffset: 0x10_0000 }],
    ['with a missing abbreviation', { abbrevOffset: 0 }],
    [
      'with an attribute of unknown form',
      { root: die(TAG.compile_unit, extent(0x2000, 0x10), [subprogram('f', 0x2000, 0x10, [], [[AT.const_value, 0x99, 1]])]) },
    ],
  ])('%s are left out and reported', async (_, plan) => {
    const builder = new DwarfBuilder();
    builder.unit(good('f', 0x1000));
    const bad = builder.unit({ ...unit([subprogram('bad', 0x2000, 0x10)], extent(0x2000, 0x10)), firstCode: 50, ...plan });
    builder.unit(good('g', 0x3000));
    builder.aranges(bad, [0x2000, 0x10]);
    const { chains, info } = await look(builder, [0x1000, 0x2000, 0x3000]);
    expect(chains['1000']).toBe('f:0');
    expect(chains['3000']).toBe('g:0');
    expect(chains['2000']).toBe(undefined);
    expect(info.problems).toMatchObject([{ file: 'memory', offset: bad }]);
  });

  it('keep what comes before the damage', async () => {
    const builder = new DwarfBuilder();
    builder.unit(unit([subprogram('f', 0x1000, 0x10), die(TAG.variable, [[AT.const_value, 0x99, 1]]), subprogram('g', 0x1010, 0x10)]));
    const { chains, info } = await look(builder, [0x1000, 0x1010]);
    expect(chains).toEqual({ 1000: 'f:0' });
    expect(info.problems).toHaveLength(1);
  });

  it('without a description of an inlined function still have its caller and the line', async () => {
    const builder = new DwarfBuilder();
    const inlined = die(TAG.inlined_subroutine, [[AT.abstract_origin, FORM.ref4, 1], ...extent(0x1010, 8), [AT.call_line, FORM.data1, 7]]);
    builder.unit(unit([subprogram('f', 0x1000, 0x40, [inlined])]));
    const { chains, info } = await look(builder, [0x1010, 0x1014]);
    expect(chains).toEqual({ 1010: ':0 < f:7', 1014: ':0 < f:7' });
    expect(info.problems.map(({ what }) => what)).toEqual(['DIE: no readable abbreviation 0']);
  });

  it('that end inside a function leave its line unknown: an inlined one may own it', async () => {
    const builder = new DwarfBuilder();
    const table = makeLineProgram({
      version: 4,
      files: [['a.c', 0]],
      program: (program) => program.setAddress(0x1000).advanceLine(77).copy().advancePc(0x100).endSequence(),
    });
    builder.section.line.bytes(...table);
    const origin = new Label();
    const inlined = die(TAG.inlined_subroutine, [[AT.abstract_origin, FORM.ref4, origin], ...extent(0x1020, 8), [AT.call_line, FORM.data1, 5]], []);
    const cut = die(TAG.variable, [[AT.const_value, 0x99, 1]]);
    builder.unit(
      unit(
        [die(TAG.subprogram, [named('inlined')], undefined, { label: origin }), subprogram('f', 0x1000, 0x10), subprogram('g', 0x1010, 0x30, [inlined, cut])],
        [...extent(0x1000, 0x1000), [AT.stmt_list, FORM.sec_offset, 0]],
      ),
    );
    const { chains, info } = await look(builder, [0x1000, 0x1010, 0x1020]);
    expect(chains).toEqual({ 1000: 'f:78', 1010: 'g:0', 1020: 'inlined:78 < g:5' });
    expect(info.problems).toHaveLength(1);
  });

  it('are read even if they claim to end after the section or before they start', async () => {
    for (const lengthLie of [1000, 0xffff_0000]) {
      const builder = new DwarfBuilder();
      builder.unit({ ...good('f', 0x1000), lengthLie });
      expect((await look(builder, [0x1000])).chains).toEqual({ 1000: 'f:0' });
    }
    const builder = new DwarfBuilder();
    const { length } = new Uint8Array(builder.content().info!);
    builder.raw(new Uint8Array(400));
    const first = builder.unit(good('f', 0x1000));
    expect(first).toBe(length + 400);
    expect((await look(builder, [0x1000])).chains).toEqual({ 1000: 'f:0' });
  });

  it('may be cut off anywhere without an exception', async () => {
    const builder = new DwarfBuilder();
    const origin = new Label();
    builder.unit(
      unit([
        die(TAG.subprogram, [named('inlined')], undefined, { label: origin }),
        subprogram('f', 0x1000, 0x40, [
          die(TAG.inlined_subroutine, [[AT.abstract_origin, FORM.ref4, origin], ...extent(0x1010, 4), [AT.const_value, FORM.block4, 3]]),
        ]),
      ]),
    );
    builder.aranges(0, [0x1000, 0x40]);
    const content = builder.content();
    for (const name of ['info', 'abbrev', 'aranges'] as const) {
      for (let size = 0; size < content[name]!.length; size++) {
        const sections = memorySections({ ...content, [name]: content[name]!.subarray(0, size) });
        const info = await DebugInfo.open(sections);
        for (const chain of (await lookIn(info, [0x1000, 0x1010])).values()) expect(['f', 'inlined', '']).toContain(chain[0].function?.name);
      }
    }
  });
});

describe('hostile files', () => {
  /** A function with `depth` others inlined at one address, each into the one before; the lines of their calls are 1, 2, 3 … from the outermost. */
  const nested = (depth: number): DwarfBuilder => {
    const builder = new DwarfBuilder();
    const table = makeLineProgram({
      version: 4,
      files: [['a.c', 0]],
      program: (program) => program.setAddress(0x1000).advanceLine(77).copy().advancePc(0x10).endSequence(),
    });
    let inner: readonly DiePlan[] = [];
    for (let line = depth; line > 0; line--) inner = [die(TAG.inlined_subroutine, [...extent(0x1000, 4), [AT.call_line, FORM.data2, line]], inner)];
    builder.unit(unit([subprogram('f', 0x1000, 0x10, inner)], [...extent(0x1000, 0x1000), [AT.stmt_list, FORM.sec_offset, 0]]));
    builder.section.line.bytes(...table);
    return builder;
  };

  it('may nest inlined functions a thousand deep', async () => {
    const { frames, info } = await look(nested(1000), [0x1000, 0x1004]);
    expect(frames.get(0x1000)!.map(({ line }) => line)).toEqual([78, ...Array.from({ length: 1000 }, (_, i) => 1000 - i)]);
    expect(frames.get(0x1004)!.map(({ line }) => line)).toEqual([78]);
    expect(info.problems).toEqual([]);
  });

  it('may nest inlined functions deeper than any compiler: the outermost function is left, with its own line, and that is reported', async () => {
    const { chains, info } = await look(nested(5000), [0x1000, 0x1001, 0x1004]);
    expect(chains).toEqual({ 1000: 'f:1', 1001: 'f:1', 1004: 'f:78' });
    expect(info.problems.map(({ what }) => what)).toEqual(['the functions inlined at 2 addresses are left out: they are nested too deeply']);
  });

  it('may have far too many functions over the same code: the rest is dropped and reported', async () => {
    const builder = new DwarfBuilder();
    // Each DIE is one byte; all have the same abbreviation and range list.
    builder.section.abbrev.bytes(1, TAG.compile_unit, 1, AT.low_pc, FORM.addr, AT.high_pc, FORM.data4, 0, 0);
    builder.section.abbrev.bytes(2, TAG.subprogram, 0, AT.ranges, FORM.implicit_const, 0, 0, 0, 0);
    builder.section.rnglists.bytes(6).u64(0x1000, 0x2000).bytes(0);
    const dies = 400_000;
    const info = new Uint8Array(12 + 13 + dies);
    const view = new DataView(info.buffer);
    view.setUint32(0, info.length - 4, true);
    view.setUint16(4, 5, true);
    info.set([1, 8], 6);
    info[12] = 1;
    view.setUint32(13, 0x1000, true);
    view.setUint32(21, 0x1000, true);
    info.fill(2, 25);
    builder.raw(info);
    const addresses = Array.from({ length: 2000 }, (_, i) => 0x1000 + i);
    const { frames, info: opened } = await look(builder, addresses);
    expect(opened.problems.map(({ what }) => what)).toMatchObject([expect.stringContaining('far too many functions')]);
    expect(frames.size).toBe(2000);
  });

  it('may have an abbreviation table that is far too long', async () => {
    const builder = new DwarfBuilder();
    // They have no attributes, which keeps them small in the file.
    for (let code = 1; code <= 300_000; code++) builder.section.abbrev.uleb(code, TAG.variable).bytes(0, 0, 0);
    builder.section.abbrev.bytes(0);
    builder.unit(unit([subprogram('f', 0x1000, 0x10)]));
    builder.raw(Uint8Array.of(12, 0, 0, 0, 5, 0, 1, 8, 0, 0, 0, 0, 0xe0, 0xa7, 0x12, 0));
    const { chains, info } = await look(builder, [0x1000, 0x5000]);
    expect(chains).toEqual({ 1000: 'f:0' });
    expect(info.problems.map(({ what }) => what)).toEqual(['.debug_abbrev: the table has 262144 or more abbreviations']);
  });

  it('may have abbreviation tables inside one another, which are not read endlessly', async () => {
    const builder = new DwarfBuilder();
    // One table of many rows of six bytes each, and units whose tables start at each of them and whose DIE needs the last.
    const { abbrev } = builder.section;
    for (let code = 0x80; code <= 0x3fff; code++) abbrev.uleb(code, TAG.variable).bytes(0, 0, 0);
    const units = 400;
    const bytes = new Uint8Array(units * 14);
    const view = new DataView(bytes.buffer);
    for (let i = 0; i < units; i++) {
      view.setUint32(i * 14, 10, true);
      view.setUint16(i * 14 + 4, 4, true);
      view.setUint32(i * 14 + 6, i * 6, true);
      bytes.set([8, 0xff, 0x7f, 0], i * 14 + 10);
    }
    builder.raw(bytes);
    const { info } = await look(builder, [0x1000]);
    expect(info.problems).toHaveLength(100);
    expect(new Set(info.problems.map(({ what }) => what.replace(/0x[0-9a-f]+/, 'N')))).toEqual(new Set(['.debug_abbrev at N: endless tables']));
  });

  it('may have many units that do not say where their code is: not all are searched for all addresses', async () => {
    const builder = new DwarfBuilder();
    // Units with a DIE of one byte, whose abbreviation table has functions.
    builder.section.abbrev.bytes(1, TAG.compile_unit, 0, 0, 0, 2, TAG.subprogram, 0, AT.low_pc, FORM.addr, 0, 0, 0);
    const units = 6000;
    const bytes = new Uint8Array(units * 12);
    for (let i = 0; i < units; i++) bytes.set([8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1], i * 12);
    builder.raw(bytes);
    const { info } = await look(
      builder,
      Array.from({ length: 2000 }, (_, i) => 0x1000 + i),
    );
    expect(info.problems.map(({ what }) => what)).toEqual(['6000 units do not say where their code lies: too many to search them all']);
  });

  it('may have ten thousand damaged units, after which no more are read', async () => {
    const builder = new DwarfBuilder();
    const damaged = new Uint8Array(10_000 * 12);
    // The abbreviation of their DIE is in no table.
    for (let i = 0; i < 10_000; i++) damaged.set([8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 0x7f], i * 12);
    builder.unit(unit([subprogram('before', 0x1000, 0x10)], extent(0x1000, 0x10)));
    builder.raw(damaged.subarray(0, 9_999 * 12));
    builder.unit(unit([subprogram('between', 0x2000, 0x10)], extent(0x2000, 0x10)));
    builder.raw(damaged.subarray(0, 12));
    builder.unit(unit([subprogram('behind', 0x3000, 0x10)], extent(0x3000, 0x10)));
    const { chains, info } = await look(builder, [0x1000, 0x2000, 0x3000]);
    expect(chains).toEqual({ 1000: 'before:0', 2000: 'between:0' });
    expect(info.problems).toHaveLength(100);
    expect(info.problems.at(-1)?.what).toContain('9999 units before this one are damaged, too');
  });

  it('may be searched by several look-ups at once', async () => {
    const builder = new DwarfBuilder({ version: 4 });
    // Range lists are read when they are needed, and other look-ups may run meanwhile.
    builder.section.ranges.u64(0x1000, 0x1010, 0x1100, 0x1110, 0, 0, 0x2000, 0x2010, 0, 0);
    const inPieces = (name: string, list: number) => die(TAG.subprogram, [named(name), [AT.ranges, FORM.sec_offset, list]]);
    builder.unit(unit([inPieces('f', 0), subprogram('g', 0x1200, 0x10)], [[AT.ranges, FORM.sec_offset, 0]]));
    builder.unit(unit([subprogram('h', 0x2100, 0x10), inPieces('i', 0x30)], [[AT.ranges, FORM.sec_offset, 0x30]]));
    const info = await DebugInfo.open(sectionsOf(builder));
    const [first, second] = await Promise.all([lookIn(info, [0x1000, 0x1108]), lookIn(info, [0x2000, 0x200f])]);
    expect([...first].map(([at, [frame]]) => [at, nameOf(frame.function)])).toEqual([
      [0x1000, 'f'],
      [0x1108, 'f'],
    ]);
    expect([...second].map(([at, [frame]]) => [at, nameOf(frame.function)])).toEqual([
      [0x2000, 'i'],
      [0x200f, 'i'],
    ]);
  });

  it('may have a unit that does not fit in memory: its lines are found all the same', async () => {
    const builder = new DwarfBuilder();
    builder.section.line.put(
      makeLineProgram({ version: 4, files: [['a.c', 0]], program: (program) => program.setAddress(0x1000).copy().advancePc(16).endSequence() }),
    );
    const size = 2 ** 29 + 1;
    builder.unit({ ...unit([], [...extent(0x1000, 0x10), [AT.stmt_list, FORM.sec_offset, 0]]), lengthLie: size });
    const sections = sectionsOf(builder);
    const { bytes } = await sections.section('info').read(0, size);
    // Memory that is not touched costs nothing.
    const whole = new Uint8Array(size);
    whole.set(bytes);
    const read = async (offset: number, sizeBytes: number): Promise<ByteView> => new ByteView(whole.subarray(offset, offset + sizeBytes), true);
    const info = await DebugInfo.open({ ...sections, section: (name) => (name === 'info' ? { sizeBytes: size, read } : sections.section(name)) });
    const frames = await lookIn(info, [0x1000]);
    expect(frames.get(0x1000)).toEqual([{ function: undefined, file: 'a.c', line: 1, column: 0 }]);
    expect(info.problems.map(({ what }) => what)).toEqual([`.debug_info: a unit of ${size} bytes is too large`]);
  });

  it('may have a range list that is cut off: it is reported once, with the offset of its unit', async () => {
    const builder = new DwarfBuilder({ version: 5 });
    builder.section.rnglists.bytes(6, 1, 2, 3); // DW_RLE_start_end
    builder.unit(unit([subprogram('f', 0x1000, 0x10)], extent(0x1000, 0x10)));
    const bad = builder.unit(unit([], [[AT.ranges, FORM.sec_offset, 0]]));
    const info = await DebugInfo.open(sectionsOf(builder));
    for (let times = 0; times < 2; times++) await lookIn(info, [0x1000, 0x5000]);
    expect(info.problems).toEqual([{ file: 'memory', offset: bad, what: 'range list: a value overruns its bytes' }]);
  });

  it('may be searched for one address after another', async () => {
    const builder = new DwarfBuilder();
    // Two megabytes of names, which are read in windows: each look-up is far from the last one and moves them.
    const name = 'n'.repeat(60_000);
    const functions = Array.from({ length: 34 }, (_, i) => die(TAG.subprogram, [[AT.name, FORM.strp, `${i}${name}`], ...extent(0x1000 + i * 16, 16)]));
    builder.unit(unit(functions));
    const info = await DebugInfo.open(sectionsOf(builder));
    for (let times = 0; times < 400; times++) {
      const index = times % 2 === 0 ? 0 : 33;
      const [frames] = [...(await lookIn(info, [0x1000 + index * 16])).values()];
      expect(frames[0].function?.name.slice(0, 3)).toBe(`${index}nnn`.slice(0, 3));
    }
    expect(info.problems).toEqual([]);
  });

  it('may claim addresses for the same unit over and over', async () => {
    const builder = new DwarfBuilder();
    const first = builder.unit(unit([subprogram('f', 0x1000, 0x10)]));
    for (let i = 0; i < 2000; i++) builder.aranges(i % 7 === 0 ? first : 0x1234 + i, [0, 0xffff_ffff], [0x1000, 0x1000]);
    expect((await look(builder, [0x1000, 0x1800])).chains).toEqual({ 1000: 'f:0' });
  });
});
