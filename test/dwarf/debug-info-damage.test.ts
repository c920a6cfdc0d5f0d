import { describe, expect, it } from 'vitest';
import { ByteView } from '../../src/base/bytes/byte-view.ts';
import { DebugInfo } from '../../src/dwarf/debug-info.ts';
import { AT, type DiePlan, DwarfBuilder, FORM, Label, TAG, type UnitPlan } from '../support/builders/dwarf/dwarf-builder.ts';
import { makeLineProgram } from '../support/builders/dwarf/line-program.ts';
import { memorySections } from '../support/builders/dwarf/memory-sections.ts';
import { die, extent, look, lookIn, named, nameOf, sectionsOf, subprogram, unit } from '../support/readers/debug-info.ts';

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

  it('may all have the same long list of ranges: they are not kept again and again', async () => {
    for (const version of [4, 5]) {
      const builder = new DwarfBuilder({ version });
      const entries = 10_000;
      const { ranges, rnglists } = builder.section;
      for (let i = 0; i < entries; i++) version === 4 ? ranges.u64(0x1000, 0x2000) : rnglists.bytes(6).u64(0x1000, 0x2000);
      version === 4 ? ranges.u64(0, 0) : rnglists.bytes(0);
      for (let i = 0; i < 100; i++) builder.unit(unit([subprogram('f', 0x1000, 0x10)], [[AT.ranges, FORM.sec_offset, 0]]));
      const { info } = await look(builder, [0x1000, 0x5000]);
      expect(info.problems.map(({ what }) => what)).toEqual(['.debug_info: units before this one have far too many ranges: the rest is not looked at']);
    }
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
