import { describe, expect, test } from 'vitest';
import { type UnwoundSample, unwound } from '../../../support/builders/unwind/unwound.ts';
import { BIAS, type Code, frames, SP, spaceOf } from '../../../support/readers/scanned-code.ts';

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
    // blx of Thumb from 0x1204 to 0x1000, in whose neighborhood all else is Thumb: bx lr.
    const pieces = { 4096: 'e1a00000 e12fff1e', 4608: 'f7ff eefe' };
    const result = await unwind(0x1004, BIAS + 0x1205, { 0: 1, 4: 0 }, pieces, NOPS[0]);
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1004, 0x1204) });
    // blx of A32 to Thumb, in whose neighborhood all else is A32: mov r0, r0; bx lr; nop.
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
