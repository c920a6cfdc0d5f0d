import { describe, expect, test } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { Unwinder } from '../../../src/unwind/unwinder.ts';
import { assembleFrames, type CfaCode } from '../../support/builders/unwind/frame-assembler.ts';
import { MadeSpace, madeInput } from '../../support/builders/unwind/made-process.ts';
import { madeModule, type UnwoundSample, unwound } from '../../support/builders/unwind/unwound.ts';
import { CIE, code, fde, RBP, RIP, RSP } from '../../support/builders/unwind/x86-64-functions.ts';

const BIAS = 0x7f00_f000_0000;
const SP = 0x7ffc_f000_1000;
const [FUNCTION, CALLER, START] = [0x1000, 0x1110, 0x1210];

const PUSH_RBP = [0x55];
/** sub $16, %rsp */
const TAKE_16 = [0x48, 0x83, 0xec, 0x10];
/** add $16, %rsp */
const GIVE_16 = [0x48, 0x83, 0xc4, 0x10];
const POP_RBP = [0x5d];
const LEAVE = [0xc9];
const RET = [0xc3];
/** mov %rsp, %rbp */
const SET_RBP = [0x48, 0x89, 0xe5];
/** mov %rax, %rcx */
const MOVE = [0x48, 0x89, 0xc1];
/** call *%rax */
const CALL = [0xff, 0xd0];

interface Leaf {
  readonly code: readonly number[];
  readonly rules: CfaCode;
  /** Which instruction was sampled: how many bytes of code are before it. */
  readonly at: number;
  readonly registers?: Readonly<Record<string, number>>;
  readonly stack: Readonly<Record<number, number>>;
  readonly isRetired?: boolean;
  readonly followsLibunwind?: boolean;
}

/** A leaf with this code, a caller with 16 bytes on the stack, and the start. */
async function spaceOf({ code: leaf, rules }: Pick<Leaf, 'code' | 'rules'>): Promise<MadeSpace> {
  const bytes = new Uint8Array(0x300).fill(0x90);
  bytes.set(leaf, FUNCTION - 0x1000);
  for (const returnsTo of [CALLER, START]) bytes.set(CALL, returnsTo - 0x1002);
  const functions = [fde(FUNCTION, rules), fde(0x1100, code().defCfaOffset(24)), fde(0x1200, code().undefined(RIP))];
  const content = assembleFrames([[CIE, functions]], { addr: 0x4000 }).bytes;
  const module = await madeModule('x86_64', [{ svma: 0x1000, bytes }], [{ name: '.eh_frame', flags: 2, addr: 0x4000, content }]);
  return new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
}

/** Unwinds a stack of these. */
async function unwind({ at, registers, stack, isRetired = true, followsLibunwind = false, ...leaf }: Leaf): Promise<UnwoundSample> {
  const space = await spaceOf(leaf);
  const sample = { machine: 'x86_64', registers: { ip: BIAS + FUNCTION + at, sp: SP, bp: 0x1234, ...registers }, stack, isRetired } as const;
  return unwound(sample, space, { followsLibunwind });
}

/** A stack that is whole, with the leaf's frame up to this many bytes above the stack pointer. */
const above = (bytes: number, words: Readonly<Record<number, number>> = {}): Record<number, number> => ({
  ...words,
  [bytes]: BIAS + CALLER,
  [bytes + 24]: BIAS + START,
  [bytes + 40]: 0,
});
const whole = (at: number): { end: string; frames: string[]; endAddress: number } => ({
  end: 'complete',
  frames: [`!${(BIAS + FUNCTION + at).toString(16)}`, (BIAS + CALLER).toString(16), (BIAS + START).toString(16)],
  endAddress: BIAS + START,
});

describe('stacks with the registers after the sampled instruction', () => {
  // Without a frame pointer: push, take 16 bytes, call, give them back, pop, return.
  const frame = [...PUSH_RBP, ...TAKE_16, ...CALL, ...MOVE, ...GIVE_16, ...POP_RBP, ...RET];
  const rules = code().advance(1).defCfaOffset(16).offset(RBP, 2).advance(4).defCfaOffset(32).advance(9).defCfaOffset(16).advance(1).defCfaOffset(8);
  const [atPush, atTake, atCall, atMove, atGive, atPop] = [0, 1, 5, 7, 10, 14];

  test('have the callers of a function that moves its stack pointer, even if there are old return addresses', async () => {
    const old = BIAS + START;
    const afterPush = await unwind({ code: frame, rules, at: atPush, registers: { bp: old }, stack: above(8, { 0: old }) });
    expect(afterPush).toMatchObject(whole(atPush));
    expect(await unwind({ code: frame, rules, at: atTake, stack: above(24, { 8: old }) })).toMatchObject(whole(atTake));
    expect(await unwind({ code: frame, rules, at: atMove, stack: above(24, { 8: old }) })).toMatchObject(whole(atMove));
    expect(await unwind({ code: frame, rules, at: atGive, stack: above(8, { 24: old }) })).toMatchObject(whole(atGive));
    expect(await unwind({ code: frame, rules, at: atPop, stack: above(0, { 8: old }) })).toMatchObject(whole(atPop));
  });

  test('have no call to the function itself where it has just called another', async () => {
    const stack = above(32, { 0: BIAS + FUNCTION + atMove });
    expect(await unwind({ code: frame, rules, at: atCall, stack })).toMatchObject(whole(atCall));
    const before = await unwind({ code: frame, rules, at: atCall, stack: above(24) });
    expect(before).toMatchObject(whole(atCall));
  });

  test('may lack the stack at a call, whatever its size is said to be', async () => {
    const space = await spaceOf({ code: frame, rules });
    const sample = { machine: 'x86_64', registers: { ip: BIAS + FUNCTION + atCall, sp: SP, bp: 0x1234 }, stack: above(32), isRetired: true } as const;
    const { view, ...input } = madeInput(sample);
    const cut = { ...input, view: new ByteView(view.bytes.subarray(0, input.stackOffset), true) };
    const unwinder = new Unwinder();
    for (let end = unwinder.unwind(cut, space); end === 'pending' && unwinder.endModule; end = unwinder.unwind(cut, space))
      await unwinder.endModule.readWanted();
    expect([unwinder.end, unwinder.frameCount, cut.stackSizeBytes > 8]).toEqual(['truncated', 1, true]);
  });

  test('have the callers of a function that sets or restores its frame pointer', async () => {
    const withPointer = [...PUSH_RBP, ...SET_RBP, ...MOVE, ...LEAVE, ...RET];
    const pointerRules = code().advance(1).defCfaOffset(16).offset(RBP, 2).advance(3).defCfa(RBP, 16).advance(4).defCfa(RSP, 8);
    const [atSet, atLeave] = [1, 7];
    const set = await unwind({ code: withPointer, rules: pointerRules, at: atSet, registers: { bp: SP }, stack: above(8, { 0: 5 }) });
    expect(set).toMatchObject(whole(atSet));
    expect(await unwind({ code: withPointer, rules: pointerRules, at: atLeave, stack: above(0) })).toMatchObject(whole(atLeave));
  });

  test('are unwound as usual where nothing says so, and as libunwind does', async () => {
    const calls = { code: frame, rules, at: atTake };
    expect(await unwind({ ...calls, stack: above(8), isRetired: false })).toMatchObject(whole(atTake));
    const { frames } = await unwind({ ...calls, stack: above(24), followsLibunwind: true });
    expect(frames).not.toEqual(whole(atTake).frames);
    expect(await unwind({ ...calls, stack: above(8), followsLibunwind: true })).toMatchObject(whole(atTake));
  });

  test('are unwound as usual without the code, and on other machines', async () => {
    const space = new MadeSpace().map(0x10_0000, 0x20_0000);
    const sample = { registers: { ip: 0x10_0010, sp: SP, bp: SP + 16 }, stack: { 16: 0, 24: 0x10_0100 }, isRetired: true } as const;
    const expected = await unwound({ machine: 'x86_64', ...sample, isRetired: false }, space);
    expect(await unwound({ machine: 'x86_64', ...sample }, space)).toEqual(expected);
    const arm = { machine: 'aarch64', registers: { pc: 0x10_0010, sp: SP, x29: SP + 16, lr: 0x10_0100 }, stack: { 16: 0, 24: 0 } } as const;
    expect(await unwound({ ...arm, isRetired: true }, space)).toEqual(await unwound(arm, space));
  });
});
