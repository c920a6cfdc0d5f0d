import { describe, expect, it } from 'vitest';
import { DebugInfo } from '../../../src/dwarf/debug-info.ts';
import { AT, DwarfBuilder, FORM, Label, TAG } from '../../support/builders/dwarf/dwarf-builder.ts';
import { die, extent, look, lookIn, named, sectionsOf, subprogram, unit } from '../../support/readers/debug-info.ts';

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
