import { describe, expect, test } from 'vitest';
import { Unwinder } from '../../../src/unwind/unwinder.ts';
import { CfaCode, type PlannedFde } from '../../support/builders/unwind/frame-assembler.ts';
import { isNarrow, type MadeSample, MadeSpace, madeInput } from '../../support/builders/unwind/made-process.ts';
import { moduleOf } from '../../support/builders/unwind/unwound.ts';
import { CIE, code, fde, RAX, RBP, RBX, RIP, RSP } from '../../support/builders/unwind/x86-64-functions.ts';

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

  test('are followed by the rules out of a frame in which too many words may begin a record', () => {
    // They are so far from the records that they do not seem to begin one of these.
    const gap = 8 * 256;
    const below = (words: number): string => {
      const pointers = Array.from({ length: words }, (_, i) => [-8 * (i + 1) - gap, SP + RETURN]);
      return frames({ ...COPIED_ALL, ...Object.fromEntries(pointers) }, { sp: SP - 8 * words - gap });
    };
    expect(below(64)).toBe('1010 1310 1410 complete');
    expect(below(1024)).toBe('1010 1310 1310 1410 complete');
  });

  test('are followed by the rules if libunwind is followed', () => {
    expect(frames(COPIED_ALL, { followsLibunwind: true })).toBe('1010 1310 1310 1410 complete');
  });
});

/** Registers by DWARF number, `mark` being one that only functions save that return to a handler; offsets from the CFA are in words. */
interface Machine {
  readonly machine: MadeSample['machine'];
  readonly mark: number;
  readonly sp: number;
  readonly fp: number;
  readonly lr: number;
  /** Registers that libgcc's records list. */
  readonly listed: number;
  readonly names: readonly [sp: string, fp: string, lr: string];
  /** What the CFA is above the stack pointer, and where the return address is saved. */
  readonly bias?: number;
  readonly returnAt?: number;
  readonly littleEndian?: boolean;
}

const MACHINES: readonly Machine[] = [
  { machine: 'aarch64', mark: 0, sp: 31, fp: 29, lr: 30, listed: 98, names: ['sp', 'x29', 'lr'] },
  { machine: 'riscv64', mark: 59, sp: 2, fp: 8, lr: 1, listed: 67, names: ['sp', 's0', 'ra'] },
  { machine: 's390x', mark: 31, sp: 15, fp: 11, lr: 14, listed: 35, names: ['r15', 'r11', 'r14'], bias: 160, littleEndian: false },
  { machine: 'ppc64', mark: 3, sp: 1, fp: 31, lr: 65, listed: 115, names: ['r1', 'r31', 'link'], returnAt: 2 },
  { machine: 'mips64', mark: 4, sp: 29, fp: 30, lr: 31, listed: 188, names: ['r29', 'r30', 'r31'] },
  { machine: 'loongarch64', mark: 4, sp: 3, fp: 22, lr: 1, listed: 75, names: ['r3', 'r22', 'r1'] },
  { machine: 'ppc', mark: 3, sp: 1, fp: 31, lr: 65, listed: 115, names: ['r1', 'r31', 'link'], returnAt: 1, littleEndian: false },
];

describe.each(MACHINES)('stacks of an exception on its way to its handler on $machine', ({ machine, mark, sp, fp, lr, listed, names, ...others }) => {
  const { bias = 0, returnAt = -1, littleEndian = true } = others;
  const word = isNarrow(machine) ? 4 : 8;
  const [base, start] = word === 4 ? [0x1000_0000, 0x7f00_1000] : [BIAS, SP];
  const [pad, callInHandler] = [base + 0x1350, base + 0x1310];
  const flags = word === 4 ? 2 ** 30 : 2 ** 62;
  // The frames' CFAs. Return addresses are saved in the same place of each, frame pointers below them.
  const recordBytes = (listed + 16) * word;
  const cfas = {
    raises: start + 3 * recordBytes,
    throws: start + 3 * recordBytes + 64,
    thrower: start + 3 * recordBytes + 128,
    handler: start + 3 * recordBytes + 320,
  };
  const fpAt = -3;
  // The data alignment factor turns words into bytes and downwards.
  const saving = (cfa: number, from: number, ...registers: (readonly [register: number, at: number])[]): CfaCode =>
    registers.reduce((code, [register, at]) => code.offsetExtendedSf(register, -at), new CfaCode(littleEndian).defCfa(from, cfa));
  const module = (throwsSavesFp: boolean): ReturnType<typeof moduleOf> => {
    const [savedLr, savedFp] = [[lr, returnAt] as const, [fp, fpAt] as const];
    const functions = [
      fde(0x1000, saving(cfas.raises - start, sp, savedLr, savedFp, [mark, -8])),
      fde(0x1100, saving(64 + bias, sp, savedLr, ...(throwsSavesFp ? [savedFp] : []))),
      fde(0x1200, saving(64 + bias, fp, savedLr, savedFp)),
      fde(0x1300, saving(192 + bias, sp, savedLr, savedFp)),
      fde(0x1400, new CfaCode(littleEndian).undefined(lr)),
      fde(0x1500, new CfaCode(littleEndian)),
    ];
    return moduleOf(machine, [[{ returnAddress: lr, dataAlignment: -word, code: saving(bias, sp) }, functions]], littleEndian);
  };
  const record = (at: number, cfa: number, next: number): Record<number, number> => ({
    [at + fp * word]: cfa + fpAt * word,
    [at + lr * word]: cfa + returnAt * word,
    [at + listed * word]: cfa,
    [at + (listed + 1) * word]: next,
    [at + (listed + 6) * word]: flags,
  });
  const saved = (cfa: number, returnAddress: number, pointer: number): Record<number, number> => ({
    [cfa + returnAt * word]: returnAddress,
    [cfa + fpAt * word]: pointer,
  });
  // The thrower's frame is found by its frame pointer.
  const throwersFp = cfas.throws - bias;
  const HANDLERS_FP = 0x1234;
  const memory = {
    ...record(start + 2 * word, cfas.raises, base + 0x1110),
    ...record(start + 2 * word + recordBytes, cfas.thrower, pad),
    ...saved(cfas.raises, base + 0x1110, throwersFp + 8),
    ...saved(cfas.throws, base + 0x1210, throwersFp),
    ...saved(cfas.thrower, callInHandler, HANDLERS_FP),
    ...saved(cfas.handler, base + 0x1410, 0),
  };
  const framesOf = (changes: Readonly<Record<number, number>>, at: number, registers: Readonly<Record<string, number>> = {}, throwsSavesFp = true): string => {
    const stack = Object.fromEntries(Object.entries({ ...memory, ...changes }).map(([address, value]) => [Number(address) - start, value]));
    const space = new MadeSpace().map(base, base + 0x10000, module(throwsSavesFp), base);
    const unwinder = new Unwinder();
    const pc = machine === 'ppc64' || machine === 'ppc' ? 'nip' : 'pc';
    const end = unwinder.unwind(madeInput({ machine, registers: { [pc]: base + at, [names[0]]: start, ...registers }, stack, littleEndian }), space);
    const frames = [...unwinder.frames.subarray(0, unwinder.frameCount)].map((address, i) => (unwinder.isCall[i] ? '' : '!') + (address - base).toString(16));
    return [...frames, end].join(' ');
  };
  const copiedFp = { [cfas.raises + fpAt * word]: HANDLERS_FP };
  const copiedAll = { ...copiedFp, [cfas.raises + returnAt * word]: callInHandler };

  test('are whole until the registers are copied', () => {
    expect(framesOf({}, 0x1010)).toBe('!1010 1110 1210 1310 1410 complete');
  });

  test('go on at the handler once the return address is copied', () => {
    expect(framesOf(copiedAll, 0x1010)).toBe('!1010 1310 1410 complete');
    expect(framesOf(copiedAll, 0x1510, { [names[2]]: base + 0x1010 })).toBe('!1510 1010 1310 1410 complete');
  });

  // Registers are copied in the order of their numbers.
  if (fp < lr)
    test('go on at the handler if a caller needs the frame pointer, which is already the handler’s', () => {
      const before = { [cfas.raises + fpAt * word]: throwersFp };
      expect(framesOf(before, 0x1010, {}, false)).toBe('!1010 1110 1210 1310 1410 complete');
      expect(framesOf(copiedFp, 0x1010, {}, false)).toBe('!1010 1310 1410 complete');
    });

  test('go on at the landing pad once that has taken the place of the return address', () => {
    expect(framesOf({ ...copiedFp, [cfas.raises + returnAt * word]: pad }, 0x1010)).toBe('!1010 !1350 1410 complete');
  });

  if (machine === 'aarch64')
    test('go on at the handler if its return address is signed, unlike that of the function', () => {
      const signed = callInHandler + 2 ** 50;
      const copied = { ...copiedAll, [cfas.raises + returnAt * word]: signed, [cfas.thrower + returnAt * word]: signed };
      expect(framesOf(copied, 0x1010)).toBe('!1010 1310 1410 complete');
      expect(framesOf({ ...copiedFp, [cfas.thrower + returnAt * word]: signed }, 0x1010, {}, false)).toBe('!1010 1310 1410 complete');
    });

  test('are whole if a call whose return address is a landing pad has left the records of an earlier exception', () => {
    const changes = { [cfas.raises + returnAt * word]: pad, [cfas.raises + fpAt * word]: throwersFp };
    const whole = '!1510 1010 1350 1410 complete';
    expect(framesOf({ ...changes, [cfas.raises + 192 + returnAt * word]: base + 0x1410 }, 0x1510, { [names[2]]: base + 0x1010 })).toBe(whole);
  });

  test('are whole while the record of the next frame is made', () => {
    const handler = start + 2 * word + recordBytes;
    const own = cfas.raises + returnAt * word;
    expect(framesOf({ [handler + lr * word]: own, [handler + (listed + 1) * word]: base + 0x1110 }, 0x1010)).toBe('!1010 1110 1210 1310 1410 complete');
    expect(framesOf({ [handler + (listed + 1) * word]: base + 0x1110 }, 0x1010)).toBe('!1010 1110 1210 1310 1410 complete');
  });
});
