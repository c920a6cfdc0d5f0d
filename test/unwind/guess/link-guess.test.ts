import { describe, expect, test } from 'vitest';
import { BIAS, frames, SP, START, space } from '../../support/builders/unwind/code-without-rules.ts';
import { assembleFrames, CfaCode, type PlannedCie } from '../../support/builders/unwind/frame-assembler.ts';
import { MadeSpace } from '../../support/builders/unwind/made-process.ts';
import { madeModule, type UnwoundSample, unwound } from '../../support/builders/unwind/unwound.ts';

describe('arm64 code without rules', () => {
  const word = (value: number): number[] => [value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, value >>> 24];
  const [NOP, RET, BL, BLR, MOV_FP, STP, LDP, STP_FAR] = [0xd503201f, 0xd65f03c0, 0x94000010, 0xd63f0100, 0x910003fd, 0xa9be7bfd, 0xa8c27bfd, 0xa9017bfd];
  const signed = (address: number): bigint => BigInt(address) | (0x3f21n << 48n);

  /** Code from 0x1000 on, all `nop` except for some instructions; 0x1400 and 0x1500 come after calls. */
  async function unwind(
    instructions: Readonly<Record<number, number>>,
    registers: Readonly<Record<string, number | bigint>>,
    stack: Readonly<Record<number, number | bigint>>,
    without: readonly string[] = [],
  ): Promise<UnwoundSample> {
    const all = new Map<number, number>(Array.from({ length: 0x300 }, (_, i) => [START + 4 * i, NOP]));
    for (const [svma, instruction] of [[0x13fc, BL], [0x14fc, BLR], ...Object.entries(instructions)]) all.set(Number(svma), Number(instruction));
    const pieces = Object.fromEntries([...all].map(([svma, instruction]) => [svma, word(instruction)]));
    return unwound({ machine: 'aarch64', registers: { sp: SP, ...registers }, stack, without }, await space('aarch64', pieces, 0));
  }

  test('is unwound by pairs of frame pointer and return address, which may be signed', async () => {
    const stack = { 32: SP + 0x40, 40: signed(BIAS + 0x1400), 64: 0, 72: BIAS + 0x1500 };
    const result = await unwind({ 4352: RET, 4356: STP, 4360: MOV_FP }, { pc: BIAS + 0x1110, x29: SP + 0x20, lr: BIAS + 0x110c }, stack);
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1110, 0x1400, 0x1500) });
  });

  test('is complete at the function to which Go has goroutines return, although it made no call', async () => {
    const NOP_OF_GO = 0xaa0003e0; // mov x0, x0
    const end = async (code: Readonly<Record<number, number>>, saved = 0): Promise<string> => {
      const at = { pc: BIAS + 0x1110, x29: SP + 0x20, lr: BIAS + 0x110c };
      const result = await unwind({ 4352: RET, 4356: STP, 4360: MOV_FP, ...code }, at, { 32: saved, 40: BIAS + 0x1800, 64: 0, 72: 0 });
      return [result.end, ...result.frames.slice(1)].join(' ');
    };
    const code = { 6140: NOP_OF_GO, 6144: BL };
    expect(await end(code)).toBe(`complete ${(BIAS + 0x1800).toString(16)}`);
    expect(await end({ ...code, 6140: NOP })).toBe('no-rule');
    expect(await end({ ...code, 6144: NOP })).toBe('no-rule');
    expect(await end(code, SP + 0x40)).toBe('no-rule');
  });

  test('has the return address in the link register if a function has not saved it', async () => {
    const stack = { 32: 0, 40: BIAS + 0x1500 };
    const leaf = await unwind({ 4352: RET }, { pc: BIAS + 0x1110, x29: SP + 0x20, lr: signed(BIAS + 0x1400) }, stack);
    expect(leaf).toMatchObject({ end: 'complete', frames: frames(0x1110, 0x1400, 0x1500) });
  });

  test('has no caller if the return address is in the link register, which was not recorded', async () => {
    const leaf = await unwind({ 4352: RET }, { pc: BIAS + 0x1110, x29: SP + 0x20 }, { 32: 0, 40: BIAS + 0x1500 }, ['lr']);
    expect(leaf).toMatchObject({ end: 'no-registers', frames: frames(0x1110) });
  });

  test('has the return address in the link register until it is saved, and again once it is restored', async () => {
    const code = { 4352: RET, 4356: STP, 4360: MOV_FP, 4384: LDP, 4388: RET };
    // Below the caller's frame, stp has made room for 32 bytes.
    const stack = { 0: SP + 0x40, 8: BIAS + 0x1400, 64: 0, 72: BIAS + 0x1500 };
    for (const [pc, x29] of [
      [0x1104, SP + 0x40],
      [0x1108, SP + 0x40],
      [0x110c, SP],
      [0x1120, SP],
      [0x1124, SP + 0x40],
    ]) {
      const result = await unwind(code, { pc: BIAS + pc, x29, lr: pc < 0x110c || pc > 0x1120 ? BIAS + 0x1400 : BIAS + 0x1114 }, stack);
      expect(result).toMatchObject({ end: 'complete', frames: frames(pc, 0x1400, 0x1500) });
    }
  });

  test('gives the caller’s rules the stack pointer from before the prologue', async () => {
    // The caller, at 0x1400, has its return address 16 bytes above its stack pointer.
    const cie: PlannedCie = { returnAddress: 30, codeAlignment: 4, code: new CfaCode().defCfa(31, 32).offset(30, 2) };
    const { bytes } = assembleFrames([[cie, [{ start: 0x13f0, sizeBytes: 0x20, code: new CfaCode() }]]], { addr: 0x4000 });
    const text = new Uint8Array(0x1000);
    for (let at = 0; at < text.length; at += 4) text.set(word(NOP), at);
    for (const [svma, instruction] of [
      [0x1100, RET],
      [0x1104, STP],
      [0x13fc, BL],
      [0x14fc, BLR],
    ])
      text.set(word(instruction), svma - START);
    const module = await madeModule('aarch64', [{ svma: START, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x4000, content: bytes }]);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    for (const [pc, moved] of [
      [0x1104, 0],
      [0x1108, 32],
    ]) {
      const stack = { [moved + 16]: BIAS + 0x1500, 256: 0 };
      const registers = { pc: BIAS + pc, sp: SP, x29: 0, lr: BIAS + 0x1400 };
      expect(await unwound({ machine: 'aarch64', registers, stack }, mapped)).toMatchObject({ end: 'complete', frames: frames(pc, 0x1400, 0x1500) });
    }
  });

  // adrp x16, 0x2000; ldr x17, [x16, #24]; add x16, x16, #24; br x17
  const [ADRP, LOAD, ADD, JUMP, BTI, AUTHENTICATE] = [0xb0000010, 0xf9400e11, 0x91006210, 0xd61f0220, 0xd503245f, 0xd503219f];
  const PLT_START = [0xa9bf7bf0, ADRP, LOAD, ADD, JUMP, NOP, NOP, NOP];
  test.each<[string, readonly number[], readonly number[]]>([
    ['plain', PLT_START, [ADRP, LOAD, ADD, JUMP]],
    ['with a landing pad for branches', [BTI, ...PLT_START], [BTI, ADRP, LOAD, ADD, JUMP, NOP]],
    ['with authentication', PLT_START, [ADRP, LOAD, ADD, AUTHENTICATE, JUMP, NOP]],
    ['without lazy binding', [], [ADRP, LOAD, JUMP, NOP]],
  ])('has the return address in the link register in stubs of the PLT: %s', async (_, first, stub) => {
    // The first stub is far away from any return.
    const before = first.length === 0 ? [RET] : [...first];
    const words = [...before, ...Array.from({ length: 70 }, () => stub).flat()];
    const text = Object.fromEntries(words.map((instruction, i) => [0x1100 + 4 * i, instruction]));
    const last = 0x1100 + 4 * (words.length - stub.length);
    const registers = { x29: SP + 0x20, lr: BIAS + 0x1400 };
    const code = { ...text, 6140: BL, 6396: BLR };
    const stack = { 32: 0, 40: BIAS + 0x1900 };
    for (const pc of [last, last + 4, last + 4 * stub.lastIndexOf(JUMP)]) {
      const result = await unwind(code, { ...registers, lr: BIAS + 0x1800, pc: BIAS + pc }, stack);
      expect(result).toMatchObject({ end: 'complete', frames: frames(pc, 0x1800, 0x1900) });
    }
  });

  test('has a caller in a stub that the first function of a program calls, with the arguments of the program on top of the stack', async () => {
    const stub = Object.fromEntries([ADRP, LOAD, ADD, JUMP].map((instruction, i) => [0x1104 + 4 * i, instruction]));
    // One argument, one variable of the environment.
    const stack = { 0: 1, 8: SP + 0x100, 16: 0, 24: SP + 0x110, 32: 0, 40: 6, 48: 4096 };
    const unwindAt = async (pc: number, lr: number): Promise<UnwoundSample> => unwind({ 4352: RET, ...stub }, { pc: BIAS + pc, x29: 0, lr }, stack);
    expect(await unwindAt(0x1104, BIAS + 0x1400)).toMatchObject({ end: 'complete', frames: frames(0x1104, 0x1400) });
    // The first function itself: its link register means nothing.
    expect(await unwindAt(0x1200, 7)).toMatchObject({ end: 'complete', frames: frames(0x1200) });
  });

  test('has moved the stack pointer after the first instruction of the PLT', async () => {
    const text = Object.fromEntries(PLT_START.map((instruction, i) => [0x1104 + 4 * i, instruction]));
    // The caller is a function that has not saved anything and is about to return.
    for (const [pc, moved] of [
      [0x1104, 0],
      [0x1108, 16],
      [0x1114, 16],
    ]) {
      const stack = { [moved]: 0, [moved + 8]: BIAS + 0x1500 };
      const result = await unwind({ 4352: RET, ...text, 5120: 0xa8c17bfd, 5124: RET }, { pc: BIAS + pc, x29: SP + 0x200, lr: BIAS + 0x1400 }, stack);
      expect(result).toMatchObject({ end: 'complete', frames: frames(pc, 0x1400, 0x1500) });
    }
  });

  test('does not take another jump by x17 for the end of a function', async () => {
    const code = { 4352: STP, 4356: MOV_FP, 4368: JUMP };
    const stack = { 32: 0, 40: BIAS + 0x1400 };
    const result = await unwind(code, { pc: BIAS + 0x1120, x29: SP + 0x20, lr: BIAS + 0x1500 }, stack);
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1120, 0x1400) });
  });

  test('is unwound by frame pointers even if the pair is not at the end of the frame', async () => {
    const code = { 4352: RET, 4356: 0xd10083ff, 4360: STP_FAR, 4364: 0x910043fd };
    const stack = { 16: 0, 24: BIAS + 0x1400 };
    expect(await unwind(code, { pc: BIAS + 0x1120, x29: SP + 0x10, lr: BIAS + 0x1118 }, stack)).toMatchObject({
      end: 'complete',
      frames: frames(0x1120, 0x1400),
    });
  });
});

test('32-bit Arm code without rules is unwound by frame pointers of both kinds', async () => {
  // bl of Thumb; blx r3 of the other instructions
  const mapped = await space('arm', { 5116: [0x00, 0xf0, 0x00, 0xf8], 5372: [0x33, 0xff, 0x2f, 0xe1] }, 0, 0x10000);
  const at = 0xbe00_0000;
  // clang: the frame pointer points at the caller's; gcc: at the return address.
  const clang = { 32: at + 0x40, 36: 0x1_1400, 64: 0, 68: 0x1_1500 };
  const gcc = { 28: at + 0x44, 32: 0x1_1400, 64: 0, 68: 0x1_1500 };
  for (const [fp, stack] of [
    [at + 0x20, clang],
    [at + 0x20, gcc],
  ] as const) {
    const result = await unwound({ machine: 'arm', registers: { pc: 0x1_1010, sp: at, fp }, stack }, mapped);
    expect(result).toMatchObject({ end: 'complete', frames: ['!11010', '11400', '11500'] });
  }
});

test.each<[string, number[], boolean]>([
  ['bl of Thumb', [0x00, 0xf0, 0x00, 0xf8], true],
  ['blx of Thumb', [0x00, 0xf0, 0x00, 0xe8], true],
  ['blx r3 of Thumb', [0x00, 0xbf, 0x98, 0x47], true],
  ['bl', [0x00, 0x00, 0x00, 0xeb], true],
  ['blne', [0x00, 0x00, 0x00, 0x1b], true],
  ['blx', [0x00, 0x00, 0x00, 0xfb], true],
  ['blx r3', [0x33, 0xff, 0x2f, 0xe1], true],
  ['b', [0x00, 0x00, 0x00, 0xea], false],
  ['bx r3', [0x13, 0xff, 0x2f, 0xe1], false],
  ['bx r3 of Thumb', [0x00, 0xbf, 0x18, 0x47], false],
  ['nop', [0x00, 0xbf, 0x00, 0xbf], false],
])('32-bit Arm code has return addresses only after calls: %s', async (_name, bytes, isCall) => {
  const mapped = await space('arm', { 5116: bytes }, 0, 0x10000);
  const result = await unwound({ machine: 'arm', registers: { pc: 0x1_1010, sp: 0xbe00_0000, lr: 0x1_1400, fp: 3 }, stack: {} }, mapped);
  expect(result.frames).toEqual(isCall ? ['!11010', '11400'] : ['!11010']);
});

describe('RISC-V code without rules', () => {
  // jal ra, …; c.jalr a5
  const calls = { 5116: [0xef, 0x00, 0x00, 0x08], 5372: [0x01, 0x00, 0x82, 0x97] };

  test('is unwound by frame pointers', async () => {
    const stack = { 16: SP + 0x40, 24: BIAS + 0x1400, 48: 0, 56: BIAS + 0x1500 };
    const result = await unwound(
      { machine: 'riscv64', registers: { pc: BIAS + 0x1010, sp: SP, s0: SP + 0x20, ra: BIAS + 0x1014 }, stack },
      await space('riscv64', calls),
    );
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1010, 0x1400, 0x1500) });
  });

  test('has the return address of a PLT stub in the link register, although the frame pointer is that of its caller', async () => {
    // auipc t3, 2; ld t3, 16(t3); jalr t1, t3
    const stub = { 4112: [0x17, 0x2e, 0, 0, 0x03, 0x3e, 0x0e, 0x01, 0x67, 0x03, 0x0e, 0] };
    const mapped = await space('riscv64', { ...calls, ...stub });
    const stack = { 16: 0, 24: BIAS + 0x1500 };
    for (const at of [0x1010, 0x1014, 0x1018]) {
      const registers = { pc: BIAS + at, sp: SP, s0: SP + 0x20, ra: BIAS + 0x1400 };
      expect(await unwound({ machine: 'riscv64', registers, stack }, mapped)).toMatchObject({ end: 'complete', frames: frames(at, 0x1400, 0x1500) });
    }
  });

  test('has the return address of a leaf in the link register, even if it is far away or the only one', async () => {
    // The leaf was called from the same code at another place. The frame pointer is still the caller's.
    const far = BIAS + 0x1000_0000;
    const bytes = new Uint8Array(0x1000).fill(0x90);
    for (const [svma, piece] of Object.entries(calls)) bytes.set(piece, Number(svma) - START);
    const module = await madeModule('riscv64', [{ svma: START, bytes }]);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS).map(far, far + 0x10000, module, far);
    const stack = { 16: 0, 24: BIAS + 0x1500 };
    const called = await unwound({ machine: 'riscv64', registers: { pc: BIAS + 0x1010, sp: SP, s0: SP + 0x20, ra: far + 0x1400 }, stack }, mapped);
    expect(called).toMatchObject({ end: 'complete', frames: frames(0x1010, 0x1000_1400, 0x1500) });
    // Saved by then, it is that of the frame.
    const saved = { 16: SP + 0x40, 24: far + 0x1400, 48: 0, 56: BIAS + 0x1500 };
    const calling = await unwound({ machine: 'riscv64', registers: { pc: BIAS + 0x1010, sp: SP, s0: SP + 0x20, ra: far + 0x1400 }, stack: saved }, mapped);
    expect(calling).toMatchObject({ end: 'complete', frames: frames(0x1010, 0x1000_1400, 0x1500) });
    const alone = await unwound({ machine: 'riscv64', registers: { pc: BIAS + 0x1010, sp: SP, s0: 7, ra: BIAS + 0x1400 }, stack }, mapped);
    expect(alone.frames).toEqual(frames(0x1010, 0x1400));
  });
});
