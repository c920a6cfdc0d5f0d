import { describe, expect, test } from 'vitest';
import type { UnwindMachine } from '../../../src/unwind/unwind-machine.ts';
import { Unwinder } from '../../../src/unwind/unwinder.ts';
import { assembleExidx } from '../../support/exidx-assembler.ts';
import { assembleFrames, CfaCode } from '../../support/frame-assembler.ts';
import { MadeSpace, madeInput } from '../../support/made-process.ts';
import { madeModule, type UnwoundSample, unwound } from '../../support/unwound.ts';

const BIAS = 0x4000_0000;
const SP = 0x7fff_0000;
const START = 0x1000;

type Code = Readonly<Record<number, string>>;

/** Code by svma, as an assembler lists it: halves of 16 bits, or words of 32. Elsewhere is `fill`. */
function textOf(pieces: Code, fill: readonly number[]): Uint8Array {
  const text = Uint8Array.from({ length: 0x1000 }, (_, i) => fill[i % fill.length]);
  for (const [svma, listing] of Object.entries(pieces)) {
    const bytes = listing.split(' ').flatMap((word) => word.match(/../g)?.reverse() ?? []);
    text.set(
      bytes.map((byte) => Number.parseInt(byte, 16)),
      Number(svma) - START,
    );
  }
  return text;
}

async function spaceOf(machine: UnwindMachine, pieces: Code, fill: readonly number[], rules?: number[]): Promise<MadeSpace> {
  const sections = rules === undefined ? [] : assembleExidx([[START, { inline: rules }]], 0x4000, 0x5000);
  return new MadeSpace().map(BIAS, BIAS + 0x8000, await madeModule(machine, [{ svma: START, bytes: textOf(pieces, fill) }], sections), BIAS);
}

function frames(...svmas: number[]): string[] {
  return svmas.map((at, i) => `${i > 0 ? '' : '!'}${(BIAS + at).toString(16)}`);
}

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

describe('x86-64 code without rules', () => {
  /** push rbp; sub rsp, 16; call *rax; test eax, eax; je 0x1011; add rsp, 16; pop rbp; ret; and for 0x1011 the same epilogue. */
  const LEAF = '55 48 83 ec 10 ff d0 85 c0 74 06 48 83 c4 10 5d c3';
  /** call *rax; ret, and the same with leave. Elsewhere is INT3. */
  const CODE = { 4096: LEAF, 4113: '48 83 c4 10 5d c3', 4350: 'ff d0 c3', 4606: 'ff d0 c9 c3' };
  const [CALL, FRAMED_CALL] = [BIAS + 0x1100, BIAS + 0x1200];
  const unwind = async (pc: number, stack: Readonly<Record<number, number>>, pieces: Code = CODE): Promise<UnwoundSample> =>
    unwound({ machine: 'x86_64', registers: { ip: BIAS + pc, bp: 5, sp: SP, ax: 1 }, stack }, await spaceOf('x86_64', pieces, [0xcc]));

  test.each<[string, number, Readonly<Record<number, number>>]>([
    ['at its first instruction', 0x1000, { 0: CALL, 8: 0 }],
    ['where a register was saved', 0x1001, { 0: 7, 8: CALL, 16: 0 }],
    ['where it has its frame', 0x1005, { 16: 7, 24: CALL, 32: 0 }],
    ['where a branch goes back', 0x1009, { 16: 7, 24: CALL, 32: 0 }],
    ['where a register is restored', 0x100f, { 0: 7, 8: CALL, 16: 0 }],
    ['at its return', 0x1010, { 0: CALL, 8: 0 }],
  ])('is left by following it up to its return: %s', async (_name, pc, stack) => {
    expect(await unwind(pc, stack)).toMatchObject({ end: 'complete', frames: frames(pc, 0x1100) });
  });

  test('gives its callers the registers that it saved', async () => {
    const stack = { 16: SP + 0x40, 24: FRAMED_CALL, 64: 0, 72: CALL, 80: 0 };
    expect(await unwind(0x1005, stack)).toMatchObject({ end: 'complete', frames: frames(0x1005, 0x1200, 0x1100) });
  });

  test.each<[string, string, Readonly<Record<number, number>>, number[]]>([
    // add rsp, 64; ret; and the frame pointer at 16
    ['reach beyond what is left over where the frame pointer points', '48 83 c4 40 c3', { 24: FRAMED_CALL, 64: CALL, 72: 0 }, [0x1020, 0x1100]],
    // add rsp, 64; ret; after call *rax, and after a conditional jump, as jmp *rax cannot be followed
    ['reach beyond that of the frame pointer after a call', 'ff d0 48 83 c4 40 c3', { 64: FRAMED_CALL }, [0x1020, 0x1100]],
    // The same, and a direct call of another function is before what the frame pointer tells
    ['reach beyond what another function has left', 'ff d0 48 83 c4 40 c3', { 24: BIAS + 0x1300, 64: CALL, 72: 0 }, [0x1020, 0x1100]],
    ['reach beyond that of the frame pointer elsewhere', '74 02 ff e0 48 83 c4 40 c3', { 64: FRAMED_CALL }, [0x1020, 0x1100]],
    ['reach beyond the dump, and the frame pointer does not', '48 81 c4 00 01 00 00 c3', {}, [0x1020, 0x1100]],
    ['be left by a return that is the same, and lead on by the frame pointer', '48 83 c4 10 48 8b 6d 00 58 c3', { 24: FRAMED_CALL }, [0x1020, 0x1200, 0x1100]],
    ['end before that of the frame pointer', '48 83 c4 08 c3', { 8: FRAMED_CALL }, [0x1020, 0x1200, 0x1100]],
  ])('has a frame that may %s', async (_, listing, changes, expected) => {
    const stack = { 16: SP + 0x50, 24: CALL, 32: 0, 80: 0, 88: CALL, 96: 0, ...changes };
    const registers = { ip: BIAS + 0x1020, bp: SP + 0x10, sp: SP, ax: 1 };
    const pieces = { ...CODE, 4128: listing, 4859: 'e8 00 01 00 00 c3' };
    const result = await unwound({ machine: 'x86_64', registers, stack }, await spaceOf('x86_64', pieces, [0xcc]));
    expect(result).toMatchObject({ end: 'complete', frames: frames(...expected) });
  });

  test.each<[string, string, string]>([
    ['keeps a number in a register that the call need not change', 'b9 40 00 00 00 ff d0 48 01 cc c3', 'complete'],
    ['keeps a number where the call returns its result', 'b8 40 00 00 00 ff d2 48 01 c4 c3', 'no-rule'],
    ['keeps its stack pointer in a register that the call need not change', '48 8d 4c 24 40 ff d0 48 89 cc c3', 'no-rule'],
    ['keeps its stack pointer in a register that the call preserves', '48 8d 5c 24 40 ff d0 48 89 dc c3', 'complete'],
  ])('is left after a call by what registers then hold, as code that %s', async (_, listing, end) => {
    const result = await unwind(0x1020, { 0: 7, 64: CALL, 72: 0 }, { ...CODE, 4128: listing });
    expect(result).toMatchObject({ end, frames: end === 'complete' ? frames(0x1020, 0x1100) : frames(0x1020) });
  });

  test('is told apart from code at the same addresses of other files', async () => {
    const other = BIAS + 0x10_0000;
    // add rsp, 8; ret, and after call *rax twice: add rsp, 24; ret. In the other file: the same with 40.
    const space = await spaceOf('x86_64', { ...CODE, 4128: '48 83 c4 08 c3', 4224: 'ff d0 48 83 c4 18 c3' }, [0xcc]);
    const text = textOf({ 4224: 'ff d0 48 83 c4 28 c3' }, [0xcc]);
    space.map(other, other + 0x8000, await madeModule('x86_64', [{ svma: START, bytes: text }]), other);
    const [own, others] = [BIAS + 0x1082, other + 0x1082];
    const stack = { 8: own, 40: others, 88: own, 120: others, 168: CALL, 176: 0 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1020, bp: 5, sp: SP }, stack }, space);
    expect(result).toMatchObject({
      end: 'complete',
      frames: [`!${(BIAS + 0x1020).toString(16)}`, ...[own, others, own, others, CALL].map((at) => at.toString(16))],
    });
  });

  test('may return by the last byte of its file', async () => {
    // NOP; call *rax; pop rbx; ret
    const code = { ...CODE, 8187: '90 ff d0 5b c3' };
    expect(await unwind(0x1ffb, { 0: 7, 8: CALL, 16: 0 }, code)).toMatchObject({ end: 'complete', frames: frames(0x1ffb, 0x1100) });
    const space = await spaceOf('x86_64', code, [0xcc]);
    const module = space.find(BIAS + START) === 'found' ? space.module : undefined;
    await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1fff, bp: 5, sp: SP }, stack: { 0: CALL, 8: 0 } }, space);
    expect(module?.code.scanned.get(0x1fff * 8)).toBeGreaterThanOrEqual(0);
  });

  test('is left by a branch if going straight on does not return', async () => {
    expect(await unwind(0x1009, { 24: CALL, 32: 0 }, { ...CODE, 4107: 'f4' })).toMatchObject({ end: 'complete', frames: frames(0x1009, 0x1100) });
  });

  test('is left to where the frame pointer leads, not to memory mapped as data', async () => {
    const space = (await spaceOf('x86_64', { ...CODE, 4128: '48 83 c4 08 c3' }, [0xcc])).mapData(0x1000_0000, 0x1001_0000);
    const stack = { 8: 0x1000_0100, 16: 0, 24: CALL, 32: 0 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1020, bp: SP + 0x10, sp: SP, ax: 1 }, stack }, space);
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1020, 0x1100) });
  });

  test.each<[string, string]>([
    ['PAUSE', 'e8 07 00 00 00 f3 90 0f ae e8 eb f9 48 8d 64 24 08 c3'],
    ['INT3', 'e8 01 00 00 00 cc 48 8d 64 24 08 c3'],
  ])('is left by a thunk that returns past a call over %s', async (_, thunk) => {
    // add rsp, 8; jmp 0x1030; and there: call over the loop; lea rsp, [rsp+8]; ret
    const pieces = { ...CODE, 4128: '48 83 c4 08 e9 07 00 00 00', 4144: thunk };
    expect(await unwind(0x1020, { 8: CALL, 16: 0 }, pieces)).toMatchObject({ end: 'complete', frames: frames(0x1020, 0x1100) });
    expect(await unwind(0x1030, { 0: CALL, 8: 0 }, pieces)).toMatchObject({ end: 'complete', frames: frames(0x1030, 0x1100) });
  });

  test('is left to code if what the frame pointer points at leads to memory mapped as data', async () => {
    // call *rax; add rsp, 64; ret
    const space = (await spaceOf('x86_64', { ...CODE, 4128: 'ff d0 48 83 c4 40 c3' }, [0xcc])).mapData(0x1000_0000, 0x1001_0000);
    const stack = { 16: 0x1000_0080, 24: 0x1000_0100, 64: CALL, 72: 0 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1020, bp: SP + 0x10, sp: SP, ax: 1 }, stack }, space);
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1020, 0x1100) });
  });

  test('is left by a jump to another file, as in PLT stubs, but not by one that may belong to a switch', async () => {
    const pieces = { ...CODE, 4128: 'f3 0f 1e fa f2 ff 25 10 20 00 00', 4144: '48 83 c4 10 ff e0' };
    expect(await unwind(0x1020, { 0: CALL, 8: 0 }, pieces)).toMatchObject({ end: 'complete', frames: frames(0x1020, 0x1100) });
    expect(await unwind(0x1030, { 16: CALL, 24: 0 }, pieces)).toMatchObject({ end: 'no-rule', frames: frames(0x1030) });
  });

  test('is left to code if what the frame pointer points at leads to the stack, which may hold code', async () => {
    // call *rax; add rsp, 64; ret
    const space = (await spaceOf('x86_64', { ...CODE, 4128: 'ff d0 48 83 c4 40 c3' }, [0xcc])).map(SP - 0x1000, SP + 0x1000, undefined, 0);
    const stack = { 16: SP + 0x50, 24: SP + 0x30, 64: CALL, 72: 0 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1020, bp: SP + 0x10, sp: SP, ax: 1 }, stack }, space);
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1020, 0x1100) });
  });

  test.each<[string, string, Readonly<Record<number, number>>]>([
    // mov rbp, [rbp]; add rsp, 0x50; jmp *rcx
    ['has restored the frame pointer', '48 8b 6d 00 48 83 c4 50 ff e1', { 72: SP + 0x200, 80: CALL, 88: 0 }],
    // pop rbx; pop rbp; jmp *[rax+8]
    ['has popped registers', '5b 5d ff 60 08', { 16: CALL, 24: 0 }],
    // leave; jmp *rax
    ['has left its frame', 'c9 ff e0', { 72: SP + 0x200, 80: CALL, 88: 0 }],
    // test eax, eax; je to INT3; pop rbx; jmp *rax
    ['may also go on where nothing returns', '85 c0 74 3c 5b ff e0', { 8: CALL, 16: 0 }],
  ])('is left by a jump through a register if it %s', async (_, listing, stack) => {
    const registers = { ip: BIAS + 0x1020, bp: SP + 0x48, sp: SP };
    const result = await unwound({ machine: 'x86_64', registers, stack }, await spaceOf('x86_64', { ...CODE, 4128: listing }, [0xcc]));
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1020, 0x1100) });
  });

  test('is not left to nowhere by a jump through a register', async () => {
    // pop rbx; jmp *rax
    expect(await unwind(0x1020, { 8: 0 }, { ...CODE, 4128: '5b ff e0' })).toMatchObject({ end: 'no-rule', frames: frames(0x1020) });
    expect(await unwind(0x1020, { 8: 0 }, { ...CODE, 4128: '5b c3' })).toMatchObject({ end: 'complete', frames: frames(0x1020) });
  });

  test('is left by a return rather than by a jump through a register', async () => {
    // test eax, eax; je 0x1030; pop rbx; jmp *rax; and 0x1030: add rsp, 16; ret
    const pieces = { ...CODE, 4128: '85 c0 74 0c 5b ff e0', 4144: '48 83 c4 10 c3' };
    const registers = { ip: BIAS + 0x1020, bp: 5, sp: SP };
    const result = await unwound({ machine: 'x86_64', registers, stack: { 8: BIAS + 0x1108, 16: CALL, 24: 0 } }, await spaceOf('x86_64', pieces, [0xcc]));
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1020, 0x1100) });
  });

  test.each<[string, string, readonly number[]]>([
    // mov rbp, [rbp]; add rsp, 0x50; ret
    ['the frame pointer by the frame pointer', '48 8b 6d 00 48 83 c4 50 c3', [0x1180, 0x1200]],
    // mov rbx, [rsp]; leave; ret
    ['another register by the stack pointer', '48 8b 1c 24 c9 c3', [0x1180, 0x1200, 0x1100]],
  ])('gives its caller what it restores along with its stack: %s', async (_, listing, expected) => {
    // 0x1180: leave; ret. 0x1200: lea rsp, [rbx+8]; ret.
    const pieces = { ...CODE, 4128: listing, 4478: 'ff d0 c9 c3', 4606: 'ff d0 48 8d 63 08 c3' };
    const registers = { ip: BIAS + 0x1020, bp: SP + 0x48, bx: 5, sp: SP };
    const stack = { 0: SP + 0x80, 72: SP + 0x60, 80: BIAS + 0x1180, 96: 7, 104: BIAS + 0x1200, 136: CALL, 144: 0 };
    const result = await unwound({ machine: 'x86_64', registers, stack }, await spaceOf('x86_64', pieces, [0xcc]));
    expect(result.frames).toEqual(frames(0x1020, ...expected));
  });

  test('is not left to an address that it stores where another register points', async () => {
    // mov rcx, [rbp+8]; lea rsp, [r15+8]; push rcx; ret
    const pieces = { ...CODE, 4128: '48 8b 4d 08 49 8d 67 08 51 c3' };
    const registers = { ip: BIAS + 0x1020, bp: 5, sp: SP, r15: SP + 0x20 };
    const result = await unwound({ machine: 'x86_64', registers, stack: { 32: CALL, 40: 0 } }, await spaceOf('x86_64', pieces, [0xcc]));
    expect(result).toMatchObject({ end: 'no-rule', frames: frames(0x1020) });
  });

  test.each<[string, string]>([
    ['is overwritten', 'ff d0 48 89 04 24 c3'],
    ['was put there to know where the code is', 'e8 00 00 00 00 c3'],
  ])('is not left to a return address that %s', async (_, listing) => {
    expect(await unwind(0x1020, { 0: CALL, 8: 0 }, { ...CODE, 4128: listing })).toMatchObject({ frames: frames(0x1020, 0x1100) });
  });

  test('keeps its stack pointer if the second byte of a register is written', async () => {
    const pieces = { ...CODE, 4128: '80 f4 20 48 83 c4 10 c3' };
    expect(await unwind(0x1020, { 16: CALL, 24: 0 }, pieces)).toMatchObject({ end: 'complete', frames: frames(0x1020, 0x1100) });
  });
});

describe('i386 code without rules', () => {
  /** push ebp; push ebx; sub esp, 24; push 5; call *eax; add esp, 16; test eax, eax; je 0x1016; add esp, 12; pop ebx; pop ebp; ret. */
  const LEAF = '55 53 83 ec 18 6a 05 ff d0 83 c4 10 85 c0 74 06 83 c4 0c 5b 5d c3';
  /** For 0x1016: the same epilogue. call *eax; ret, and the same with leave. Elsewhere is INT3. */
  const CODE = { 4096: LEAF, 4118: '83 c4 0c 5b 5d c3', 4350: 'ff d0 c3', 4606: 'ff d0 c9 c3' };
  const [CALL, FRAMED_CALL] = [BIAS + 0x1100, BIAS + 0x1200];
  const unwind = async (pc: number, stack: Readonly<Record<number, number>>, pieces: Code = CODE, bp = 5): Promise<UnwoundSample> =>
    unwound({ machine: 'i386', registers: { ip: BIAS + pc, bp, sp: SP, ax: 1 }, stack }, await spaceOf('i386', pieces, [0xcc]));

  test.each<[string, number, Readonly<Record<number, number>>]>([
    ['at its first instruction', 0x1000, { 0: CALL, 4: 0 }],
    ['where a register was saved', 0x1001, { 0: 7, 4: CALL, 8: 0 }],
    ['where an argument was pushed', 0x1007, { 0: 5, 32: 7, 36: CALL, 40: 0 }],
    ['where it has its frame', 0x100c, { 12: 7, 16: 7, 20: CALL, 24: 0 }],
    ['where a register is restored', 0x1014, { 0: 7, 4: CALL, 8: 0 }],
    ['at its return', 0x1015, { 0: CALL, 4: 0 }],
  ])('is left by following it up to its return: %s', async (_name, pc, stack) => {
    expect(await unwind(pc, stack)).toMatchObject({ end: 'complete', frames: frames(pc, 0x1100) });
  });

  test('gives its callers the registers that it saved', async () => {
    const stack = { 16: SP + 0x40, 20: FRAMED_CALL, 64: 0, 68: CALL, 72: 0 };
    expect(await unwind(0x100c, stack)).toMatchObject({ end: 'complete', frames: frames(0x100c, 0x1200, 0x1100) });
  });

  test.each<[string, string, number]>([
    // lea 4(esp), ecx; and -16, esp; push -4(ecx); push ebp; mov esp, ebp; push ecx; call *eax; mov -4(ebp), ecx; leave; lea -4(ecx), esp; ret
    ['as in main', '8d 4c 24 04 83 e4 f0 ff 71 fc 55 89 e5 51 ff d0 8b 4d fc c9 8d 61 fc c3', 0x100e],
    // call *eax; lea -8(ebp), esp; pop ecx; pop ebx; pop ebp; lea -4(ecx), esp; ret
    ['and saves another register', 'ff d0 8d 65 f8 59 5b 5d 8d 61 fc c3', 0x1000],
  ])('may have aligned its stack: %s', async (_, listing, pc) => {
    // The frame pointer is at 0x20, a copy of the return address above it; ecx is kept below it.
    const stack = { 24: SP + 0x50, 28: SP + 0x50, 32: 0, 36: CALL, 76: CALL, 80: 0 };
    expect(await unwind(pc, stack, { ...CODE, 4096: listing }, SP + 0x20)).toMatchObject({ end: 'complete', frames: frames(pc, 0x1100) });
  });

  test.each<[string, number, Readonly<Record<number, number>>, number, readonly number[]]>([
    ['at its beginning', 0x1000, { 0: CALL }, 5, []],
    ['in the function that reads the instruction pointer', 0x1300, { 0: BIAS + 0x1008, 4: 5, 8: CALL }, SP + 4, [0x1008]],
    ['after that', 0x1008, { 0: 5, 4: CALL }, SP, []],
  ])('that aligns its stack has its caller where ecx points, until that is saved: %s', async (_, pc, stack, bp, calls) => {
    // push ebp; mov esp, ebp; call 0x1300, which is mov (esp), ebx; ret; push ecx; call *eax; mov -4(ebp), ecx; leave; lea -4(ecx), esp; ret
    const pieces = { ...CODE, 4096: '55 89 e5 e8 f8 02 00 00 51 ff d0 8b 4d fc c9 8d 61 fc c3', 4864: '8b 1c 24 c3' };
    const registers = { ip: BIAS + pc, bp, sp: SP, ax: 1, cx: SP + 0x50 };
    const sample = { machine: 'i386', registers, stack: { ...stack, 76: CALL, 80: CALL, 84: 0 } } as const;
    expect(await unwound(sample, await spaceOf('i386', pieces, [0xcc]))).toMatchObject({ end: 'complete', frames: frames(pc, ...calls, 0x1100, 0x1100) });
  });

  test('that has aligned its stack is not taken for an outer call of it whose frame it has saved', async () => {
    // call *eax; test eax, eax; je to the same; lea -12(ebp), esp; pop ecx; pop ebx; pop esi; pop ebp; lea -4(ecx), esp; ret
    const listing = 'ff d0 85 c0 74 00 ff d0 8d 65 f4 59 5b 5e 5d 8d 61 fc c3';
    // esi holds the outer call's ecx: the word below that is the same return address.
    const stack = { 20: SP + 0x40, 28: SP + 0x80, 32: SP + 0x60, 36: FRAMED_CALL, 60: FRAMED_CALL, 96: 0, 100: CALL, 104: 0, 124: FRAMED_CALL };
    expect((await unwind(0x1000, stack, { ...CODE, 4096: listing }, SP + 0x20)).frames).toEqual(frames(0x1000, 0x1200, 0x1100));
  });

  test.each<[string, string]>([
    // A call of the next instruction; pop ebx; add 16, esp
    ['reads the instruction pointer', 'e8 00 00 00 00 5b 83 c4 10 c3'],
    // call 0x1300, which is mov (esp), ebx; ret; add 16, esp; ret
    ['calls a function that reads it', 'e8 db 02 00 00 83 c4 10 c3'],
    // add 16, esp; jmp 0x1310: jmp *12(ebx), a stub
    ['goes on as a function of another file', '83 c4 10 e9 e8 02 00 00'],
    ['goes on as a function of another file, by an address in its own', '83 c4 10 e9 f8 02 00 00'],
  ])('is followed as code that %s', async (_, listing) => {
    const pieces = { ...CODE, 4128: listing, 4864: '8b 1c 24 c3', 4880: 'ff a3 0c 00 00 00', 4896: 'ff 25 00 90 04 08' };
    expect(await unwind(0x1020, { 16: CALL, 20: 0 }, pieces)).toMatchObject({ end: 'complete', frames: frames(0x1020, 0x1100) });
  });

  describe('which calls functions that pop an argument', () => {
    const FUNCTIONS: Readonly<Record<number, string>> = {
      // test eax, eax; je 0x1300, where HLT is; push ebx; pop ebx; ret 4
      4864: 'f4',
      4872: '85 c0 74 f4 53 5b c2 04 00',
      // jmp 0x1308; jmp *0x8049000; jmp back, without end
      4896: 'eb e6',
      4912: 'ff 25 00 90 04 08',
      4928: 'eb fe',
    };
    test.each<[string, string, string]>([
      ['knows that from their return', 'e8 e3 02 00 00', ''],
      ['knows that from the function as which they go on', 'e8 fb 02 00 00', ''],
      ['knows that from what follows, if they are in another file', 'e8 0b 03 00 00', '83 ec 04'],
      ['knows that from what follows, if they are called through a pointer', '90 90 90 ff d0', '83 ec 04'],
      ['knows that from what follows, if they do not return', 'e8 1b 03 00 00', '83 ec 04'],
    ])('%s', async (_, call, after) => {
      // sub 12, esp; the call; add 8 or 12, esp; ret
      const listing = `83 ec 0c ${call} ${after} 83 c4 ${after === '' ? '08' : '0c'} c3`.replace(/ +/g, ' ');
      const pieces = { ...CODE, ...FUNCTIONS, 4128: listing };
      // From its beginning, and from where the call returns to.
      expect(await unwind(0x1020, { 0: CALL, 4: 0 }, pieces)).toMatchObject({ end: 'complete', frames: frames(0x1020, 0x1100) });
      const leaf = { ...pieces, 5120: 'c2 04 00' };
      const stack = { 0: BIAS + 0x1028, 16: CALL, 20: 0 };
      expect(await unwind(0x1400, stack, leaf)).toMatchObject({ end: 'complete', frames: frames(0x1400, 0x1028, 0x1100) });
    });

    test('is no longer followed into such functions once its file has taken too long', async () => {
      for (const [before, expected] of [
        [0, 4],
        [2 ** 22, -1],
      ] as const) {
        // sub 12, esp; call 0x1308; add 8, esp; ret
        const space = await spaceOf('i386', { ...CODE, ...FUNCTIONS, 4128: '83 ec 0c e8 e0 02 00 00 83 c4 08 c3' }, [0xcc]);
        space.find(BIAS + START);
        space.module!.code.effort.calledInstructions = before;
        await unwound({ machine: 'i386', registers: { ip: BIAS + 0x1023, bp: 5, sp: SP }, stack: { 0: 7, 12: CALL, 16: 0 } }, space);
        expect(space.module?.code.poppedArguments.get(0x1308)).toBe(expected);
      }
    });

    test('is left by a rule as if the argument were still there', async () => {
      // CFA = esp + 16 before a call that pops 4 bytes; the caller of that is outermost.
      const bytes = textOf({ 4096: 'c2 04 00', 4352: 'ff d0 90' }, [0xcc]);
      const cie = { returnAddress: 8, dataAlignment: -4, code: new CfaCode().defCfa(4, 4).offset(8, 1) };
      const functions = [
        { start: 0x1100, sizeBytes: 0x10, code: new CfaCode().defCfaOffset(16) },
        { start: 0x1200, sizeBytes: 0x10, code: new CfaCode().undefined(8) },
      ];
      const content = assembleFrames([[cie, functions]], { addr: 0x3000 }).bytes;
      const module = await madeModule('i386', [{ svma: START, bytes }], [{ name: '.eh_frame', flags: 2, addr: 0x3000, content }]);
      const sample = { machine: 'i386', registers: { ip: BIAS + START, sp: SP, bp: 5 }, stack: { 0: BIAS + 0x1102, 16: BIAS + 0x1208 } } as const;
      const result = await unwound(sample, new MadeSpace().map(BIAS, BIAS + 0x8000, module, BIAS));
      expect(result).toMatchObject({ end: 'complete', frames: frames(0x1000, 0x1102, 0x1208) });
    });
  });

  test('ends where a context of makecontext does', async () => {
    // lea (esp,ebx,4), esp; cmpl 0, (esp), after a return
    const pieces = { ...CODE, 5120: '8d 24 9c 83 3c 24 00' };
    expect(await unwind(0x1015, { 0: BIAS + 0x1400, 4: 0 }, pieces)).toMatchObject({ end: 'complete', frames: [frames(0x1015)[0], frames(0x1400)[0]] });
  });
});

describe('arm64 code without rules', () => {
  /** stp x19, x30, [sp, #-32]!; blr x8; cbz x0, 0x1014; ldp x19, x30, [sp], #32; ret; and for 0x1014 the same epilogue. */
  const LEAF = 'a9be7bf3 d63f0100 b4000060 a8c27bf3 d65f03c0';
  const CODE = { 4096: LEAF, 4116: 'a8c27bf3 d65f03c0', 4348: 'd63f0100 a8c27bf3 d65f03c0' };
  const CALL = BIAS + 0x1100;
  const unwind = async (pc: number, lr: number, stack: Readonly<Record<number, number>>, pieces: Code = CODE): Promise<UnwoundSample> =>
    unwound({ machine: 'aarch64', registers: { pc: BIAS + pc, lr, x29: 5, sp: SP }, stack }, await spaceOf('aarch64', pieces, [0]));

  test.each<[string, number, number, Readonly<Record<number, number>>]>([
    ['at its first instruction', 0x1000, CALL, { 8: 0 }],
    ['where it has its frame', 0x1004, CALL, { 8: CALL, 40: 0 }],
    ['after it has called', 0x1008, BIAS + 0x1008, { 8: CALL, 40: 0 }],
    ['at its return', 0x1010, CALL, { 8: 0 }],
  ])('is left by following it up to its return: %s', async (_name, pc, lr, stack) => {
    expect(await unwind(pc, lr, stack)).toMatchObject({ end: 'complete', frames: frames(pc, 0x1100) });
  });

  test('has a frame whose size is in a register that a function of the same file does not change', async () => {
    // stp x29, x30, [sp]; mov x12, #4096; bl; ldp x29, x30, [sp]; add sp, sp, x12; ret
    const pieces = { 4348: CODE[4348], 4096: 'a9007bfd d282000c 94000000 a9407bfd 8b2c63ff d65f03c0' };
    expect(await unwind(0x1004, CALL, { 0: 0, 8: CALL, 4104: 0 }, pieces)).toMatchObject({ end: 'complete', frames: frames(0x1004, 0x1100) });
  });

  test('may have return addresses signed in bits that addresses do not have', async () => {
    const signed = CALL + 0x5_0000 * 2 ** 32;
    expect(await unwind(0x1008, 5, { 8: signed, 40: 0 })).toMatchObject({ end: 'complete', frames: frames(0x1008, 0x1100) });
  });
});

describe('32-bit Arm code with rules that hold only at calls', () => {
  /** pop {r4, lr}, which is right only between prologue and epilogue. */
  const RULES = [0xa8, 0xb0];
  // push {r4, lr}; sub sp, #8; bl; add sp, #8; pop {r4, pc}
  const THUMB = { 4096: 'b510 b082 f7ff fffe b002 bd10' };
  const ARM = { 4096: 'e92d4010 e24dd008 ebfffffe e28dd008 e8bd8010' };
  // The caller is after blx r3, pops {r4, lr} by the same rule, and its own caller is 0.
  const CALLER = { 4350: '4798' };
  const CALL = BIAS + 0x1101;
  const unwind = async (pc: number, lr: number, stack: Readonly<Record<number, number>>, pieces: Code, fill: readonly number[]): Promise<UnwoundSample> =>
    unwound({ machine: 'arm', registers: { pc: BIAS + pc, lr, sp: SP }, stack }, await spaceOf('arm', { ...CALLER, ...pieces }, fill, RULES));
  // nop of each set.
  const NOPS: readonly (readonly number[])[] = [
    [0x00, 0xbf],
    [0x00, 0xf0, 0x20, 0xe3],
  ];

  test.each<[string, Code, readonly number[], number, number, Readonly<Record<number, number>>]>([
    ['T32, at its first instruction', THUMB, NOPS[0], 0x1000, CALL, { 0: 1, 4: 0 }],
    ['T32, where registers were pushed', THUMB, NOPS[0], 0x1002, CALL, { 0: 7, 4: CALL, 8: 1, 12: 0 }],
    ['T32, in between', THUMB, NOPS[0], 0x1004, CALL, { 0: 7, 4: 7, 8: 7, 12: CALL, 16: 1, 20: 0 }],
    ['T32, where its locals are gone', THUMB, NOPS[0], 0x100a, 5, { 0: 7, 4: CALL, 8: 1, 12: 0 }],
    ['A32, at its first instruction', ARM, NOPS[1], 0x1000, CALL, { 0: 1, 4: 0 }],
    ['A32, where registers were pushed', ARM, NOPS[1], 0x1004, CALL, { 0: 7, 4: CALL, 8: 1, 12: 0 }],
    ['A32, in between', ARM, NOPS[1], 0x1008, CALL, { 0: 7, 4: 7, 8: 7, 12: CALL, 16: 1, 20: 0 }],
    ['A32, where its locals are gone', ARM, NOPS[1], 0x1010, 5, { 0: 7, 4: CALL, 8: 1, 12: 0 }],
  ])('is left by following it up to its return: %s', async (_name, pieces, fill, pc, lr, stack) => {
    expect(await unwind(pc, lr, stack, pieces, fill)).toMatchObject({ end: 'complete', frames: frames(pc, 0x1100) });
  });

  // push {r4, lr}; sub sp, #8; add sp, #8; pop {r4, lr}; b 0x1080, where a stub of the PLT is: bx pc; add ip, pc, #0; add ip, #4096; ldr pc, [ip]!
  test.each<[string, Code, readonly number[], number]>([
    ['T32', { 4096: 'b510 b082 b002 e8bd 4010 f000 b839', 4224: '4778 e7fd e28fc600 e28cca01 e5bcf000' }, NOPS[0], 0x1004],
    ['A32', { 4096: 'e92d4010 e24dd008 e28dd008 e8bd4010 ea00001a', 4224: 'e28fc600 e28cca01 e5bcf000' }, NOPS[1], 0x1008],
  ])('is left by following it up to where it goes on as a function of a library: %s', async (_name, pieces, fill, pc) => {
    const result = await unwind(pc, CALL, { 0: 7, 4: 0, 8: 7, 12: CALL, 16: 1, 20: 0 }, pieces, fill);
    expect(result).toMatchObject({ end: 'complete', frames: frames(pc, 0x1100) });
  });

  test('has the instruction set that a direct call tells, whatever is around it', async () => {
    // blx of Thumb from 0x1204 to 0x1000, in whose neighbourhood all else is Thumb: bx lr.
    const pieces = { 4096: 'e1a00000 e12fff1e', 4608: 'f7ff eefe' };
    const result = await unwind(0x1004, BIAS + 0x1205, { 0: 1, 4: 0 }, pieces, NOPS[0]);
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1004, 0x1204) });
    // blx of A32 to Thumb, in whose neighbourhood all else is A32: mov r0, r0; bx lr; nop.
    const other = { 4096: '1c00 1c00 4770 bf00', 4608: 'faffff7e' };
    expect(await unwind(0x1004, BIAS + 0x1204, { 0: 1, 4: 0 }, other, NOPS[1])).toMatchObject({ end: 'complete', frames: frames(0x1004, 0x1204) });
  });

  test('has the instruction set to which a call has returned nearby', async () => {
    // blx 0x1000 of A32; mov r0, r0; pop {r4, pc}. In Thumb, which is all around, it would lead to 0x138e: add sp, #8; pop {r4, pc}.
    const pieces = { 4164: 'faffffed e1a00000 e8bd8010', 5006: 'b002 bd10', 4862: '4798' };
    const result = await unwind(0x1048, BIAS + 0x1048, { 0: 7, 4: CALL, 8: 7, 12: BIAS + 0x1301, 16: 1, 20: 0 }, pieces, NOPS[0]);
    expect(result.frames.slice(0, 2)).toEqual(frames(0x1048, 0x1100));
  });

  test('has the other instruction set if the likelier one leads nowhere', async () => {
    // bx lr, which is no branch in Thumb; then pop {r4, pc}, which finds no return address.
    const result = await unwind(0x1000, CALL, { 0: 1, 4: 5 }, { 4096: 'e12fff1e bd10' }, NOPS[0]);
    expect(result.frames.slice(0, 2)).toEqual(frames(0x1000, 0x1100));
  });

  test('has the other instruction set if the likelier one does not return', async () => {
    // add sp, #8; pop {r4, pc}, among nops of A32.
    const result = await unwind(0x1000, 5, { 0: 7, 4: 7, 8: 7, 12: CALL, 16: 1, 20: 0 }, { 4096: 'b002 bd10' }, NOPS[1]);
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1000, 0x1100) });
  });
});

test('32-bit Arm code without rules is unwound by following it in the instruction set of each return address', async () => {
  // Thumb at 0x1000, called from A32 at 0x1100 (blx r3; add sp, sp, #8; pop {r4, pc}), called from Thumb at 0x1200 (blx r3; pop {r4, pc}).
  const pieces = { 4096: 'b082 b002 4770', 4348: 'e12fff33 e28dd008 e8bd8010', 4606: '4798 bd10' };
  const space = await spaceOf('arm', pieces, [0x00, 0xbf]);
  const stack = { 0: 7, 4: 7, 16: 7, 20: BIAS + 0x1201, 24: 7, 28: 0 };
  const result = await unwound({ machine: 'arm', registers: { pc: BIAS + 0x1002, lr: BIAS + 0x1100, sp: SP }, stack }, space);
  expect(result).toMatchObject({ end: 'complete', frames: frames(0x1002, 0x1100, 0x1200) });
});

test('32-bit Arm code without rules is not tried as the other instruction set where it has just been called', async () => {
  // A stub of the PLT: add ip, pc, #0; add ip, #4096; ldr pc, [ip]!. From its second instruction on, Thumb would lead to 0x1522: add sp, #8; pop {r4, pc}.
  const pieces = { 4096: 'e28fc600 e28cca01 e5bcf000', 4352: 'ebffffbe', 5410: 'b002 bd10', 4862: '4798' };
  const space = await spaceOf('arm', pieces, [0x00, 0xf0, 0x20, 0xe3]);
  const stack = { 0: 7, 4: 7, 8: 7, 12: BIAS + 0x1301, 16: 1, 20: 0 };
  const result = await unwound({ machine: 'arm', registers: { pc: BIAS + 0x1004, lr: BIAS + 0x1104, sp: SP, fp: 5 }, stack }, space);
  expect(result.frames.slice(0, 2)).toEqual(frames(0x1004, 0x1104));
});

describe('x86-64 code without rules that has aligned its stack', () => {
  const CALLERS = { 4606: 'ff d0 c9 c3', 4862: 'ff d0 c3' };
  /** Behind call *rax; leave; ret. */
  const FRAMED = BIAS + 0x1200;
  /** Behind call *rax; ret. */
  const OTHER = BIAS + 0x1300;
  const unwind = async (listing: string, stack: Readonly<Record<number, number>>): Promise<UnwoundSample> => {
    const registers = { ip: BIAS + 0x1000, sp: SP, bp: SP + 0x80, di: SP + 0x40 };
    return unwound({ machine: 'x86_64', registers, stack }, await spaceOf('x86_64', { ...CALLERS, 4096: listing }, [0xcc]));
  };
  // The caller's stack pointer is kept at 0x40; there are a register and the return address, followed by the callers' frames.
  const kept = { 64: SP + 0x100, 256: SP + 0x110, 264: FRAMED, 272: 0, 280: OTHER, 288: 0 };

  test.each([
    ['mov rsp, [rsp + 0x40]; pop rbp; ret', '48 8b 64 24 40 5d c3'],
    ['mov rax, [rsp + 0x40]; mov rsp, rax; pop rbp; ret', '48 8b 44 24 40 48 89 c4 5d c3'],
    ['lea rsp, [rsp + 0x40]; pop rsp; pop rbp; ret', '48 8d 64 24 40 5c 5d c3'],
    ['mov r10, [rsp + 0x40]; lea rsp, [r10 + 8]; mov rbp, [r10]; ret', '4c 8b 54 24 40 49 8d 62 08 48 8b 6c 24 f8 c3'],
    ['je over; mov rsp, [rsp + 0x40]; pop rbp; ret; the same', '74 07 48 8b 64 24 40 5d c3 48 8b 64 24 40 5d c3'],
    ['mov rax, [rsp + 0x40]; mov [rsp], rax; pop rsp; pop rbp; ret', '48 8b 44 24 40 48 89 04 24 5c 5d c3'],
  ])('is left by the stack pointer that it kept: %s', async (_name, listing) => {
    expect(await unwind(listing, kept)).toMatchObject({ end: 'complete', frames: frames(0x1000, 0x1200, 0x1300) });
  });

  test('finds registers that it saved itself by its frame pointer', async () => {
    // As gcc does: mov r10, [rbp − 8]; leave; lea rsp, [r10 − 8]; ret
    const stack = { 120: SP + 0x110, 128: SP + 0x118, 264: FRAMED, 280: 0, 288: OTHER, 296: 0 };
    expect(await unwind('4c 8b 55 f8 c9 49 8d 62 f8 c3', stack)).toMatchObject({ end: 'complete', frames: frames(0x1000, 0x1200, 0x1300) });
  });

  test('is not confused with code that changes to another stack', async () => {
    // mov rsp, [rdi]; pop rbp; ret
    expect((await unwind('48 8b 27 5d c3', kept)).frames).toEqual(frames(0x1000));
  });

  test.each([
    ['mov rsp, [rsp + 0x40]; mov rdx, rsp; mov rsp, [rbp + 0x40]; mov rsp, rdx; ret', '48 8b 64 24 40 48 89 e2 48 8b 65 40 48 89 d4 c3'],
    ['mov rax, rsp; mov rsp, [rsp + 0x40]; mov rdx, rsp; mov rsp, [rax + 0x48]; mov rsp, rdx; ret', '48 89 e0 48 8b 64 24 40 48 89 e2 48 8b 60 48 48 89 d4 c3'],
  ])('is not followed if the stack pointer is set to another word, too: %s', async (_name, listing) => {
    expect((await unwind(listing, { ...kept, 72: SP + 0x108, 192: SP + 0x108 })).frames).toEqual(frames(0x1000));
  });

  test('is followed from a branch on, whatever word was taken before it', async () => {
    // je over; mov rsp, [rsp + 0x48]; ud2; over: mov rsp, [rsp + 0x40]; pop rbp; ret
    expect((await unwind('74 07 48 8b 64 24 48 0f 0b 48 8b 64 24 40 5d c3', kept)).frames).toEqual(frames(0x1000, 0x1200, 0x1300));
  });

  test('may be called by other such code', async () => {
    // mov rsp, [rsp + 0x40]; pop rbp; ret; call *rax; mov rsp, [rsp + 0x10]; pop rbp; ret
    const stack = { ...kept, 264: BIAS + 0x1009, 280: 0, 288: SP + 0x140, 320: SP + 0x150, 328: FRAMED, 336: 0, 344: OTHER, 352: 0 };
    expect((await unwind('48 8b 64 24 40 5d c3 ff d0 48 8b 64 24 10 5d c3', stack)).frames).toEqual(frames(0x1000, 0x1009, 0x1200, 0x1300));
  });

  test.each([
    ['add rsp, 0x7ffffff8, twice; mov rsp, [rsp + 0x50]; pop rbp; ret', '48 81 c4 f8 ff ff 7f 48 81 c4 f8 ff ff 7f 48 8b 64 24 50 5d c3', kept],
    ['mov rsp, [rsp + 0x40]; pop rbp; ret, and what is kept is between words', '48 8b 64 24 40 5d c3', { ...kept, 64: SP + 0xfc, 264: 0 }],
  ])('is not believed if no frame can be like that: %s', async (_name, listing, stack) => {
    expect(await unwind(listing, stack)).toMatchObject({ end: 'no-rule', frames: frames(0x1000) });
  });

  test('is truncated if what it kept is not in the dump', async () => {
    expect(await unwind('48 8b 64 24 40 5d c3', { 8: 0 })).toMatchObject({ end: 'truncated', frames: frames(0x1000) });
  });
});
