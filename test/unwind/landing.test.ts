import { describe, expect, test } from 'vitest';
import { Unwinder } from '../../src/unwind/unwinder.ts';
import type { PlannedFde } from '../support/frame-assembler.ts';
import { MadeSpace, madeInput } from '../support/made-process.ts';
import { moduleOf } from '../support/unwound.ts';
import { CIE, code, fde, RAX, RBP, RBX, RIP, RSP } from '../support/x86-64-functions.ts';

const [RCX, R14] = [2, 14];
const BIAS = 0x7f00_0000_0000;
const SP = 0x7ffc_0000_1000;

// As gcc 12 compiles _Unwind_RaiseException: rax is saved, which no caller needs again.
const RAISES = fde(0x1000, code().defCfa(RBP, 16).offset(RBP, 2).offset(RBX, 7).offset(RAX, 9));
const THROWS = fde(0x1100, code().defCfaOffset(16));
const THROWER = fde(0x1200, code().defCfa(RBP, 16).offset(RBP, 2));
const HANDLER = fde(0x1300, code().defCfaOffset(48));
const START = fde(0x1400, code().undefined(RIP));
/** What looks for a handler calls it, and it calls itself. */
const CALLED = fde(0x1500, code().defCfaOffset(16));
const CALLED_BYTES = 16;

// From the stack pointer on: the frame of what raises, to 0x210, with its records of frames; then its callers'.
const OWN = 0x20;
const FOUND = 0xe0;
const [SAVED_RBP, RETURN] = [0x200, 0x208];
const [RECORDED_RBP, RECORDED_RETURN, RECORDED_CFA, RECORDED_PC, RECORDED_FLAGS] = [8 * RBP, 8 * RIP, 144, 152, 192];
const FLAGS = 2 ** 62;
const LANDING_PAD = BIAS + 0x1350;
const CALL_IN_HANDLER = BIAS + 0x1310;

const STACK: Readonly<Record<number, number>> = {
  [OWN + RECORDED_RBP]: SP + SAVED_RBP,
  [OWN + RECORDED_RETURN]: SP + RETURN,
  [OWN + RECORDED_CFA]: SP + 0x210,
  [OWN + RECORDED_PC]: BIAS + 0x1110,
  [OWN + RECORDED_FLAGS]: FLAGS,
  [FOUND + RECORDED_RBP]: SP + 0x230,
  [FOUND + RECORDED_RETURN]: SP + 0x238,
  [FOUND + RECORDED_CFA]: SP + 0x240,
  [FOUND + RECORDED_PC]: LANDING_PAD,
  [FOUND + RECORDED_FLAGS]: FLAGS,
  [SAVED_RBP]: SP + 0x230,
  [RETURN]: BIAS + 0x1110,
  536: BIAS + 0x1210,
  560: SP + 0x260,
  568: CALL_IN_HANDLER,
  608: 0,
  616: BIAS + 0x1410,
};
/** The handler's, in the place of the thrower's. */
const COPIED_RBP = { [SAVED_RBP]: SP + 0x260 };
const COPIED_ALL = { ...COPIED_RBP, [RETURN]: CALL_IN_HANDLER };

interface Setting {
  readonly throws?: PlannedFde;
  readonly raises?: PlannedFde;
  readonly handler?: PlannedFde;
  readonly bp?: number;
  /** Where the sample is, from the function's start. */
  readonly at?: number;
  readonly sp?: number;
  /** Additional ones. */
  readonly registers?: Readonly<Record<string, number>>;
  readonly followsLibunwind?: boolean;
  /** How many calls deeper the sample is, in what the function calls. */
  readonly calls?: 0 | 1 | 2;
}

function frames(
  changes: Readonly<Record<number, number>>,
  { throws = THROWS, raises = RAISES, handler = HANDLER, bp = SP + SAVED_RBP, at = 0x10, sp = SP, registers: others, calls = 0, ...options }: Setting = {},
): string {
  const space = new MadeSpace().map(BIAS, BIAS + 0x10000, moduleOf('x86_64', [[CIE, [raises, throws, THROWER, handler, START, CALLED]]]), BIAS);
  const unwinder = new Unwinder(options);
  const below = calls * CALLED_BYTES + SP - sp;
  const registers = { ip: BIAS + (calls > 0 ? 0x1510 : 0x1000 + at), sp: SP - below, bp, ...others };
  const above = Object.entries({ ...STACK, ...changes }).map(([place, value]) => [Number(place) + below, value]);
  const returns = { ...(calls === 2 && { 8: BIAS + 0x1520 }), ...(calls > 0 && { [below - 8]: BIAS + 0x1010 }) };
  const stack = { ...returns, ...Object.fromEntries(above.filter(([place]) => place >= 0)) };
  const end = unwinder.unwind(madeInput({ machine: 'x86_64', registers, stack }), space);
  return [...[...unwinder.frames.subarray(0, unwinder.frameCount)].map((address) => (address - BIAS).toString(16)), end].join(' ');
}

describe('stacks of an exception on its way to its handler', () => {
  test('are whole until the registers are copied', () => {
    expect(frames({})).toBe('1010 1110 1210 1310 1410 complete');
  });

  test('go on at the handler if a caller needs the frame pointer, which is already the handler’s', () => {
    expect(frames(COPIED_RBP)).toBe('1010 1310 1410 complete');
  });

  describe('while a handler is looked for, in functions that have left the frame pointer alone', () => {
    const SAME_RBP = { 560: SP + 0x230 };

    test('are whole if another register shows that nothing was copied', () => {
      const places = { [OWN + 8 * RBX]: SP + 0x1f8, [FOUND + 8 * RBX]: SP + 0x228 };
      expect(frames({ ...SAME_RBP, ...places, 504: 1, 552: 2 })).toBe('1010 1110 1210 1310 1410 complete');
      expect(frames({ ...SAME_RBP, ...places, 504: 2, 552: 2 })).toBe('1010 1310 1410 complete');
    });

    test('are whole if functions have been called that call others', () => {
      expect(frames(SAME_RBP, { calls: 2 })).toBe('1510 1520 1010 1110 1210 1310 1410 complete');
      expect(frames(SAME_RBP)).toBe('1010 1310 1410 complete');
    });
  });

  test('are whole if a caller has saved the frame pointer', () => {
    const throws = fde(0x1100, code().defCfaOffset(16).offset(RBP, 2));
    expect(frames({ ...COPIED_RBP, 528: SP + 0x230 }, { throws })).toBe('1010 1110 1210 1310 1410 complete');
  });

  test('go on at the handler once the return address is copied', () => {
    expect(frames(COPIED_ALL)).toBe('1010 1310 1410 complete');
  });

  test('also go on at the handler from what copies the registers for that function', () => {
    expect(frames(COPIED_ALL, { calls: 1 })).toBe('1510 1010 1310 1410 complete');
  });

  test('are whole while the registers are copied if the landing pad follows the call that the exception came out of', () => {
    const changes = { ...COPIED_RBP, [FOUND + RECORDED_PC]: CALL_IN_HANDLER };
    const throws = fde(0x1100, code().defCfaOffset(16).offset(RBP, 2));
    const saved = { 528: SP + 0x230 };
    expect(frames({ ...changes, ...saved }, { throws, calls: 1 })).toBe('1510 1010 1110 1210 1310 1410 complete');
    expect(frames({ ...changes, ...saved, ...COPIED_ALL }, { throws, calls: 1 })).toBe('1510 1010 1310 1410 complete');
  });

  test('go on at the handler wherever the records have the stack pointers of both frames', () => {
    const places = { [OWN + 8 * RSP]: SP + 0x1f0, [FOUND + 8 * RSP]: SP + 0x1f8 };
    expect(frames({ ...COPIED_ALL, ...places, 496: SP + 0x210, 504: SP + 0x240 })).toBe('1010 1310 1410 complete');
  });

  test('go on at the handler if the function before it has saved a register right below its return address', () => {
    expect(frames({ ...COPIED_ALL, [FOUND + 8 * R14]: SP + 0x230 })).toBe('1010 1310 1410 complete');
  });

  test('go on by the rule of the landing pad, not of the code before it, once it has taken the place of the return address', () => {
    // As gcc compiles it: the pad comes after the return of the function, where another rule holds.
    const handler = fde(0x1300, code().defCfaOffset(48).advance(0x4f).remember().defCfaOffset(8).advance(1).restoreState());
    const changes = { ...COPIED_ALL, 568: LANDING_PAD };
    expect(frames(changes, { handler })).toBe('1010 1350 1410 complete');
    expect(frames(COPIED_ALL, { handler })).toBe('1010 1310 1410 complete');
  });

  test('go on at the landing pad with the registers at hand, once the function has restored its own', () => {
    // As gcc 12 ends the function: mov (%rbp), %rbp; mov %rcx, %rsp; pop %rcx; jmp *%rcx.
    const end = code().defCfa(RBP, 16).offset(RBP, 2).offset(RBX, 7).offset(RAX, 9).advance(0x40).restore(RBP).defCfa(RCX, 8);
    const raises = fde(0x1000, end.advance(3).defCfaRegister(RSP).advance(1).register(RIP, RCX).defCfaOffset(0));
    const handler = fde(0x1300, code().defCfa(RBX, 16).advance(0x4f).remember().defCfa(RSP, 8).advance(1).restoreState());
    const bx = SP + 0x260;
    const changes = { ...COPIED_ALL, 568: LANDING_PAD };
    expect(frames(changes, { raises, handler, at: 0x40, registers: { bx, cx: SP + 0x238 } })).toBe('1040 1350 1410 complete');
    expect(frames(changes, { raises, handler, at: 0x44, sp: SP + 0x240, registers: { bx, cx: LANDING_PAD } })).toBe('1044 1350 1410 complete');
  });

  test('are followed by the rules if the records are left over from before', () => {
    expect(frames({ [OWN + RECORDED_CFA]: SP + 0x300 })).toBe('1010 1110 1210 1310 1410 complete');
    expect(frames({ ...COPIED_ALL, [OWN + RECORDED_CFA]: SP + 0x300 })).toBe('1010 1310 1310 1410 complete');
  });

  test('are followed by the rules out of functions that return to no handler', () => {
    const raises = fde(0x1000, code().defCfa(RBP, 16).offset(RBP, 2).offset(RBX, 7));
    expect(frames(COPIED_ALL, { raises })).toBe('1010 1310 1310 1410 complete');
  });

  test('are not searched outside the dump', () => {
    // Word by word, that would take days.
    expect(frames({}, { bp: 0x7_ffff_ffff_fff0 })).toBe('1010 truncated');
  });

  test('are followed by the rules if libunwind is followed', () => {
    expect(frames(COPIED_ALL, { followsLibunwind: true })).toBe('1010 1310 1310 1410 complete');
  });
});
