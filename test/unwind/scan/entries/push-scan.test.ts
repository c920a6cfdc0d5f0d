import { describe, expect, test } from 'vitest';
import { MadeSpace } from '../../../support/builders/unwind/made-process.ts';
import { madeModule, type UnwoundSample, unwound } from '../../../support/builders/unwind/unwound.ts';

const BIAS = 0x4000_0000;
const SP = 0x7fff_0000;
const START = 0x1000;
/** bx lr of each instruction set. */
const LEAF = 0x1200;
/** After blx r3; pop {r4, pc} of T32. */
const CALLER = 0x1100;
const RETURN = BIAS + CALLER + 1;

type Code = Readonly<Record<number, string>>;
type Stack = Readonly<Record<number, number>>;

/** Code by svma, as an assembler lists it: halves of 16 bits, or words of 32. Elsewhere are instructions that are not defined. */
async function spaceOf(pieces: Code): Promise<MadeSpace> {
  const bytes = new Uint8Array(0x1000).fill(0xde);
  for (const [svma, listing] of Object.entries({ [CALLER - 2]: '4798 bd10', ...pieces })) {
    const code = listing.split(' ').flatMap((word) => word.match(/../g)?.reverse() ?? []);
    bytes.set(
      code.map((byte) => Number.parseInt(byte, 16)),
      Number(svma) - START,
    );
  }
  return new MadeSpace().map(BIAS, BIAS + 0x8000, await madeModule('arm', [{ svma: START, bytes }]), BIAS);
}

function frames(...svmas: number[]): string[] {
  return svmas.map((at, i) => `${i > 0 ? '' : '!'}${(BIAS + at).toString(16)}`);
}

describe('32-bit Arm code without rules that leads to no return', () => {
  /** Unwinds a leaf that was called right before an svma. @param listing code from 0x1000 on */
  const unwind = async (set: 'A32' | 'T32', listing: string, svma: number, stack: Stack, r7 = 5): Promise<UnwoundSample> => {
    const space = await spaceOf({ [START]: listing, [LEAF]: set === 'A32' ? 'e12fff1e' : '4770' });
    const lr = BIAS + svma + (set === 'A32' ? 0 : 1);
    // The address of the T32 leaf tells its instruction set only by the call.
    return unwound({ machine: 'arm', registers: { pc: BIAS + LEAF, lr, sp: SP, r7, fp: 5 }, stack }, space);
  };
  const caller = (at: number): Record<number, number> => ({ [at]: RETURN, [at + 4]: 1, [at + 8]: 0 });

  /** The last two: where the return address is, and how much of the frame is above it. */
  const CASES: [string, 'A32' | 'T32', string, number, number, number?][] = [
    // push {r4, lr}; sub sp, #8; bl 0x1200; udf
    ['where it calls a function that does not return', 'T32', 'b510 b082 f000 f8fc de00', 0x1008, 12],
    ['where it calls a function that does not return', 'A32', 'e92d4010 e24dd008 eb00007c e7f000f0', 0x100c, 12],
    // str lr, [sp, #-8]!; bl 0x1200; udf
    ['where it saves nothing else', 'T32', 'f84d ed08 f000 f8fc de00', 0x1008, 0, 4],
    ['where it saves nothing else', 'A32', 'e52de008 eb00007d e7f000f0', 0x1008, 0, 4],
    // push.w {r4, r8, lr}; bl 0x1200; b back
    ['where it goes round', 'T32', 'e92d 4110 f000 f8fc e7fc', 0x1008, 8],
    // push {r2, r3}; push {r4, lr}; bl 0x1200; udf
    ['where it has a variable number of arguments', 'T32', 'b40c b510 f000 f8fc de00', 0x1008, 4, 8],
    ['where it has a variable number of arguments', 'A32', 'e92d000c e92d4010 eb00007c e7f000f0', 0x100c, 4, 8],
    // push {r4, lr}; b over two numbers that look like pushes; bl 0x1200; udf
    ['after numbers among the code', 'T32', 'b510 e001 b5f0 b5f0 f000 f8fa de00', 0x100c, 4],
    ['after numbers among the code', 'A32', 'e92d4010 ea000000 e92d5ff0 eb00007b e7f000f0', 0x1010, 4],
    // push {r4, lr}; tbb [pc, r0]; four distances; bl 0x1200; udf
    ['in a case of a switch', 'T32', 'b510 e8df f000 0202 0202 f000 f8f9 de00', 0x100e, 4],
    // push {r4, lr}; b over the body; bl 0x1200; bne back; udf
    ['in a loop that is entered at its end', 'T32', 'b510 e001 f000 f8fc d1fc de00', 0x1008, 4],
    // push {r4, lr}; cbz over a part with a larger frame; sub sp, #8; udf; bl 0x1200; udf
    ['where a branch leads', 'T32', 'b510 b108 b082 de00 f000 f8fa de00', 0x100c, 4],
    // push {r4, lr}; bl 0x1200; push {r5, r6, lr}; bl 0x1200; udf
    ['in the function after one that does not return', 'T32', 'b510 f000 f8fd b560 f000 f8fa de00', 0x100c, 8],
  ];

  test.each(CASES)('is left by what it has done since it saved the link register: %s (%s)', async (_name, set, listing, svma, at, above = 0) => {
    const stack = { 0: 7, 4: 7, 8: 7, 12: 7, [at]: RETURN, [at + 4 + above]: 1, [at + 8 + above]: 0 };
    expect(await unwind(set, listing, svma, stack)).toMatchObject({ end: 'complete', frames: frames(LEAF, svma, CALLER) });
  });

  test('is cut off where its frame is larger than the dump, although what looks like a push tells of a smaller one', async () => {
    // push {r4, lr}; sub sp, #508; b over two numbers that look like pushes; bl 0x1200; udf
    const result = await unwind('T32', 'b510 b0ff e001 b5f0 b5f0 f000 f8f9 de00', 0x100e, { 0: 7, 16: 7, 36: 7 });
    expect(result).toMatchObject({ end: 'truncated', endStackOffset: 516, frames: frames(LEAF, 0x100e) });
  });

  test('is followed from its first instruction, whatever the leaf was in: a list of conditional instructions', async () => {
    // push {r4, lr}; sub sp, #8; bl 0x1200; udf, and itt ne; addne r0, r0, r1, twice; udf
    const space = await spaceOf({ [START]: 'b510 b082 f000 f8fc de00', [LEAF]: 'bf1c 1840 1840 de00' });
    const registers = { pc: BIAS + LEAF + 4, lr: BIAS + 0x1009, sp: SP, fp: 5 };
    const result = await unwound({ machine: 'arm', registers, stack: { 0: 7, 4: 7, ...caller(12) } }, space);
    expect(result).toMatchObject({ end: 'complete', frames: frames(LEAF + 4, 0x1008, CALLER) });
  });

  test('has its frame where a register points that has kept the stack pointer', async () => {
    // push {r7, lr}; mov r7, sp; sub.w sp, sp, r0; bl 0x1200; udf
    const stack = { 0: 7, 4: 7, 32: 0, ...caller(36) };
    const result = await unwind('T32', 'b580 466f ebad 0d00 f000 f8fa de00', 0x100c, stack, SP + 32);
    expect(result).toMatchObject({ end: 'complete', frames: frames(LEAF, 0x100c, CALLER) });
  });

  test.each<[string, string, number]>([
    // push {r4, lr}; pop {r4, pc}; bl 0x1200; udf
    ['after a return', 'b510 bd10 f000 f8fc de00', 0x1008],
    // push {r4, lr}; b over a pop {r4, pc}, to another one; bl 0x1200; udf
    ['after the last place to which it branches', 'b510 d000 bd10 bd10 f000 f8fa de00', 0x100c],
  ])('is not taken for part of the function before it: %s', async (_name, listing, svma) => {
    expect(await unwind('T32', listing, svma, { 0: 7, ...caller(4) })).toMatchObject({ end: 'no-rule', frames: frames(LEAF, svma) });
  });

  test('is not left by a word that is no return address', async () => {
    const result = await unwind('T32', 'b510 b082 f000 f8fc de00', 0x1008, { ...caller(12), 12: RETURN + 0x20 });
    expect(result).toMatchObject({ end: 'no-rule', frames: frames(LEAF, 0x1008) });
  });

  test('is truncated if the dump ends below its return address', async () => {
    const result = await unwind('T32', 'b510 b082 f000 f8fc de00', 0x1008, { 0: 7, 4: 7 });
    expect(result).toMatchObject({ end: 'truncated', frames: frames(LEAF, 0x1008), endStackOffset: 16 });
  });
});
