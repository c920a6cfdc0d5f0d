import { describe, expect, test } from 'vitest';
import { Unwinder } from '../../src/unwind/unwinder.ts';
import { assembleExidx, type PlannedExidx } from '../support/builders/unwind/exidx-assembler.ts';
import { CfaCode, type PlannedCie } from '../support/builders/unwind/frame-assembler.ts';
import { MadeSpace, madeInput } from '../support/builders/unwind/made-process.ts';
import { madeModule, moduleOf, type UnwoundSample, unwound } from '../support/builders/unwind/unwound.ts';

const BIAS = 0xb600_0000;
const SP = 0xbeff_0000;
const [LEAF, LAST] = [0x1000, 0x2000];

/** A leaf that is unwound in some way, and a function that is the thread's first one: its frame pointer is 0. */
async function space(plan: PlannedExidx): Promise<MadeSpace> {
  const sections = assembleExidx(
    [
      [LEAF, plan],
      [LAST, 'cantunwind'],
    ],
    0x4000,
    0x5000,
  );
  return new MadeSpace().map(BIAS, BIAS + 0x8000, await madeModule('arm', [{ svma: 0x1000, bytes: new Uint8Array(0x2000) }], sections), BIAS);
}

/** Unwinds a stack whose words are return addresses into the last function, each a different one: 0x2004, 0x2008 … */
async function leaf(plan: PlannedExidx, registers: Readonly<Record<string, number>> = {}): Promise<UnwoundSample> {
  const stack = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [4 * i, BIAS + LAST + 4 * (i + 1)]));
  return unwound({ machine: 'arm', registers: { pc: BIAS + LEAF + 8, sp: SP, lr: BIAS + LAST + 0x700, ...registers }, stack }, await space(plan));
}

/** Where the return address was taken from, in words from the stack pointer on; −1 for the link register. */
function wordOf({ frames, end }: UnwoundSample): number {
  // If the frame pointer was popped, too, it is not 0 as in the first frame of a thread.
  expect([frames.length, end === 'no-rule' ? 'complete' : end]).toEqual([2, 'complete']);
  const at = Number.parseInt(frames[1], 16) - BIAS - LAST;
  return at === 0x700 ? -1 : at / 4 - 1;
}

describe('.ARM.exidx', () => {
  test.each<[string, PlannedExidx]>([
    ['in the index itself', { inline: [0x01, 0x84, 0x00] }],
    ['in a description of personality 0', { personality: 0, bytes: [0x01, 0x84, 0x00] }],
    ['in a description of personality 1', { personality: 1, bytes: [0x00, 0x00, 0x84, 0x00] }],
    ['in a description of personality 2', { personality: 2, bytes: [0x00, 0x00, 0x84, 0x00] }],
    ['in a description of a language’s own', { personality: 'generic', bytes: [0x00, 0x00, 0x84, 0x00] }],
    [
      'in a description of many words',
      { personality: 1, bytes: [...new Array<number>(30).fill(0xb1).flatMap((pop) => [pop, 0x00 + 1]), 0x40 + 27, 0x84, 0x00] },
    ],
  ])('has instructions %s', async (_name, plan) => {
    expect(wordOf(await leaf(plan))).toBe(2);
  });

  test.each<[string, number[], number]>([
    ['vsp + 4 … 256', [0x3f, 0x84, 0x00], 64],
    ['vsp − 4 … 256', [0x3f, 0x7f, 0x84, 0x00], 0],
    ['pop {r4, r14} by mask', [0x84, 0x01], 1],
    ['pop {r14, r15} by mask: r15 counts', [0x8c, 0x00], 1],
    ['pop {r4 … r11}', [0xa7, 0x84, 0x00], 8],
    ['pop {r4 … r6, r14}', [0xaa], 3],
    ['pop {r4, r14}', [0xa8], 1],
    ['finish', [0xb0, 0x84, 0x00], -1],
    ['pop {r0 … r3}', [0xb1, 0x0f, 0x84, 0x00], 4],
    ['pop {r3}', [0xb1, 0x08, 0x84, 0x00], 1],
    ['vsp + 0x204 + (uleb128 << 2)', [0xb2, 0x84, 0x01, 0x84, 0x00], 129 + 132],
    ['pop D1 … D3, with a word more', [0xb3, 0x12, 0x84, 0x00], 7],
    ['pop the return address’s code', [0xb4, 0x84, 0x00], 1],
    ['the use of the stack pointer in that code', [0xb5, 0x84, 0x00], 0],
    ['pop D8 … D9, with a word more', [0xb9, 0x84, 0x00], 5],
    ['pop wR10 … wR12', [0xc2, 0x84, 0x00], 6],
    ['pop wR1 … wR3', [0xc6, 0x12, 0x84, 0x00], 6],
    ['pop wCGR0, wCGR2', [0xc7, 0x05, 0x84, 0x00], 2],
    ['pop D17 … D18', [0xc8, 0x11, 0x84, 0x00], 4],
    ['pop D1 … D3, plain', [0xc9, 0x12, 0x84, 0x00], 6],
    ['pop D8 … D10', [0xd2, 0x84, 0x00], 6],
    ['pop {r4 … r11, r14}', [0xaf], 8],
    ['pop D0 … D15, with a word more', [0xb3, 0x0f, 0x84, 0x00], 33],
    ['pop D8 … D15, with a word more', [0xbf, 0x84, 0x00], 17],
    ['pop wR10 … wR15', [0xc5, 0x84, 0x00], 12],
    ['pop wR0 … wR15', [0xc6, 0x0f, 0x84, 0x00], 32],
    ['pop wCGR0 … wCGR3', [0xc7, 0x0f, 0x84, 0x00], 4],
    ['pop D16 … D31', [0xc8, 0x0f, 0x84, 0x00], 32],
    ['pop D0 … D15, plain', [0xc9, 0x0f, 0x84, 0x00], 32],
    ['pop D8 … D15', [0xd7, 0x84, 0x00], 16],
  ])('follows %s', async (_name, bytes, expected) => {
    expect(wordOf(await leaf({ personality: 1, bytes }))).toBe(expected);
  });

  test('takes the stack pointer from a register, also from one that was popped', async () => {
    expect(wordOf(await leaf({ personality: 1, bytes: [0x97, 0x84, 0x00] }, { r7: SP + 40 }))).toBe(10);
    // The words of the stack are no addresses of it.
    expect((await leaf({ personality: 1, bytes: [0xa3, 0x97, 0x84, 0x00] }, { r7: SP + 40 })).end).toBe('truncated');
  });

  test('takes the return address from where each function has it', async () => {
    // The leaf pops r15 itself, its caller r14.
    const sections = assembleExidx(
      [
        [LEAF, { inline: [0x88, 0x00] }],
        [LEAF + 0x100, { inline: [0x84, 0x00] }],
        [LAST, 'cantunwind'],
      ],
      0x4000,
      0x5000,
    );
    const module = await madeModule('arm', [{ svma: 0x1000, bytes: new Uint8Array(0x2000) }], sections);
    const stack = { 0: BIAS + LEAF + 0x108, 4: BIAS + LAST + 8, 8: 0 };
    const registers = { pc: BIAS + LEAF + 8, sp: SP, lr: 5 };
    const { frames } = await unwound({ machine: 'arm', registers, stack }, new MadeSpace().map(BIAS, BIAS + 0x8000, module, BIAS));
    expect(frames.map((frame) => frame.slice(-4))).toEqual(['1008', '1108', '2008']);
  });

  test('is followed again after instructions that ended it', async () => {
    const sections = assembleExidx(
      [
        [LEAF, { inline: [0xb6, 0xb0, 0xb0] }],
        [LEAF + 0x100, { inline: [0x84, 0x00] }],
        [LAST, 'cantunwind'],
      ],
      0x4000,
      0x5000,
    );
    const module = await madeModule('arm', [{ svma: 0x1000, bytes: new Uint8Array(0x2000) }], sections);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x8000, module, BIAS);
    const unwinder = new Unwinder();
    const endAt = async (svma: number): Promise<string> => {
      const input = madeInput({ machine: 'arm', registers: { pc: BIAS + svma, sp: SP, lr: 5 }, stack: { 0: BIAS + LAST + 8 } });
      if (unwinder.unwind(input, mapped) === 'pending') await module.readWanted();
      return unwinder.unwind(input, mapped);
    };
    expect([await endAt(LEAF + 8), await endAt(LEAF + 0x108)]).toEqual(['bad-frame', 'complete']);
  });

  test('pops the stack pointer itself', async () => {
    const sections = assembleExidx(
      [
        [LEAF, { personality: 1, bytes: [0x86, 0x00] }],
        [LAST, 'cantunwind'],
      ],
      0x4000,
      0x5000,
    );
    const module = await madeModule('arm', [{ svma: 0x1000, bytes: new Uint8Array(0x2000) }], sections);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x8000, module, BIAS);
    const stack = { 0: SP + 0x20, 4: BIAS + LEAF + 8, 32: SP + 0x40, 36: BIAS + LAST + 8 };
    const result = await unwound({ machine: 'arm', registers: { pc: BIAS + LEAF + 8, sp: SP }, stack }, mapped);
    expect(result.frames.map((frame) => frame.slice(-4))).toEqual(['1008', '1008', '2008']);
  });

  test.each<[string, number[]]>([
    ['that refuse', [0x80, 0x00]],
    ['with a spare number', [0xb6]],
    ['with a spare number of the coprocessor’s', [0xca]],
    ['at the end of the list', [0xff]],
    ['that pop nothing', [0xb1, 0x00]],
    ['that pop registers that do not exist', [0xb1, 0x10]],
    ['that take the stack pointer from itself', [0x9d]],
    ['that take the stack pointer from the program counter', [0x9f]],
    ['that pop none of the coprocessor’s control registers', [0xc7, 0x00]],
    ['that pop control registers that do not exist', [0xc7, 0x10]],
  ])('ends at instructions %s', async (_name, bytes) => {
    expect(await leaf({ personality: 1, bytes })).toMatchObject({ end: 'bad-frame', endAddress: BIAS + LEAF + 8 });
  });

  /** str lr, [sp, #-4]! */
  const [A32_PUSH, T32_PUSH] = [
    [0x04, 0xe0, 0x2d, 0xe5],
    [0x4d, 0xf8, 0x04, 0xed],
  ];

  test.each<[string, number, number[], number[]]>([
    // From 0x2044 back to 0x1000: −0x1044.
    ['bl of Thumb', 0x2045, [0xfe, 0xf7, 0xde, 0xff], T32_PUSH],
    ['blx of Thumb', 0x2045, [0xfe, 0xf7, 0xde, 0xef], A32_PUSH],
    ['bl', 0x2044, [0xee, 0xfb, 0xff, 0xeb], A32_PUSH],
    ['blx', 0x2044, [0xee, 0xfb, 0xff, 0xfa], T32_PUSH],
  ])('is ignored at the first instruction of a function, which a direct call tells: %s', async (_name, link, call, push) => {
    const code = new Uint8Array(0x2000);
    code.set(push, 0);
    code.set(call, 0x1040);
    const sections = assembleExidx(
      [
        [LEAF, { inline: [0x84, 0x00] }],
        [LAST, 'cantunwind'],
      ],
      0x4000,
      0x5000,
    );
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x8000, await madeModule('arm', [{ svma: 0x1000, bytes: code }], sections), BIAS);
    const at = async (pc: number): Promise<readonly string[]> =>
      (await unwound({ machine: 'arm', registers: { pc: BIAS + pc, sp: SP, lr: BIAS + link }, stack: { 0: BIAS + LAST + 8 } }, mapped)).frames.map((frame) =>
        frame.slice(-4),
      );
    expect(await at(LEAF)).toEqual(['1000', '2044']);
    expect(await at(LEAF + 4)).toEqual(['1004', '2008']);
  });

  test('ends where the stack does, even if the link register still leads on', async () => {
    const [first, second] = assembleExidx([[LEAF, { inline: [0x00, 0xb0] }]], 0x4000, 0x5000);
    const code = [{ svma: 0x1000, bytes: new Uint8Array(0x2000) }];
    const endless = new MadeSpace().map(BIAS, BIAS + 0x8000, await madeModule('arm', code, [first, second]), BIAS);
    const registers = { pc: BIAS + LEAF + 8, sp: SP, lr: BIAS + LEAF + 0x20 };
    const { frames, end } = await unwound({ machine: 'arm', registers, stack: { 0: 0, 4: 0, 8: 0 } }, endless);
    expect([frames.length <= 5, end]).toEqual([true, 'truncated']);
  });

  test('clears the Thumb bit of addresses', async () => {
    const sections = assembleExidx(
      [
        [LEAF, { inline: [0x84, 0x00] }],
        [LAST, 'cantunwind'],
      ],
      0x4000,
      0x5000,
    );
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x8000, await madeModule('arm', [{ svma: 0x1000, bytes: new Uint8Array(0x2000) }], sections), BIAS);
    const result = await unwound({ machine: 'arm', registers: { pc: BIAS + LEAF + 9, sp: SP }, stack: { 0: BIAS + LAST + 9 } }, mapped);
    expect(result).toMatchObject({ end: 'complete', frames: [`!${(BIAS + LEAF + 8).toString(16)}`, (BIAS + LAST + 8).toString(16)] });
  });

  test('has nothing before its first function', async () => {
    const mapped = await space({ inline: [0x84, 0x00] });
    const result = await unwound({ machine: 'arm', registers: { pc: BIAS + 0x800, sp: SP, lr: 5 }, stack: {} }, mapped);
    expect(result).toMatchObject({ end: 'no-rule', frames: [`!${(BIAS + 0x800).toString(16)}`] });
  });

  test('is ignored if descriptions lead nowhere', async () => {
    const [index] = assembleExidx([[LEAF, { personality: 1, bytes: [0x84, 0x00] }]], 0x4000, 0x5000);
    const module = await madeModule('arm', [], [index]);
    expect(module.ruleAt(LEAF)).toBe(-1);
  });
});

/** Words as bytes. */
function words(...values: readonly number[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(values).buffer);
}

describe('signals of 32-bit Arm', () => {
  const [TRAMPOLINE, INTERRUPTED] = [0x1800, 0x1900];
  const BLX_R3 = 0xe12f_ff33;
  const BX_LR = 0xe12f_ff1e;
  const STATUS = 16;

  test.each([
    ['mov r7, #119; svc #0', words(0xe3a0_7077, 0xef00_0000), [0, 4, 8], 32],
    ['mov r7, #119; svc #0 (Thumb)', Uint8Array.of(0x4f, 0xf0, 0x77, 0x07, 0x00, 0xdf), [0, 4, 6], 32],
    ['mov r7, #173; svc #0', words(0xe3a0_70ad, 0xef00_0000), [0, 4, 8], 160],
    ['mov r7, #173; svc #0 (Thumb)', Uint8Array.of(0x4f, 0xf0, 0xad, 0x07, 0x00, 0xdf), [0, 4, 6], 160],
  ])('are unwound to the instruction that they interrupted, in the instruction set that was saved: %s', async (_name, bytes, offsets, savedAt) => {
    const code = new Uint8Array(0x2000);
    code.set(bytes, TRAMPOLINE - 0x1000);
    code.set(words(BX_LR), TRAMPOLINE + 12 - 0x1000);
    // pop {r4, pc}; nop of Thumb; in A32 a conditional svc, and bx lr.
    code.set(words(0xbf00_bd10, BX_LR), INTERRUPTED - 0x1000);
    code.set(words(BLX_R3, BLX_R3, BLX_R3), LAST - 0x1000);
    const sections = assembleExidx(
      [
        [LEAF, { inline: [0xb0, 0xb0] }],
        [LAST, 'cantunwind'],
      ],
      0x4000,
      0x5000,
    );
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x8000, await madeModule('arm', [{ svma: 0x1000, bytes: code }], sections), BIAS);
    const sp = 0x400;
    const saved = { 13: SP + sp, 14: BIAS + LAST + 8, 15: BIAS + INTERRUPTED };
    const stack = {
      ...Object.fromEntries(Object.entries(saved).map(([register, value]) => [savedAt + 4 * Number(register), value])),
      [sp + 4]: BIAS + LAST + 12,
    };
    const hex = (svma: number): string => (BIAS + svma).toString(16);
    for (const offset of offsets) {
      const registers = { pc: BIAS + TRAMPOLINE + offset, sp: SP, lr: BIAS + LAST + 4 };
      const framesIn = async (status: number): Promise<readonly string[]> =>
        (await unwound({ machine: 'arm', registers, stack: { ...stack, [savedAt + 4 * STATUS]: status } }, mapped)).frames;
      expect(await framesIn(0x10)).toEqual([`!${hex(TRAMPOLINE + offset)}`, `!${hex(INTERRUPTED)}`, hex(LAST + 8)]);
      expect(await framesIn(0x30)).toEqual([`!${hex(TRAMPOLINE + offset)}`, `!${hex(INTERRUPTED)}`, hex(LAST + 12)]);
    }
  });
});

test('32-bit Arm stacks are unwound by .eh_frame if there is one', async () => {
  const cie: PlannedCie = { returnAddress: 14, dataAlignment: -4, code: new CfaCode().defCfa(13, 0) };
  const functions = [
    { start: 0x1000, sizeBytes: 0x100, code: new CfaCode() },
    { start: 0x1100, sizeBytes: 0x100, code: new CfaCode().defCfaOffset(8).offset(14, 1).offset(4, 2) },
    { start: 0x1200, sizeBytes: 0x100, code: new CfaCode().undefined(14) },
  ];
  const mapped = new MadeSpace().map(BIAS, BIAS + 0x8000, moduleOf('arm', [[cie, functions]]), BIAS);
  const result = await unwound({ machine: 'arm', registers: { pc: BIAS + 0x1008, sp: SP, lr: BIAS + 0x1109 }, stack: { 0: 0, 4: BIAS + 0x1209 } }, mapped);
  expect(result).toMatchObject({ end: 'complete', frames: [`!${(BIAS + 0x1008).toString(16)}`, (BIAS + 0x1108).toString(16), (BIAS + 0x1208).toString(16)] });
});

/** A number in memory at the arguments, which follow it: the first two words of text, a null, the environment, a null, and an entry of the auxiliary vector. */
function argumentsAt(at: number): Record<number, number> {
  const text = SP + 0x800;
  return { [at]: text, [at + 4]: text + 8, [at + 8]: 0, [at + 12]: text + 16, [at + 16]: 0, [at + 20]: 6, [at + 24]: 4096, [at + 28]: 0 };
}

describe('the first function of a program on 32-bit Arm', () => {
  // bl; udf: it calls what never returns, with three words on the stack.
  const mapped = async (code: Uint8Array): Promise<MadeSpace> =>
    new MadeSpace().map(BIAS, BIAS + 0x8000, await madeModule('arm', [{ svma: 0x1000, bytes: code }]), BIAS);
  const unwindStart = async (code: Uint8Array, stack: Readonly<Record<number, number>>): Promise<UnwoundSample> =>
    unwound({ machine: 'arm', registers: { pc: BIAS + 0x1000, sp: SP, lr: BIAS + 0x1108, fp: 5 }, stack }, await mapped(code));
  const CODE = new Uint8Array(0x1000);
  // bx lr; at 0x1104 bl 0x1000, and udf
  CODE.set(words(0xe12f_ff1e));
  CODE.set(words(0xebff_ffbd, 0xe7f0_00f0), 0x104);
  const frames = [`!${(BIAS + 0x1000).toString(16)}`, (BIAS + 0x1108).toString(16)];

  test('is known by the address of the arguments, which it puts into the place of their number', async () => {
    expect(await unwindStart(CODE, { 0: 0, 4: 5, 8: SP + 12, ...argumentsAt(12) })).toMatchObject({ end: 'complete', frames });
    expect(await unwindStart(CODE, { 0: 0, 4: 5, 8: SP + 16, ...argumentsAt(12) })).toMatchObject({ end: 'no-rule', frames });
  });

  test('has no caller beyond the arguments, whatever the code after it does', async () => {
    const code = CODE.slice();
    // add sp, #4096; pop {pc}
    code.set(words(0xe28d_da01, 0xe49d_f004), 0x108);
    expect(await unwindStart(code, { 0: 0, 4: 5, 8: SP + 12, ...argumentsAt(12) })).toMatchObject({ end: 'complete', frames });
    expect(await unwindStart(code, { 0: 0, 4: 5, 8: SP + 16, ...argumentsAt(12) })).toMatchObject({ end: 'truncated', frames });
  });
});

describe('exceptions of 32-bit Arm', () => {
  // bx lr; push {r2, r3}; add r1, sp, #4; bl; ldr lr, [sp, #64]; add sp, #72; bx lr; two calls
  const T32 = '4770 e92d 000c a901 f000 f800 f8dd e040 b012 4770 f000 f800 f000 f800';
  const A32 = 'ff1e e12f 000c e92d 1004 e28d fffe ebff e040 e59d d048 e28d ff1e e12f fffe ebff fffe ebff';
  /** Where the call is that looks for the handler, the caller, and the function whose turn it is, by what is returned to. */
  const [RAISE, CALLER, TURN] = [
    { T32: 0x100d, A32: 0x1010 },
    { T32: 0x1019, A32: 0x1020 },
    { T32: 0x101d, A32: 0x1024 },
  ];

  test.each([
    ['T32', T32],
    ['A32', A32],
  ] as const)('go on with the function that is being left: %s', async (set, listing) => {
    const bytes = Uint8Array.from(listing.split(' ').flatMap((half) => [Number.parseInt(half.slice(2), 16), Number.parseInt(half.slice(0, 2), 16)]));
    const sections = assembleExidx([[0x1000, 'cantunwind']], 0x4000, 0x5000);
    const code = new MadeSpace().map(BIAS, BIAS + 0x8000, await madeModule('arm', [{ svma: 0x1000, bytes }], sections), BIAS);
    // The words of r0 … r15 follow two others. As they are pushed, and once a function has been left.
    const pushed = { 8: 1, 52: 0, 60: SP + 72, 64: BIAS + CALLER[set], 68: BIAS + CALLER[set] };
    const unwind = (stack: Readonly<Record<number, number>>): Promise<UnwoundSample> =>
      unwound({ machine: 'arm', registers: { pc: BIAS + 0x1000, lr: BIAS + RAISE[set], sp: SP, fp: 1 }, stack: { ...stack, 400: 0 } }, code);
    const framesTo = (at: number): string[] => [`!${(BIAS + 0x1000).toString(16)}`, (BIAS + (RAISE[set] & ~1)).toString(16), (BIAS + (at & ~1)).toString(16)];
    expect((await unwind(pushed)).frames).toEqual(framesTo(CALLER[set]));
    expect((await unwind({ ...pushed, 60: SP + 200, 68: BIAS + TURN[set] })).frames).toEqual(framesTo(TURN[set]));
    // What leads nowhere is not followed.
    expect((await unwind({ ...pushed, 68: 5 })).frames).toEqual(framesTo(CALLER[set]));
    expect((await unwind({ ...pushed, 60: SP - 8, 68: BIAS + TURN[set] })).frames).toEqual(framesTo(CALLER[set]));
  });

  describe('while libgcc follows the instructions of a function', () => {
    // add sp, #16; bx lr; as above; a function that makes a call; a call of that function
    const listing = 'b004 4770 e92d 000c a901 f000 f800 f8dd e040 b012 4770 f000 f800 f7ff fffc';
    const bytes = Uint8Array.from(listing.split(' ').flatMap((half) => [Number.parseInt(half.slice(2), 16), Number.parseInt(half.slice(0, 2), 16)]));
    const [FUNCTION, CALL, CALLER] = [0x1016, 0x101b, 0x101f];
    // vsp += 8; pop {r4, lr}; finish. And in the caller: pop {r4, lr}
    const sections = assembleExidx(
      [
        [0x1000, 'cantunwind'],
        [FUNCTION, { inline: [0x01, 0xa8, 0xb0] }],
        [0x101a, { inline: [0xa8, 0xb0] }],
      ],
      0x4000,
      0x5000,
    );
    const frame = SP + 200;
    const unwind = async (rest: number, sp: number, registers: Readonly<Record<number, number>> = {}, state: Readonly<Record<number, number>> = {}) => {
      const code = new MadeSpace().map(BIAS, BIAS + 0x8000, await madeModule('arm', [{ svma: 0x1000, bytes }], sections), BIAS);
      // Above what libgcc knows of the instructions, two words, and r0 … r15. Then the frames of both functions.
      const words = { 24: 1, 40: 4, 76: sp, 80: BIAS + CALL, 84: BIAS + CALL, 208: 14, 212: BIAS + CALLER, 216: 15, 220: 0 };
      const known = { 0: rest, 4: BIAS + 0x4010, 8: rest === 0 ? 0 : rest === 0xb000_0000 ? 1 : 2, ...state };
      const sample = { pc: BIAS + 0x1000, lr: BIAS + 0x100f, sp: SP, fp: 1 };
      return unwound({ machine: 'arm', registers: sample, stack: { ...known, ...words, ...registers } }, code);
    };
    const framesTo = (...ends: number[]): string[] => [`!${(BIAS + 0x1000).toString(16)}`, ...[0x100e, ...ends].map((at) => (BIAS + (at & ~1)).toString(16))];

    test('go on with it before they have an effect', async () => {
      for (const state of [{ 4: 0 }, {}]) {
        expect(await unwind(0xa8b0_0000, frame, {}, state)).toMatchObject({ end: 'complete', frames: framesTo(CALL, CALLER) });
      }
    });

    test.each([
      ['once the stack pointer was moved', 0xa8b0_0000, frame + 8, {}],
      ['before registers are popped', 0xb000_0000, frame + 8, {}],
      ['while registers are popped', 0xb000_0000, frame + 8, { 40: 14 }],
      ['once registers were popped', 0xb000_0000, frame + 16, { 40: 14, 80: BIAS + CALLER }],
      ['at the end', 0, frame + 16, { 40: 14, 80: BIAS + CALLER }],
    ])('go on with its caller: %s', async (_, rest, sp, registers) => {
      expect(await unwind(rest, sp, registers)).toMatchObject({ end: 'complete', frames: framesTo(CALLER) });
    });

    test.each([
      ['of another word', { 4: BIAS + 0x4014 }],
      ['with other bytes', { 0: 0xa8b1_0000 }],
      ['with another number of bytes', { 8: 1 }],
      ['with another number of words', { 8: 0x102 }],
    ])('do not take other words for what is known of them: %s', async (_, state) => {
      const { frames } = await unwind(0xa8b0_0000, frame + 8, {}, state);
      expect(frames.slice(0, 3)).toEqual(framesTo(CALL));
    });

    test('do not take the link register of another function for what they have left there', async () => {
      expect(await unwind(0, frame, { 80: BIAS + 0x100f })).toMatchObject({ end: 'complete', frames: framesTo(CALL, CALLER) });
    });

    test('go on at the call of the handler’s function once the handler has taken its place', async () => {
      expect(await unwind(0, frame, { 84: BIAS + FUNCTION + 1 }, { 4: 0 })).toMatchObject({ end: 'complete', frames: framesTo(CALL, CALLER) });
    });
  });
});
