import { describe, expect, test } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { FrameSection } from '../../../src/elf/frame-tables/frame-section.ts';
import { CfaRows } from '../../../src/unwind/rules/cfa-rows.ts';
import { type AssembledFrames, assembleFrames, CfaCode, type PlannedCie } from '../../support/builders/unwind/frame-assembler.ts';
import { rowsOf } from '../../support/readers/frame-rows.ts';

const START = 0x1000;
const CIE: PlannedCie = { returnAddress: 16, code: code().defCfa(7, 8).offset(16, 1) };

function code(): CfaCode {
  return new CfaCode();
}

function sectionOf({ bytes }: AssembledFrames, isDebugFrame = false, addressSize: 4 | 8 = 8, littleEndian = true): FrameSection {
  return new FrameSection({ view: new ByteView(bytes, littleEndian), addr: 0, addressSize, textAddr: 0, dataAddr: 0, isDebugFrame, hasCodeAtZero: false });
}

/** The rows of the only FDE, which is for 256 bytes at 0x1000. */
function rows(fde: CfaCode, cie: Partial<PlannedCie> = {}, isDebugFrame = false, addressSize: 4 | 8 = 8): readonly string[] {
  const frames = assembleFrames([[{ ...CIE, ...cie }, [{ start: START, sizeBytes: 0x100, code: fde }]]], { isDebugFrame, addressSize });
  return rowsOf(sectionOf(frames, isDebugFrame, addressSize)).get(frames.fdeOffsets[0]) ?? [];
}

describe('the rows of an FDE', () => {
  test('are only those of the CIE if it has no instructions', () => {
    expect(rows(code())).toEqual(['1000 r7+8 ra:c-8']);
  });

  test('begin where a location is advanced, by the code alignment, in each of the forms', () => {
    const fde = code().advance(1).defCfaOffset(16).advance1(2).defCfaOffset(24).advance2(3).defCfaOffset(32).advance4(4).defCfaOffset(40);
    expect(rows(fde, { codeAlignment: 4 })).toEqual(['1000 r7+8 ra:c-8', '1004 r7+16 ra:c-8', '100c r7+24 ra:c-8', '1018 r7+32 ra:c-8', '1028 r7+40 ra:c-8']);
    expect(rows(code().mipsAdvance8(0x10).defCfaOffset(16))).toEqual(['1000 r7+8 ra:c-8', '1010 r7+16 ra:c-8']);
  });

  test('begin where a location is set, stored as the CIE says', () => {
    const fde = code().setLoc(0x1020, 4).defCfaOffset(16);
    expect(rows(fde, { encoding: 0x03 })).toEqual(['1000 r7+8 ra:c-8', '1020 r7+16 ra:c-8']);
    expect(rows(code().setLoc(0x1020, 8).defCfaOffset(16), { augmentation: '' }, true)).toEqual(['1000 r7+8 ra:c-8', '1020 r7+16 ra:c-8']);
  });

  test('end where a location goes back', () => {
    const fde = code().advance(8).defCfaOffset(16).advance(8).defCfaOffset(24).setLoc(0x1004, 4).defCfaOffset(32);
    expect(rows(fde, { encoding: 0x03 })).toEqual(['1000 r7+8 ra:c-8', '1008 r7+16 ra:c-8', 'failed']);
    const wrapping = code().advance(8).defCfaOffset(16).mipsAdvance8(0xffff_fff8).defCfaOffset(24);
    expect(rows(wrapping, {}, false, 4)).toEqual(['1000 r7+8 ra:c-8', 'failed']);
  });

  test('have registers saved at offsets, in each of the forms', () => {
    const fde = code().offset(3, 2).offsetExtended(33, 3).offsetExtendedSf(4, -4).negativeOffsetExtended(5, 5);
    expect(rows(fde)).toEqual(['1000 r7+8 r33:c-24 r3:c-16 r4:c+32 r5:c+40 ra:c-8']);
  });

  test('have registers whose values are offsets from the CFA, and registers in others', () => {
    expect(rows(code().valOffset(3, 2).valOffsetSf(4, -3).register(5, 11))).toEqual(['1000 r7+8 r3:v-16 r4:v+24 r5:r11 ra:c-8']);
  });

  test('have registers that are undefined or the same', () => {
    expect(rows(code().undefined(16).sameValue(3))).toEqual(['1000 r7+8 r3:s']);
  });

  test('have expressions', () => {
    const expression = Uint8Array.of(0x77, 0x08, 0x06);
    expect(rows(code().defCfaExpression(expression).expression(3, expression).valExpression(4, expression))).toEqual(['1000 exp r3:exp r4:vexp ra:c-8']);
    // What follows an expression is read from its end on.
    expect(rows(code().expression(3, expression).offset(6, 2))).toEqual(['1000 r7+8 r3:exp r6:c-16 ra:c-8']);
  });

  test('have a CFA of a register and an offset, in each of the forms', () => {
    const fde = code().advance(1).defCfaRegister(6).advance(1).defCfaSf(5, -2).advance(1).defCfaOffsetSf(-4).advance(1).defCfa(7, 4096);
    const expected = ['1000 r7+8 ra:c-8', '1001 r6+8 ra:c-8', '1002 r5+16 ra:c-8', '1003 r5+32 ra:c-8', '1004 r7+4096 ra:c-8'];
    expect(rows(fde)).toEqual(expected);
  });

  test('are restored to what the CIE says, register by register', () => {
    const fde = code().offset(16, 3).offset(3, 2).offset(4, 3).advance(1).restore(3).restoreExtended(16).advance(1).restore(4);
    expect(rows(fde)).toEqual(['1000 r7+8 r3:c-16 r4:c-24 ra:c-24', '1001 r7+8 r4:c-24 ra:c-8', '1002 r7+8 ra:c-8']);
  });

  test('are remembered and restored as a whole, the CFA too, one within another', () => {
    const fde = code().offset(3, 2).remember().advance(1).defCfa(6, 32).offset(4, 3).remember().advance(1).defCfaExpression(Uint8Array.of(0x30)).restore(3);
    fde.advance(1).restoreState().advance(1).restoreState();
    expect(rows(fde)).toEqual([
      '1000 r7+8 r3:c-16 ra:c-8',
      '1001 r6+32 r3:c-16 r4:c-24 ra:c-8',
      '1002 exp r4:c-24 ra:c-8',
      '1003 r6+32 r3:c-16 r4:c-24 ra:c-8',
      '1004 r7+8 r3:c-16 ra:c-8',
    ]);
  });

  test('restore expressions as they were, each with its size', () => {
    const [short, long] = [Uint8Array.of(0x31), Uint8Array.of(0x77, 0x08, 0x06)];
    const cie = { ...CIE, code: code().defCfaExpression(long).expression(3, long).offset(16, 1) };
    const fde = code().expression(3, short).advance(1).restore(3).advance(1).remember().defCfaExpression(short).expression(3, short).advance(1).restoreState();
    const frames = assembleFrames([[cie, [{ start: START, sizeBytes: 16, code: fde }]]]);
    const section = sectionOf(frames);
    section.readFde(frames.fdeOffsets[0]);
    const table = new CfaRows(17);
    table.begin(section);
    const expressions: string[] = [];
    const textOf = (start: number, end: number): string => Buffer.from(frames.bytes.subarray(start, end)).toString('hex');
    while (table.next()) {
      const [at, sizeBytes] = [table.values[3], table.sizes[3]];
      expressions.push(`${textOf(table.cfaExpressionStart, table.cfaExpressionEnd)} ${textOf(at, at + sizeBytes)}`);
    }
    expect(expressions).toEqual(['770806 31', '770806 770806', '31 31', '770806 770806']);
  });

  test('tell from where on return addresses are signed, and from where on they are not', () => {
    const fde = code().advance(1).negateRaState().advance(1).remember().negateRaStateWithPc().advance(1).restoreState();
    const frames = assembleFrames([[CIE, [{ start: START, sizeBytes: 16, code: fde }]]]);
    const section = sectionOf(frames);
    expect(section.readFde(frames.fdeOffsets[0])).toBe(true);
    const table = new CfaRows(35);
    table.begin(section);
    const signed: boolean[] = [];
    while (table.next()) signed.push(table.isSigned);
    expect(signed).toEqual([false, true, false, true]);
  });

  test('are not changed by the sizes of arguments', () => {
    expect(rows(code().argsSize(300).offset(3, 2))).toEqual(['1000 r7+8 r3:c-16 ra:c-8']);
  });

  test('end before an instruction that is unknown or cut off', () => {
    expect(rows(code().advance(1).offset(3, 2).advance(1).raw(0x3e))).toEqual(['1000 r7+8 ra:c-8', '1001 r7+8 r3:c-16 ra:c-8', 'failed']);
    // As long as it takes for no padding to follow.
    expect(rows(code().advance(1).raw(0x0c, 0x80, 0x80, 0x80, 0x80, 0x80))).toEqual(['1000 r7+8 ra:c-8', 'failed']);
    expect(rows(code().restoreState())).toEqual(['failed']);
    expect(rows(code().raw(0x0e, ...new Array(11).fill(0x80), 1))).toEqual(['failed']);
    expect(rows(code(), { code: code().advance(1) })).toEqual(['failed']);
  });

  test('end if states are remembered without end', () => {
    const fde = code();
    for (let i = 0; i < 300; i++) fde.remember();
    expect(rows(fde)).toEqual(['failed']);
  });

  test('are found by address', () => {
    const frames = assembleFrames([[CIE, [{ start: START, sizeBytes: 16, code: code().advance(1).defCfaOffset(16).advance(4).defCfaOffset(8) }]]]);
    const section = sectionOf(frames);
    const table = new CfaRows(17);
    const cfaAt = (svma: number): number | undefined => {
      section.readFde(frames.fdeOffsets[0]);
      table.begin(section);
      return table.find(svma) ? table.cfaOffset : undefined;
    };
    expect([0xfff, 0x1000, 0x1001, 0x1004, 0x1005, 0x100f, 0x1010].map(cfaAt)).toEqual([undefined, 8, 16, 16, 8, 8, undefined]);
  });
});

describe('CIEs', () => {
  const fde = { start: START, sizeBytes: 16, code: code().offset(3, 2) };
  const expected = ['1000 r7+8 r3:c-16 ra:c-8'];
  const read = (
    cie: Partial<PlannedCie>,
    form: { isDebugFrame?: boolean; addressSize?: 4 | 8; littleEndian?: boolean } = {},
  ): readonly string[] | undefined => {
    const { littleEndian = true, addressSize = 8, isDebugFrame = false } = form;
    const frames = assembleFrames([[{ ...CIE, ...cie }, [fde]]], { littleEndian, addressSize, isDebugFrame });
    return rowsOf(sectionOf(frames, isDebugFrame, addressSize, littleEndian)).get(frames.fdeOffsets[0]);
  };

  test.each([1, 3, 4])('are read in version %i', (version) => {
    expect(read({ version })).toEqual(expected);
    expect(read({ version, augmentation: '' }, { isDebugFrame: true })).toEqual(expected);
    expect(read({ version, augmentation: '' }, { isDebugFrame: true, addressSize: 4, littleEndian: false })).toEqual(expected);
  });

  test('are not read in other versions', () => {
    expect(read({ version: 2 })).toBeUndefined();
    expect(read({ version: 5 })).toBeUndefined();
  });

  test.each(['zR', 'zPLR', 'zRS', 'zRB', 'zRG', 'zPR', 'zLR', 'zR?'])('are read with the augmentation %s', (augmentation) => {
    expect(read({ augmentation })).toEqual(expected);
  });

  test('are read without the size of their augmentation if that has no data', () => {
    expect(read({ augmentation: 'eh', encoding: 0 })).toEqual(expected);
    expect(read({ augmentation: 'armcc+' }, { isDebugFrame: true })).toEqual(expected);
    // gas writes these into `.debug_frame`.
    for (const augmentation of ['S', 'B', 'SB', 'BG']) expect(read({ augmentation }, { isDebugFrame: true })).toEqual(expected);
    for (const augmentation of ['R', 'SR', 'P']) expect(read({ augmentation })).toBeUndefined();
  });

  test.each([0x00, 0x02, 0x03, 0x04, 0x0a, 0x0b, 0x0c, 0x10, 0x1a, 0x1b, 0x1c])('are read with addresses stored as %i', (encoding) => {
    expect(read({ encoding })).toEqual(expected);
    expect(read({ encoding }, { littleEndian: false })).toEqual(expected);
  });

  test('are not read with addresses that are stored elsewhere', () => {
    expect(read({ encoding: 0x9b })).toBeUndefined();
    expect(read({ encoding: 0xff })).toBeUndefined();
  });

  test('are read with lengths of 64 bits', () => {
    expect(read({ isExtended: true })).toEqual(expected);
    expect(read({ isExtended: true, version: 4, augmentation: '' }, { isDebugFrame: true })).toEqual(expected);
  });

  test.each(['zRS', 'S'])('tell which frames are those of signals: %s', (augmentation) => {
    const frames = assembleFrames([[{ ...CIE, augmentation }, [fde]]]);
    const section = sectionOf(frames);
    section.readFde(frames.fdeOffsets[0]);
    expect(section.cie).toMatchObject({ isSignalFrame: true, returnAddressRegister: 16 });
  });
});
