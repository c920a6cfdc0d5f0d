import { describe, expect, test } from 'vitest';
import { Unwinder } from '../../../../src/unwind/unwinder.ts';
import { MadeSpace, madeInput } from '../../../support/builders/unwind/made-process.ts';
import { madeModule, type UnwoundSample, unwound } from '../../../support/builders/unwind/unwound.ts';
import { BIAS, type Code, frames, SP, START, spaceOf, textOf } from '../../../support/readers/scanned-code.ts';

describe('RISC-V code without rules', () => {
  /** addi sp, sp, -32; sd ra, 24(sp); jal; beqz a0, 0x1010; ld ra, 24(sp); addi sp, sp, 32; ret; and for 0x1010 the same epilogue. */
  const LEAF = '1101 ec06 000000ef c501 60e2 6105 8082';
  /** jal, followed by an epilogue. */
  const CALLER = '000000ef 60e2 6105 8082';
  const CODE = { 4096: LEAF, 4112: '60e2 6105 8082', 4348: CALLER };
  const unwind = async (pc: number, ra: number, stack: Readonly<Record<number, number>>, pieces: Code = CODE, s0 = 0): Promise<UnwoundSample> =>
    unwound({ machine: 'riscv64', registers: { pc: BIAS + pc, ra, s0, sp: SP }, stack }, await spaceOf('riscv64', pieces, [0]));
  const CALL = BIAS + 0x1100;

  test.each<[string, number, number, Readonly<Record<number, number>>]>([
    ['at its first instruction', 0x1000, CALL, { 24: 0 }],
    ['where the stack pointer was moved', 0x1002, CALL, { 24: BIAS + 0x1008, 56: 0 }],
    ['where the return address was saved', 0x1004, CALL, { 24: CALL, 56: 0 }],
    ['after it has called', 0x1008, BIAS + 0x1008, { 24: CALL, 56: 0 }],
    ['where it is restored', 0x100c, CALL, { 24: 5, 56: 0 }],
    ['at its return', 0x100e, CALL, { 24: 0 }],
  ])('is left by following it up to its return: %s', async (_name, pc, ra, stack) => {
    expect(await unwind(pc, ra, stack)).toMatchObject({ end: 'complete', frames: frames(pc, 0x1100) });
  });

  test('is left by a branch if going straight on does not return', async () => {
    const pieces = { ...CODE, 4106: '9002' };
    expect(await unwind(0x1008, BIAS + 0x1008, { 24: CALL, 56: 0 }, pieces)).toMatchObject({ end: 'complete', frames: frames(0x1008, 0x1100) });
  });

  test('has its frame where the frame pointer says, if the stack pointer comes from it', async () => {
    // addi sp, s0, -32; ld ra, 24(sp); ld s0, 16(sp); addi sp, sp, 32; ret
    const pieces = { ...CODE, 4096: 'fe040113 60e2 6442 6105 8082' };
    const stack = { 24: 5, [0x100 - 8]: CALL, [0x100 - 16]: 0, [0x100 + 24]: 0 };
    expect(await unwind(0x1000, 5, stack, pieces, SP + 0x100)).toMatchObject({ end: 'complete', frames: frames(0x1000, 0x1100) });
  });

  test('may have registers saved by functions called for that purpose', async () => {
    // jal t0, 0x1080; jal; j 0x1090. Saves: addi sp, sp, -32; sd ra, 24(sp); jr t0. Restores: ld ra, 24(sp); addi sp, sp, 32; ret.
    const pieces = { ...CODE, 4096: '080002ef 000000ef a061', 4224: '1101 ec06 8282', 4240: '60e2 6105 8082' };
    expect(await unwind(0x1000, CALL, { 24: 0 }, pieces)).toMatchObject({ end: 'complete', frames: frames(0x1000, 0x1100) });
    expect(await unwind(0x1008, BIAS + 0x1008, { 24: CALL, 56: 0 }, pieces)).toMatchObject({ end: 'complete', frames: frames(0x1008, 0x1100) });
  });

  test('that never returns has no caller, whatever function follows its last call', async () => {
    // jal; and another function, which would return to where the link register leads now.
    const module = await madeModule('riscv64', [{ svma: START, bytes: textOf({ ...CODE, 4128: '000000ef 1101 ec06 60e2 6105 8082' }, [0]) }]);
    const space = new MadeSpace().map(BIAS, BIAS + 0x8000, module, BIAS);
    const unwinder = new Unwinder();
    const input = madeInput({ machine: 'riscv64', registers: { pc: BIAS + 0x1020, ra: CALL, s0: 1, sp: SP }, stack: { 24: 0 } });
    while (unwinder.unwind(input, space) === 'pending') await module.readWanted();
    expect(module.code.scanned.get(0x1020 * 8)).toBe(-1);
  });

  test('is not left by a jump through a register, unless its frame is gone', async () => {
    // jr a5, which may be a table of jumps; addi sp, sp, 32; jr a5.
    const module = await madeModule('riscv64', [{ svma: START, bytes: textOf({ ...CODE, 4128: '8782', 4144: '6105 8782' }, [0]) }]);
    const space = new MadeSpace().map(BIAS, BIAS + 0x8000, module, BIAS);
    for (const [svma, isLeft] of [
      [0x1020, false],
      [0x1030, true],
    ] as const) {
      await unwound({ machine: 'riscv64', registers: { pc: BIAS + svma, ra: CALL, s0: 1, sp: SP }, stack: { 24: 0 } }, space);
      expect((module.code.scanned.get(svma * 8) ?? -1) >= 0).toBe(isLeft);
    }
  });

  test('is not left by a return with part of a word on the stack', async () => {
    // addi sp, sp, 12; ret, where addi sp, sp, 16 would do.
    for (const [listing, rule] of [
      ['0131 8082', -1],
      ['0141 8082', 0],
    ] as const) {
      const module = await madeModule('riscv64', [{ svma: START, bytes: textOf({ 4096: listing }, [0]) }]);
      await unwound(
        { machine: 'riscv64', registers: { pc: BIAS + START, ra: 5, s0: 1, sp: SP }, stack: { 0: 0 } },
        new MadeSpace().map(BIAS, BIAS + 0x8000, module, BIAS),
      );
      expect(module.code.scanned.get(START * 8)).toBe(rule);
    }
  });

  test('is no longer followed once its file has taken too long', async () => {
    for (const [before, rule] of [
      [0, 0],
      [2 ** 24, -1],
    ] as const) {
      const module = await madeModule('riscv64', [{ svma: START, bytes: textOf({ 4096: '0141 8082' }, [0]) }]);
      module.code.effort.scannedInstructions = before;
      const space = new MadeSpace().map(BIAS, BIAS + 0x8000, module, BIAS);
      await unwound({ machine: 'riscv64', registers: { pc: BIAS + START, ra: 5, s0: 1, sp: SP }, stack: { 0: 0 } }, space);
      expect(module.code.scanned.get(START * 8)).toBe(rule);
    }
  });

  test('has no caller if what was saved is not a return address', async () => {
    expect(await unwind(0x1008, 5, { 24: CALL + 2, 56: 0 })).toMatchObject({ end: 'no-rule', frames: frames(0x1008) });
  });

  test('is cut off if the dump does not reach what was saved', async () => {
    expect(await unwind(0x1008, BIAS + 0x1008, { 8: 0 })).toMatchObject({ end: 'truncated', frames: frames(0x1008) });
  });

  test('is not followed without end', async () => {
    const [nop, jumpToItself, popAndReturn] = [
      [0x01, 0x00],
      [0x01, 0xa0],
      [0x05, 0x61, 0x82, 0x80],
    ];
    for (const [code, rule] of [
      [jumpToItself, -1],
      [[...Array(0x3fff).fill(nop), popAndReturn].flat(), -1],
      [[...Array(0x3ffe).fill(nop), popAndReturn].flat(), 0],
    ] as const) {
      const module = await madeModule('riscv64', [{ svma: START, bytes: Uint8Array.from(code) }]);
      const space = new MadeSpace().map(BIAS, BIAS + 0x1_0000, module, BIAS);
      await unwound({ machine: 'riscv64', registers: { pc: BIAS + START, ra: 5, s0: 1, sp: SP }, stack: { 0: 0 } }, space);
      expect(module.code.scanned.get(START * 8)).toBe(rule);
    }
  });

  test('is looked at only once, after it was read', async () => {
    const space = await spaceOf('riscv64', CODE, [0]);
    const unwinder = new Unwinder();
    const input = madeInput({ machine: 'riscv64', registers: { pc: BIAS + 0x1008, ra: 5, sp: SP }, stack: { 24: CALL, 56: 0 } });
    expect(unwinder.unwind(input, space)).toBe('pending');
    const module = unwinder.endModule;
    expect([module?.wantsBytes, module?.code.scanned.get(0x1008 * 8)]).toEqual([true, undefined]);
    await module?.readWanted();
    expect(unwinder.unwind(input, space)).toBe('complete');
    expect(module?.code.scanned.get(0x1008 * 8)).toBeGreaterThanOrEqual(0);
  });
});
