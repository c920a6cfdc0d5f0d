import { describe, expect, test } from 'vitest';
import { assembleFrames, type PlannedFde } from '../../support/builders/unwind/frame-assembler.ts';
import { MadeSpace } from '../../support/builders/unwind/made-process.ts';
import { madeModule, type UnwoundSample, unwound } from '../../support/builders/unwind/unwound.ts';
import { CIE, code, fde, RBP, RIP } from '../../support/builders/unwind/x86-64-functions.ts';

const BIAS = 0x7f00_f000_0000;
const SP = 0x7ffc_f000_1000;
const [LEAF, CALLER, OTHER, START] = [0x1010, 0x1110, 0x1210, 0x1310];
/** An address in code, with no call before it. */
const NO_CALL = 0x1280;
/** Where a function begins. */
const FUNCTION = BIAS + 0x1200;
const DATA = 0x900_0000;
/** In the map of the stack, which may hold code, but not in the dump. */
const STACK_CODE = SP - 0x800;

const RET = [0xc3];
/** add $24, %rsp; ret */
const FREES_24 = [0x48, 0x83, 0xc4, 0x18, 0xc3];
/** call *%rax; add $24, %rsp; ret */
const CALLS_AND_FREES_24 = [0xff, 0xd0, ...FREES_24];
/** hlt */
const HALTS = [0xf4];

interface Sample {
  readonly leaf?: readonly number[];
  readonly leafRule?: PlannedFde;
  /** Where the caller's function begins, up to its call. */
  readonly begins?: readonly number[];
  readonly caller?: readonly number[];
  readonly callerRule?: PlannedFde;
  /** By address that a call returns to: what it calls. */
  readonly calls?: Readonly<Record<number, number>>;
  readonly stack: Readonly<Record<number, number>>;
  readonly followsLibunwind?: boolean;
}

/** Unwinds a stack of a leaf, a caller whose rule says that it has 8 bytes, and others, which have none; nothing calls the start. */
async function unwind({
  leaf = RET,
  leafRule,
  begins = [],
  caller = FREES_24,
  callerRule,
  calls = {},
  stack,
  followsLibunwind = false,
}: Sample): Promise<UnwoundSample> {
  const bytes = new Uint8Array(0x400);
  bytes.set(leaf, LEAF - 0x1000);
  bytes.set(begins, 0x100);
  bytes.set(caller, CALLER - 0x1000);
  bytes.set(RET, OTHER - 0x1000);
  for (const returnsTo of [CALLER, OTHER, START]) bytes.set([0xff, 0xd0], returnsTo - 0x1002);
  for (const [at, target] of Object.entries(calls)) {
    const distance = target - Number(at);
    bytes.set([0xe8, distance & 0xff, (distance >> 8) & 0xff, (distance >> 16) & 0xff, distance >>> 24], Number(at) - 0x1005);
  }
  const rules = [leafRule ?? fde(0x1000), callerRule ?? fde(0x1100, code().defCfaOffset(16)), fde(0x1200), fde(0x1300, code().undefined(RIP))];
  const content = assembleFrames([[CIE, rules]], { addr: 0x4000 }).bytes;
  const module = await madeModule('x86_64', [{ svma: 0x1000, bytes }], [{ name: '.eh_frame', flags: 2, addr: 0x4000, content }]);
  const space = new MadeSpace()
    .map(BIAS, BIAS + 0x10000, module, BIAS)
    .mapData(DATA, DATA + 0x1000)
    .map(SP - 0x1000, SP + 0x1000);
  return unwound({ machine: 'x86_64', registers: { ip: BIAS + LEAF, sp: SP, bp: SP + 0x80 }, stack }, space, { followsLibunwind });
}

const frames = (...callers: readonly number[]): string[] => [`!${(BIAS + LEAF).toString(16)}`, ...callers.map((at) => (BIAS + at).toString(16))];

describe('x86-64 callers whose rules are wrong', () => {
  test.each<[string, number]>([
    ['0', 0],
    ['a number', 7],
    ['an address in code that follows no call', BIAS + NO_CALL],
    ['where a function begins', FUNCTION],
  ])('are left by what their code does if the rule leads to %s', async (_, found) => {
    const result = await unwind({ stack: { 0: BIAS + CALLER, 16: found, 24: 7, 32: BIAS + START } });
    expect(result).toMatchObject({ end: 'complete', frames: frames(CALLER, START) });
  });

  test('are left by what their code does if the rule leads to data, even if a frame pointer leads on from there', async () => {
    const chain = { 128: 0, 136: BIAS + OTHER, 144: BIAS + START };
    const result = await unwind({ stack: { 0: BIAS + CALLER, 16: DATA + 8, 32: BIAS + START, ...chain } });
    expect(result).toMatchObject({ end: 'complete', frames: frames(CALLER, START) });
    const byChain = [...frames(CALLER), (DATA + 8).toString(16), ...frames(OTHER, START).slice(1)];
    expect(await unwind({ caller: HALTS, stack: { 0: BIAS + CALLER, 16: DATA + 8, ...chain } })).toMatchObject({ end: 'complete', frames: byChain });
  });

  test('are left by what their code does if the rule leads to code on the stack, even if a frame pointer leads on from there', async () => {
    const chain = { 128: 0, 136: BIAS + OTHER, 144: BIAS + START };
    const result = await unwind({ stack: { 0: BIAS + CALLER, 16: STACK_CODE, 32: BIAS + START, ...chain } });
    expect(result).toMatchObject({ end: 'complete', frames: frames(CALLER, START) });
  });

  test('are left like this each time they were called', async () => {
    const stack = { 0: BIAS + CALLER, 16: 7, 32: BIAS + CALLER, 48: BIAS + NO_CALL, 64: BIAS + OTHER, 72: BIAS + START };
    expect(await unwind({ stack })).toMatchObject({ end: 'complete', frames: frames(CALLER, CALLER, OTHER, START) });
  });

  test('are left by code that makes a call on the way to its return, unless the rule says that nothing called them', async () => {
    const stack = { 0: BIAS + CALLER, 32: BIAS + START };
    const caller = CALLS_AND_FREES_24;
    expect(await unwind({ caller, stack: { ...stack, 16: 7 } })).toMatchObject({ end: 'complete', frames: frames(CALLER, START) });
    expect(await unwind({ caller, stack: { ...stack, 16: 0 } })).toMatchObject({ end: 'complete', frames: frames(CALLER) });
    const callerRule = fde(0x1100, code().undefined(RIP));
    expect(await unwind({ callerRule, stack: { ...stack, 16: 7 } })).toMatchObject({ end: 'complete', frames: frames(CALLER) });
  });

  test('are left by what their code has done since it began if it leads to no return', async () => {
    // push %rbx, three times
    const begins = [0x53, 0x53, 0x53, ...Array<number>(11).fill(0x90)];
    for (const found of [0, 7, BIAS + NO_CALL, FUNCTION]) {
      const result = await unwind({ begins, caller: HALTS, stack: { 0: BIAS + CALLER, 16: found, 32: BIAS + START } });
      expect(result).toMatchObject({ end: 'complete', frames: frames(CALLER, START) });
    }
  });

  test('are left by what their code does, too, if the rule leads to what looks like the arguments of a program', async () => {
    // push %rbx, four times
    const begins = [0x53, 0x53, 0x53, 0x53, ...Array<number>(10).fill(0x90)];
    const stack = { 0: BIAS + CALLER, 16: 1, 24: SP + 0x100, 32: 0, 40: BIAS + START };
    expect(await unwind({ begins, caller: HALTS, stack })).toMatchObject({ end: 'complete', frames: frames(CALLER, START) });
    expect(await unwind({ caller: HALTS, stack })).toMatchObject({ end: 'complete', frames: frames(CALLER) });
  });

  test.each<[string, Sample, object]>([
    ['their code leads nowhere', { caller: HALTS, stack: { 16: 7, 32: BIAS + START } }, { end: 'unmapped', endAddress: 7 }],
    ['their code leads to what is no return address', { stack: { 16: 7, 32: 8 } }, { end: 'unmapped', endAddress: 7 }],
    ['it leads to 0, as the code does', { caller: [0x58, 0xc3], stack: { 16: 0 } }, { end: 'complete' }],
    ['libunwind is followed', { followsLibunwind: true, stack: { 16: 7, 32: BIAS + START } }, { end: 'unmapped', endAddress: 7 }],
  ])('are left by the rule if %s', async (_, sample, expected) => {
    expect(await unwind({ ...sample, stack: { 0: BIAS + CALLER, ...sample.stack } })).toMatchObject({ ...expected, frames: frames(CALLER) });
  });

  test('are left by the rule if it leads to after a call, whatever the code does', async () => {
    const result = await unwind({ stack: { 0: BIAS + CALLER, 16: BIAS + OTHER, 24: BIAS + START, 32: 7 } });
    expect(result).toMatchObject({ end: 'complete', frames: frames(CALLER, OTHER, START) });
  });
});

describe('x86-64 callers whose rules lead to the return address of another function', () => {
  const [AFTER_OTHER, AFTER_CALLER] = [0x1240, 0x1340];
  const calls = { [AFTER_OTHER]: 0x1200, [AFTER_CALLER]: 0x1100 };

  test('are left by what their code does if that leads to what may be one of theirs, once the stack ends where it cannot', async () => {
    const stack = { 0: BIAS + CALLER, 16: BIAS + AFTER_OTHER, 24: 7 };
    for (const at of [AFTER_CALLER, START])
      expect(await unwind({ calls, stack: { ...stack, 32: BIAS + at } })).toMatchObject({ end: 'complete', frames: frames(CALLER, at) });
  });

  test('are left by the rule otherwise, as after a jump from one function to another', async () => {
    const stack = { 0: BIAS + CALLER, 16: BIAS + AFTER_OTHER, 24: 7 };
    const byRule = { end: 'unmapped', frames: frames(CALLER, AFTER_OTHER) };
    expect(await unwind({ calls, stack: { ...stack, 32: BIAS + AFTER_OTHER } })).toMatchObject(byRule);
    // pop %rcx; ret: the code places the return address where the rule does
    expect(await unwind({ calls, caller: [0x59, 0xc3], stack: { ...stack, 32: BIAS + AFTER_CALLER } })).toMatchObject(byRule);
    // A rule by the frame pointer holds wherever the code has moved the stack pointer.
    const callerRule = fde(0x1100, code().defCfa(RBP, 16));
    const byFramePointer = { 0: BIAS + CALLER, 32: BIAS + AFTER_CALLER, 136: BIAS + AFTER_OTHER, 144: 7 };
    expect(await unwind({ calls, callerRule, stack: byFramePointer })).toMatchObject(byRule);
  });
});

describe('x86-64 leaves whose rules are wrong', () => {
  test('are left by what their code does, rather than to the first word that follows a call', async () => {
    // pop %rax; pop %rcx; ret
    const leaf = [0x58, 0x59, 0xc3];
    const stack = { 0: 7, 8: BIAS + OTHER, 16: BIAS + START };
    expect(await unwind({ leaf, stack })).toMatchObject({ end: 'complete', frames: frames(START) });
  });

  test('are left by what their code does if the rule leads to 0', async () => {
    // pop %rax; ret, as gcc -Oz loads a constant
    expect(await unwind({ leaf: [0x58, 0xc3], stack: { 0: 0, 8: BIAS + START } })).toMatchObject({ end: 'complete', frames: frames(START) });
  });
});

describe('x86-64 leaves that keep the pointer to their frame below the stack pointer, where nothing is recorded,', () => {
  // DW_OP_breg7 (rsp) −8, DW_OP_deref, DW_OP_plus_uconst 8
  const leafRule = fde(0x1000, code().defCfaExpression(Uint8Array.of(0x77, 0x78, 0x06, 0x23, 8)));
  const returns = { 72: BIAS + CALLER, 88: BIAS + START };

  test('are left by a copy of it in the frame', async () => {
    const result = await unwind({ leafRule, stack: { 0: 7, 8: SP + 72, ...returns } });
    expect(result).toMatchObject({ end: 'complete', frames: frames(CALLER, START) });
  });

  test('are left by the first copy that leads to a return address', async () => {
    const others = { 0: SP + 40, 8: SP + 4096, 16: SP + 7, 24: SP + 8, 40: BIAS + NO_CALL };
    const result = await unwind({ leafRule, stack: { ...others, 32: SP + 72, ...returns } });
    expect(result).toMatchObject({ end: 'complete', frames: frames(CALLER, START) });
  });

  test('end the stack if there is no copy', async () => {
    expect(await unwind({ leafRule, stack: { 0: 7, 8: SP + 64, ...returns } })).toMatchObject({ end: 'truncated', frames: frames(), endStackOffset: 0 });
  });

  test('have a wrong rule if libunwind is followed', async () => {
    const result = await unwind({ leafRule, followsLibunwind: true, stack: { 0: 7, 8: SP + 72, ...returns } });
    expect(result).toMatchObject({ end: 'bad-frame', frames: frames() });
  });
});
