import { describe, expect, test } from 'vitest';
import { Unwinder } from '../../src/unwind/unwinder.ts';
import { assembleFrames, CfaCode } from '../support/builders/unwind/frame-assembler.ts';
import { MadeSpace, madeInput } from '../support/builders/unwind/made-process.ts';
import { madeModule, moduleOf, unwound } from '../support/builders/unwind/unwound.ts';
import { CIE, code, fde, R12, RBP, RBX, RIP, RSP } from '../support/builders/unwind/x86-64-functions.ts';

const BIAS = 0x7f00_0000_0000;
const SP = 0x7ffc_0000_1000;

// At `pop %r12; ret`: rbp and rbx have been popped, and the rules still say that they are saved.
const PUSHES = code().defCfaOffset(32).offset(RBP, 4).offset(RBX, 3).offset(R12, 2);
const POPPED = fde(0x1000, PUSHES.advance(4).defCfaOffset(24).advance(1).defCfaOffset(16));
const BY_RBP = fde(0x1100, code().defCfa(RBP, 16).offset(RBP, 2));
const OUTERMOST = fde(0x1200, code().undefined(RIP));

function frames(registers: Readonly<Record<string, number>>, stack: Readonly<Record<number, number>>, options = {}, leaf = POPPED): string {
  const space = new MadeSpace().map(BIAS, BIAS + 0x10000, moduleOf('x86_64', [[CIE, [leaf, BY_RBP, OUTERMOST]]]), BIAS);
  const unwinder = new Unwinder(options);
  const end = unwinder.unwind(madeInput({ machine: 'x86_64', registers, stack }), space);
  return [...[...unwinder.frames.subarray(0, unwinder.frameCount)].map((address) => (address - BIAS).toString(16)), end].join(' ');
}

describe('in the middle of an epilogue', () => {
  const registers = { ip: BIAS + 0x1010, sp: SP, bp: SP + 0x40 };
  const stack = { 0: 12, 8: BIAS + 0x1110, 64: 0, 72: BIAS + 0x1210 };

  test('registers that were popped have their values again', () => {
    expect(frames(registers, stack)).toBe('1010 1110 1210 complete');
  });

  test('popped registers are unknown if libunwind is followed', () => {
    expect(frames(registers, stack, { followsLibunwind: true })).toBe('1010 1110 bad-frame');
  });

  test('popped registers are still in the red zone of a function that a signal interrupted if libunwind is followed', () => {
    const handler = code().defCfa(RSP, 0xa0).offset(RIP, 20);
    const module = moduleOf('x86_64', [
      [CIE, [POPPED, BY_RBP, OUTERMOST]],
      [{ ...CIE, augmentation: 'zRS' }, [fde(0x1300, handler)]],
    ]);
    const space = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    const unwinder = new Unwinder({ followsLibunwind: true });
    // The interrupted function's stack pointer is at 0xa0.
    const saved = { 0: BIAS + 0x1010, 144: SP + 0x100, 160: 12, 168: BIAS + 0x1110, 256: 0, 264: BIAS + 0x1210 };
    const end = unwinder.unwind(madeInput({ machine: 'x86_64', registers: { ...registers, ip: BIAS + 0x1310 }, stack: saved }), space);
    const found = [...unwinder.frames.subarray(0, unwinder.frameCount)].map((address) => address - BIAS);
    expect([end, ...found]).toEqual(['complete', 0x1310, 0x1010, 0x1110, 0x1210]);
  });

  test('registers that callers saved are unknown, too, but their frames are whole', () => {
    const caller = fde(0x1000, code().defCfaOffset(16));
    // The caller says that its rbp is below the leaf's stack pointer.
    const odd = fde(0x1300, code().defCfaOffset(16).offset(RBP, 8));
    const space = new MadeSpace().map(BIAS, BIAS + 0x10000, moduleOf('x86_64', [[CIE, [caller, odd, BY_RBP, OUTERMOST]]]), BIAS);
    const unwinder = new Unwinder();
    const end = unwinder.unwind(madeInput({ machine: 'x86_64', registers, stack: { 8: BIAS + 0x1310, 24: BIAS + 0x1110, 64: 0, 72: BIAS + 0x1210 } }), space);
    expect([end, unwinder.frameCount]).toEqual(['truncated', 3]);
  });

  test('registers that are always saved below the stack pointer are unknown', () => {
    const redZone = fde(0x1000, code().defCfaOffset(16).offset(RBP, 4).offset(RBX, 3).offset(R12, 2));
    expect(frames(registers, stack, {}, redZone)).toBe('1010 1110 truncated');
  });

  test('return addresses are never below the stack pointer', () => {
    expect(frames(registers, stack, {}, fde(0x1000, code().defCfaOffset(16).offset(RIP, 8)))).toMatch(/^1010 (?:truncated|bad-frame)$/);
  });

  test('popped return addresses are not where the thread goes on', () => {
    // As in OCaml's caml_c_call, which keeps its own elsewhere.
    expect(frames(registers, stack, {}, fde(0x1000, code().advance(1).defCfaOffset(0)))).toBe('1010 bad-frame');
  });

  test.each([{}, { followsLibunwind: true }])('return addresses popped before a call are not where it returns to: %j', (options) => {
    // pop %r12; call; push %r12; ret
    const keepsReturn = fde(0x1300, code().advance(1).defCfaOffset(0));
    const space = new MadeSpace().map(BIAS, BIAS + 0x10000, moduleOf('x86_64', [[CIE, [fde(0x1000), keepsReturn]]]), BIAS);
    const unwinder = new Unwinder(options);
    const end = unwinder.unwind(madeInput({ machine: 'x86_64', registers, stack: { 0: BIAS + 0x1310, 8: 0, 16: 0 } }), space);
    expect([end, ...unwinder.frames.subarray(0, unwinder.frameCount)]).toEqual(['bad-frame', BIAS + 0x1010, BIAS + 0x1310]);
  });
});

describe('a return address outside the dump, if libunwind is followed,', () => {
  // 80 bytes are in the dump. The stack's map reaches farther.
  const STACK_END = SP + 0x2000;
  const end = (cfaOffset: number, cie = CIE): string => {
    const registers = { ip: BIAS + 0x1010, sp: SP };
    const module = moduleOf('x86_64', [[cie, [fde(0x1000, code().defCfaOffsetSf(cfaOffset / -8))]]]);
    const space = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS).map(SP - 0x1000, STACK_END);
    return new Unwinder({ followsLibunwind: true }).unwind(madeInput({ machine: 'x86_64', registers, stack: { 72: 0 } }), space);
  };

  test.each<[string, number, string]>([
    ['cuts the stack off if it is after the dump', 0x1000, 'truncated'],
    ['cuts the stack off if it is below', 0, 'truncated'],
    ['breaks the stack if it is after all that is mapped', 0x2008 + 8, 'bad-frame'],
    ['breaks the stack if it is far below', -0x2000, 'bad-frame'],
  ])('%s', (_, cfaOffset, expected) => {
    expect(end(cfaOffset)).toBe(expected);
  });

  test('breaks the stack in the frame of a signal, whatever is mapped', () => {
    const cie = { ...CIE, augmentation: 'zRS' };
    expect([end(0x1000, cie), end(0x2008 + 8, cie)]).toEqual(['bad-frame', 'bad-frame']);
  });

  test('breaks the stack in the frame of a signal if it is 0', () => {
    expect([end(80, { ...CIE, augmentation: 'zRS' }), end(80)]).toEqual(['bad-frame', 'truncated']);
  });

  test('cuts the stack off on other machines, whatever is mapped', () => {
    const [esp, eip, bias, sp] = [4, 8, 0x800_0000, 0xbf00_1000];
    const cie = { returnAddress: eip, code: new CfaCode(true).defCfa(esp, 0x4000).offset(eip, 1) };
    const module = moduleOf('i386', [[cie, [fde(0x1000)]]]);
    const space = new MadeSpace().map(bias, bias + 0x10000, module, bias).map(sp, sp + 0x2000);
    const input = madeInput({ machine: 'i386', registers: { ip: bias + 0x1010, sp }, stack: { 72: 0 } });
    expect(new Unwinder({ followsLibunwind: true }).unwind(input, space)).toBe('truncated');
  });
});

describe('without a rule, if libunwind is followed,', () => {
  const registers = { ip: BIAS + 0x1810, sp: SP, bp: SP + 0x40 };
  const follow = (changes: Readonly<Record<string, number>>, stack: Readonly<Record<number, number>>): string =>
    frames({ ...registers, ...changes }, stack, { followsLibunwind: true });

  test('frame pointers lead to any address', () => {
    expect(follow({}, { 64: 0, 72: BIAS + 0x1210 })).toBe('1810 1210 complete');
    expect(follow({}, { 64: 0, 72: BIAS + 0x20000 })).toBe('1810 unmapped');
  });

  test.each<[string, Readonly<Record<string, number>>, string]>([
    ['below the stack pointer', { bp: SP - 8 }, '1810 no-rule'],
    ['far above it', { bp: SP + 0x4008 }, '1810 no-rule'],
    ['after the dump', { bp: SP + 0x100 }, '1810 no-rule'],
    ['at its end', { bp: SP + 72 }, '1810 no-rule'],
  ])('frame pointers lead nowhere: %s', (_, changes, expected) => {
    expect(follow(changes, { 64: 0, 72: BIAS + 0x1210 })).toBe(expected);
  });

  test.each<[string, Readonly<Record<string, number>>, Readonly<Record<number, number>>]>([
    ['a frame pointer leads out of the dump', { bp: SP + 0x100 }, { 64: 0, 72: 0 }],
    ['only the word at the frame pointer is in the dump', { bp: SP + 72 }, { 64: 0, 72: 0 }],
    ['the return address of another function’s stub is not in the dump', { ip: BIAS + 0x1a00 }, {}],
  ])('a stack is cut off only where the memory beyond the dump is mapped: %s', async (_, changes, stack) => {
    const bytes = new Uint8Array(0x1000).fill(0x90);
    bytes.set(STUB, 0xa00);
    const module = await madeModule('x86_64', [{ svma: 0x1000, bytes }]);
    const end = async (space: MadeSpace): Promise<string> =>
      (await unwound({ machine: 'x86_64', registers: { ...registers, ...changes }, stack }, space, { followsLibunwind: true })).end;
    const space = (): MadeSpace => new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    expect(await end(space())).toBe('no-rule');
    expect(await end(space().mapData(SP, SP + 0x1000))).toBe('truncated');
  });

  /** A stub of the PLT, which has taken nothing of the stack. */
  const STUB = [0xff, 0x25, 1, 2, 3, 4, 0x68, 5, 0, 0, 0, 0xe9, 6, 7, 8, 9];
  test.each<[string, number, string]>([
    ['at its start', 0x1a00, '1a00 1910 1210 complete'],
    ['after its start', 0x1a06, '1a06 1210 complete'],
  ])('the stub of another function is left by what is on top of the stack %s', async (_, pc, expected) => {
    const content = assembleFrames([[CIE, [BY_RBP, fde(0x1900, code().defCfa(RBP, 16).offset(RBP, 2)), OUTERMOST]]], { addr: 0x3000 }).bytes;
    const bytes = new Uint8Array(0x1000).fill(0x90);
    bytes.set(STUB, 0xa00);
    const module = await madeModule('x86_64', [{ svma: 0x1000, bytes }], [{ name: '.eh_frame', flags: 2, addr: 0x3000, content }]);
    const space = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    const sample = { machine: 'x86_64', registers: { ...registers, ip: BIAS + pc }, stack: { 0: BIAS + 0x1910, 64: 0, 72: BIAS + 0x1210 } } as const;
    const { end, frames: found } = await unwound(sample, space, { followsLibunwind: true });
    expect([...found.map((address) => (Number.parseInt(address.replace('!', ''), 16) - BIAS).toString(16)), end].join(' ')).toBe(expected);
  });

  test.each<[string, number, readonly string[], string]>([
    ['from a leaf', 0x1010, ['1010', '1110', '1210'], 'complete'],
    ['not from a caller', 0x1110, ['1110', '1030'], 'no-rule'],
  ])('code of arm64 is left by the link register from a leaf alone: %s', async (_, pc, addresses, end) => {
    const [LR, SP_NUMBER] = [30, 31];
    const cie = { returnAddress: LR, code: code().defCfa(SP_NUMBER, 16).offset(LR, 1) };
    const content = assembleFrames([[cie, [fde(0x1100, code()), fde(0x1200, code().undefined(LR))]]], { addr: 0x3000 }).bytes;
    const text = { svma: 0x1000, bytes: new Uint8Array(0x1000) };
    const module = await madeModule('aarch64', [text], [{ name: '.eh_frame', flags: 2, addr: 0x3000, content }]);
    const space = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    const lr = BIAS + 0x1110;
    const sample = { machine: 'aarch64', registers: { pc: BIAS + pc, sp: SP, lr }, stack: { 8: BIAS + (pc === 0x1010 ? 0x1210 : 0x1030) } } as const;
    const { end: found, frames: all } = await unwound(sample, space, { followsLibunwind: true });
    expect([...all.map((address) => (Number.parseInt(address.replace('!', ''), 16) - BIAS).toString(16)), found]).toEqual([...addresses, end]);
  });

  test('code without a file ends the stack', () => {
    const space = new MadeSpace().map(BIAS, BIAS + 0x10000);
    const unwinder = new Unwinder({ followsLibunwind: true });
    expect(unwinder.unwind(madeInput({ machine: 'x86_64', registers, stack: { 64: 0, 72: BIAS + 0x1210 } }), space)).toBe('no-module');
    expect(unwinder.frameCount).toBe(1);
  });
});
