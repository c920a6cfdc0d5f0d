import { describe, expect, test } from 'vitest';
import type { UnwindMachine } from '../../src/unwind/machines/unwind-machine.ts';
import type { UnwindModule } from '../../src/unwind/modules/unwind-module.ts';
import { assembleFrames, CfaCode, type PlannedCie, type PlannedFde } from '../support/builders/unwind/frame-assembler.ts';
import { MadeSpace } from '../support/builders/unwind/made-process.ts';
import { madeModule, moduleOf, textOf, type UnwoundSample, unwound } from '../support/builders/unwind/unwound.ts';

const MACHINE: UnwindMachine = 'ppc64';
const BIAS = 0x7fff_9000_0000;
const SP = 0x7fff_f000_1000;
const LR = 65;
const START = 0x1000;
/** Where functions save the link register, in their caller's frame. */
const LR_SAVE = 16;
type Stack = Readonly<Record<number, number | bigint>>;

function hex(...addresses: number[]): string[] {
  return addresses.map((at, i) => `${i ? '' : '!'}${(BIAS + at).toString(16)}`);
}

describe.each([
  ['little-endian', true],
  ['big-endian', false],
])('%s PowerPC stacks', (_, littleEndian) => {
  const code = (): CfaCode => new CfaCode(littleEndian);
  const cie: PlannedCie = { returnAddress: LR, codeAlignment: 4, code: code().defCfa(1, 0) };
  const fde = (start: number, instructions = code()): PlannedFde => ({ start, sizeBytes: 0x100, code: instructions });
  const saving = (): CfaCode => code().defCfaOffset(48).offsetExtendedSf(LR, -2).offset(31, 1);
  const functions = [
    fde(0x1000),
    fde(0x1100, saving()),
    // mr r31, r1, as before alloca
    fde(0x1200, saving().defCfa(31, 48)),
    fde(0x1300, code().undefined(LR)),
    // mflr r0
    fde(0x1400, code().register(LR, 0)),
    // A leaf that saves r31 below the stack pointer.
    fde(0x1500, code().offset(31, 1)),
    // addi r1, r31, 16: r31 is restored later
    fde(0x1600, saving().defCfa(31, 16).advance(8).defCfa(1, 0)),
  ];
  const module = moduleOf(MACHINE, [[cie, functions]], littleEndian);
  const space = (): MadeSpace => new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
  const unwind = (registers: Readonly<Record<string, number>>, stack: Stack): Promise<UnwoundSample> =>
    unwound({ machine: MACHINE, registers: { r1: SP, ...registers }, stack, littleEndian }, space());

  test('begin with the link register in leaves, and go on with what is saved in callers’ frames', async () => {
    const result = await unwind({ nip: BIAS + 0x1010, link: BIAS + 0x1110 }, { [48 + LR_SAVE]: BIAS + 0x1310 });
    expect(result).toEqual({ end: 'complete', frames: hex(0x1010, 0x1110, 0x1310), endAddress: BIAS + 0x1310, endFile: 0 });
  });

  test('may have the return address in another register', async () => {
    expect(await unwind({ nip: BIAS + 0x1410, r0: BIAS + 0x1310, link: 1 }, {})).toMatchObject({ end: 'complete', frames: hex(0x1410, 0x1310) });
  });

  test('have frames found by r31', async () => {
    const result = await unwind({ nip: BIAS + 0x1210, r31: SP + 32 }, { [32 + 48 + LR_SAVE]: BIAS + 0x1310 });
    expect(result).toMatchObject({ end: 'complete', frames: hex(0x1210, 0x1310) });
  });

  test('have frames found by the back chain where a leaf has saved r31 below the stack', async () => {
    const registers = { nip: BIAS + 0x1510, link: BIAS + 0x1210, r31: 5 };
    const result = await unwind(registers, { 0: SP + 48, [48 + LR_SAVE]: BIAS + 0x1210, 48: SP + 96, [96 + LR_SAVE]: BIAS + 0x1310 });
    expect(result).toMatchObject({ end: 'complete', frames: hex(0x1510, 0x1210, 0x1210, 0x1310) });
  });

  test('have frames found by the back chain where r31 may still have to be restored', async () => {
    const registers = { nip: BIAS + 0x1630, link: 1, r31: SP - 16 };
    const result = await unwind(registers, { 0: SP + 64, [LR_SAVE]: BIAS + 0x1210, [32 + LR_SAVE]: 7, [64 + LR_SAVE]: BIAS + 0x1310 });
    expect(result).toMatchObject({ end: 'complete', frames: hex(0x1630, 0x1210, 0x1310) });
  });

  test('end where the start of the thread has no return address', async () => {
    const result = await unwind({ nip: BIAS + 0x1110 }, { [48 + LR_SAVE]: 0 });
    expect(result).toMatchObject({ end: 'complete', frames: hex(0x1110) });
  });

  test('go on from a signal’s frame by the rule of the vdso', async () => {
    const regs = 300;
    // The words that the pointer to the registers, 352 bytes above the stack pointer, leads to.
    const at = (offset: number): Uint8Array => Uint8Array.of(0x71, ...sleb(352), 0x06, ...(offset === 0 ? [] : [0x23, ...uleb(offset)]));
    const rule = code()
      .defCfaExpression(Uint8Array.of(...at(8), 0x06))
      .expression(67, at(256))
      .expression(LR, at(288))
      .expression(31, at(248));
    const { bytes } = assembleFrames(
      [[{ returnAddress: 67, codeAlignment: 4, augmentation: 'zRS', code: code() }, [{ start: 0x300, sizeBytes: 16, code: rule }]]],
      {
        addr: 0x4000,
        littleEndian,
      },
    );
    const vdso = await madeModule(
      MACHINE,
      [{ svma: 0x300, bytes: textOf('4e800421 60000000 60000000 60000000', littleEndian) }],
      [{ name: '.eh_frame', flags: 2, addr: 0x4000, content: bytes }],
      { littleEndian },
    );
    const mapped = space().map(0x7000_0000, 0x7000_1000, vdso, 0x7000_0000);
    const stack = { 352: SP + regs, [regs + 8]: SP + 0x1000, [regs + 256]: BIAS + 0x1010, [regs + 288]: BIAS + 0x1310 };
    const result = await unwound({ machine: MACHINE, registers: { nip: BIAS + 0x1010, link: 0x7000_0304, r1: SP }, stack, littleEndian }, mapped);
    expect(result).toMatchObject({ end: 'complete', frames: [...hex(0x1010), '!70000304', ...hex(0x1010), (BIAS + 0x1310).toString(16)] });
  });

  test.each([
    ['that a handler returns to', 0x304, 128],
    ['after its first instruction', 0x308, 0],
    ['in its system call', 0x310, 0],
  ])('go on from a signal’s frame by the code of the vdso %s', async (_where, pc, freed) => {
    // nop; addi r1, r1, 128; li r0, 172; sc
    const vdso = await madeModule(MACHINE, [{ svma: 0x300, bytes: textOf('60000000 38210080 380000ac 44000002', littleEndian) }], [], { littleEndian });
    const mapped = space().map(0x7000_0000, 0x7000_1000, vdso, 0x7000_0000);
    const at = freed + 232;
    const stack = { [at + 8]: SP + 0x1000, [at + 8 * 32]: BIAS + 0x1010, [at + 8 * 36]: BIAS + 0x1310 };
    const registers = freed === 0 ? { nip: 0x7000_0000 + pc, r1: SP } : { nip: BIAS + 0x1010, link: 0x7000_0000 + pc, r1: SP };
    const result = await unwound({ machine: MACHINE, registers, stack, littleEndian }, mapped);
    const before = [...(freed === 0 ? [] : hex(0x1010)), `!${(0x7000_0000 + pc).toString(16)}`];
    expect(result).toMatchObject({ end: 'complete', frames: [...before, ...hex(0x1010), (BIAS + 0x1310).toString(16)] });
  });
});

describe.each([
  ['little-endian', true],
  ['big-endian', false],
])('%s PowerPC code without rules', (_, littleEndian) => {
  /** mflr r0; std r0, 16(r1); stdu r1, -32(r1); bl; addi r1, r1, 32; ld r0, 16(r1); mtlr r0; blr */
  const FRAMED = '7c0802a6 f8010010 f821ffe1 48000101 38210020 e8010010 7c0803a6 4e800020';
  /** std r2, 24(r1); ld r12, 0(r2); mtctr r12; bctr */
  const STUB = 'f8410018 e9820000 7d8903a6 4e800420';
  const CALLER_AT = 0x1100;
  const NOPS = `${'60000000 '.repeat(32)}`;
  /** A function or stub at 0x1000, and a call that returns to 0x1100, with an epilogue after it. */
  const unwind = async (listing: string, pc: number, link: number, stack: Stack, registers: Readonly<Record<string, number>> = {}): Promise<UnwoundSample> => {
    const caller = { svma: CALLER_AT - 4, bytes: textOf('48000001 38210020 e8010010 7c0803a6 4e800020', littleEndian) };
    const module = await madeModule(MACHINE, [{ svma: START, bytes: textOf(listing, littleEndian) }, caller], [], { littleEndian });
    const space = new MadeSpace().map(BIAS, BIAS + 0x8000, module, BIAS).map(0x5000_0000, 0x5001_0000);
    return unwound({ machine: MACHINE, registers: { nip: BIAS + pc, link, r1: SP, ...registers }, stack, littleEndian }, space);
  };
  const CALL = BIAS + CALLER_AT;

  test.each<[string, number, number, Stack, Readonly<Record<string, number>>]>([
    ['at its first instruction', 0x1000, CALL, { [32 + LR_SAVE]: 0 }, {}],
    ['where the link register was saved', 0x1008, CALL, { [LR_SAVE]: CALL, [32 + LR_SAVE]: 0 }, { r0: CALL }],
    ['after it has called', 0x1010, BIAS + 0x1010, { [32 + LR_SAVE]: CALL, [64 + LR_SAVE]: 0 }, {}],
    ['where it has freed its frame', 0x1014, BIAS + 0x1010, { [LR_SAVE]: CALL, [32 + LR_SAVE]: 0 }, {}],
    ['where another register has its return address', 0x1018, BIAS + 0x1010, { [LR_SAVE]: 5, [32 + LR_SAVE]: 0 }, { r0: CALL }],
    ['at its return', 0x101c, CALL, { [32 + LR_SAVE]: 0 }, {}],
  ])('is left by following it up to its return: %s', async (_name, pc, link, stack, registers) => {
    expect(await unwind(FRAMED, pc, link, stack, registers)).toMatchObject({ end: 'complete', frames: hex(pc, CALLER_AT) });
  });

  test.each([0x1000, 0x1004, 0x1008, 0x100c])('is left by the link register in a PLT stub, at %s', async (pc) => {
    expect(await unwind(STUB, pc, CALL, { [32 + LR_SAVE]: 0 })).toMatchObject({ end: 'complete', frames: hex(pc, CALLER_AT) });
  });

  test('frees its stack by the back chain', async () => {
    // stdu r1, -32(r1) …; bl; ld r1, 0(r1); ld r0, 16(r1); mtlr r0; blr
    const listing = '48000101 e8210000 e8010010 7c0803a6 4e800020';
    const stack = { 0: SP + 0x200, [0x200 + LR_SAVE]: CALL, [0x200 + 32 + LR_SAVE]: 0 };
    expect(await unwind(listing, 0x1004, BIAS + 0x1004, stack)).toMatchObject({ end: 'complete', frames: hex(0x1004, CALLER_AT) });
  });

  test('is left by the back chain if it does not return', async () => {
    // bl; trap
    const stack = { 0: SP + 64, [64 + LR_SAVE]: CALL, [96 + LR_SAVE]: 0 };
    expect(await unwind('48000101 7fe00008', 0x1004, BIAS + 0x1004, stack)).toMatchObject({ end: 'complete', frames: hex(0x1004, CALLER_AT) });
  });

  test('is not left by a back chain that leads to an address without a call before it', async () => {
    const stack = { 0: SP + 64, [64 + LR_SAVE]: CALL + 8 };
    expect(await unwind('48000101 7fe00008', 0x1004, BIAS + 0x1004, stack)).toMatchObject({ end: 'no-rule', frames: hex(0x1004) });
  });

  test('is not taken to go on at what its last call has left in the link register', async () => {
    // bl; nop …; trap
    expect(await unwind(`48000101 ${NOPS}7fe00008`, 0x1020, BIAS + 0x1004, { 0: 0 })).toMatchObject({ end: 'no-rule', frames: hex(0x1020) });
  });

  test('of JITs is left by the link register and back chains', async () => {
    const registers = { nip: 0x5000_0010 };
    const framed = { 0: SP + 64, [64 + LR_SAVE]: 0x5000_0020, 64: SP + 128, [128 + LR_SAVE]: CALL, [160 + LR_SAVE]: 0 };
    const frames = ['!50000010', '50000020', CALL.toString(16)];
    expect(await unwind(FRAMED, 0, 0x5000_0020, framed, registers)).toMatchObject({ end: 'complete', frames });
    expect(await unwind(FRAMED, 0, 0x5000_0014, framed, registers)).toMatchObject({ end: 'complete', frames });
    const frameless = { 0: SP + 64, [64 + LR_SAVE]: 5, [32 + LR_SAVE]: 0 };
    expect(await unwind(FRAMED, 0, CALL, frameless, registers)).toMatchObject({ end: 'complete', frames: ['!50000010', CALL.toString(16)] });
  });
});

describe('stacks of 32-bit PowerPC', () => {
  const LINK_SLOT = 4;
  const low = 0x1000_0000;
  const sp = 0xbfff_1000;
  const code = (): CfaCode => new CfaCode(false);
  const cie: PlannedCie = { returnAddress: LR, codeAlignment: 4, dataAlignment: -4, code: code().defCfa(1, 0) };
  const at = (...addresses: number[]): string[] => addresses.map((address, i) => `${i ? '' : '!'}${(low + address).toString(16)}`);
  const unwind = (module: UnwindModule, registers: Readonly<Record<string, number>>, stack: Stack): Promise<UnwoundSample> =>
    unwound({ machine: 'ppc', registers: { r1: sp, ...registers }, stack, littleEndian: false }, new MadeSpace().map(low, low + 0x8000, module, low));

  test('begin with the link register in leaves, and go on with what is saved in callers’ frames', async () => {
    const saving = code().defCfaOffset(32).offsetExtendedSf(LR, -1);
    const functions = [code(), saving, code().undefined(LR)].map((instructions, i) => ({ start: 0x1000 + 0x100 * i, sizeBytes: 0x100, code: instructions }));
    const module = moduleOf('ppc', [[cie, functions]], false);
    const result = await unwind(module, { nip: low + 0x1010, link: low + 0x1110 }, { [32 + LINK_SLOT]: low + 0x1210 });
    expect(result).toMatchObject({ end: 'complete', frames: at(0x1010, 0x1110, 0x1210) });
  });

  // stwu r1, -32(r1); mflr r0; stw r0, 36(r1); bl; lwz r0, 36(r1); mtlr r0; addi r1, r1, 32; blr; bl; trap; bl; trap
  const listing = '9421ffe0 7c0802a6 90010024 48000101 80010024 7c0803a6 38210020 4e800020 48000101 7fe00008 48000101 7fe00008';

  test.each<[string, number, number, Stack]>([
    ['followed up to their return', 0x1010, 0x1010, { 0: sp + 32, [32 + LINK_SLOT]: low + 0x1024, 32: sp + 64, [64 + LINK_SLOT]: low + 0x102c, 64: 0 }],
    ['left by the link register at their first instruction', 0x1000, 0x1024, { 0: sp + 64, [64 + LINK_SLOT]: low + 0x102c, 64: 0 }],
  ])('are those of code without rules: %s', async (_, pc, link, stack) => {
    const module = await madeModule('ppc', [{ svma: START, bytes: textOf(listing, false) }], [], { littleEndian: false });
    const result = await unwind(module, { nip: low + pc, link: low + link }, stack);
    // The others call functions that never return: they are left by the back chain.
    expect(result).toMatchObject({ end: 'complete', frames: at(pc, 0x1024, 0x102c) });
  });
});

function uleb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...uleb(value >> 7)];
}

function sleb(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...sleb(value >> 7)];
}
