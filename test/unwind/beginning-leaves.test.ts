import { describe, expect, test } from 'vitest';
import { assembleFrames, CfaCode } from '../support/builders/unwind/frame-assembler.ts';
import { type MadeSample, MadeSpace } from '../support/builders/unwind/made-process.ts';
import { madeModule, textOf, type UnwoundSample, unwound } from '../support/builders/unwind/unwound.ts';

const BIAS = 0x5550_0000;
/** The stack pointer of the caller. */
const SP = 0x7fff_1000;
const WORD = 8;
const [LEAF, CALLER, START] = [0x1000, 0x1100, 0x1200];

interface Machine {
  readonly machine: MadeSample['machine'];
  /** DWARF numbers, and the names of the instruction pointer, the stack pointer and the link register. */
  readonly sp: number;
  readonly fp: number;
  readonly lr: number;
  readonly names: readonly [pc: string, sp: string, lr: string];
  /** An indirect call. */
  readonly call: string;
}

const AARCH64: Machine = { machine: 'aarch64', sp: 31, fp: 29, lr: 30, names: ['pc', 'sp', 'lr'], call: 'd63f0000' };
const PPC64: Machine = { machine: 'ppc64', sp: 1, fp: 31, lr: 65, names: ['nip', 'r1', 'link'], call: '4e800421' };

interface Setting {
  /** The beginning of the leaf. */
  readonly code: string;
  /** Its rules. */
  readonly rules: CfaCode;
  /** Where in it the sample is. */
  readonly at: number;
  /** How large the frame is there. */
  readonly frameBytes: number;
  /** What is on the stack, by distance from the caller's stack pointer: svmas of code. */
  readonly stack?: Readonly<Record<number, number>>;
  /** What other registers have. */
  readonly others?: Readonly<Record<string, number>>;
  /** Whether the caller's frame is found by its frame pointer. */
  readonly isCallerByFp?: boolean;
  readonly followsLibunwind?: boolean;
}

const RETURN = CALLER + 4;

async function unwoundAt({ machine, sp, fp, lr, names: [pcName, spName, lrName], call }: Machine, setting: Setting): Promise<UnwoundSample> {
  const { code, rules, at, frameBytes, stack = {}, others, isCallerByFp = false, followsLibunwind = false } = setting;
  const text = [
    { svma: LEAF, bytes: textOf(code) },
    { svma: CALLER, bytes: textOf(call) },
    { svma: START, bytes: textOf(call) },
  ];
  const fdes = [
    { start: LEAF, sizeBytes: 0x100, code: rules },
    // It has saved the link register in the second of the four words of its frame.
    { start: CALLER, sizeBytes: 0x100, code: new CfaCode().defCfa(isCallerByFp ? fp : sp, 4 * WORD).offsetExtended(lr, 3) },
    { start: START, sizeBytes: 0x100, code: new CfaCode().undefined(lr) },
  ];
  const cie = { returnAddress: lr, dataAlignment: -WORD, codeAlignment: 4, code: new CfaCode().defCfa(sp, 0) };
  const { bytes } = assembleFrames([[cie, fdes]], { addr: 0x4000, addressSize: WORD });
  const module = await madeModule(machine, text, [{ name: '.eh_frame', flags: 2, addr: 0x4000, content: bytes }]);
  const space = new MadeSpace().map(BIAS, BIAS + 0x8000, module, BIAS);
  const registers = { [pcName]: BIAS + LEAF + at, [spName]: SP - frameBytes, [lrName]: BIAS + RETURN, ...others };
  const words = { [WORD]: START + 4, 256: -BIAS, ...stack };
  const dump = Object.fromEntries(Object.entries(words).map(([place, svma]) => [Number(place) + frameBytes, BIAS + svma]));
  return unwound({ machine, registers, stack: dump }, space, { followsLibunwind });
}

function frames(at: number): string[] {
  return [`!${(BIAS + LEAF + at).toString(16)}`, (BIAS + RETURN).toString(16), (BIAS + START + 4).toString(16)];
}

/** mflr r0; std r30, -16(r1); std r0, 16(r1); stdu r1, -64(r1); bl, of which clang says that its frame begins with the second one. */
const POWERPC = {
  code: '7c0802a6 fbc1fff0 f8010010 f821ffc1 48000001 60000000',
  get rules(): CfaCode {
    return new CfaCode().advance(1).defCfaOffset(64).offsetExtendedSf(PPC64.lr, -2).offset(30, 2);
  },
};
/** What the rules of such code lead to before the frame is there. */
const OTHER = { 80: START + 4 };
/** stp x29, x30, [sp, #-32]!; stp x20, x19, [sp, #16]; mov x29, sp; bl, of which clang 14 says that its frame begins with the last one. */
const A64 = {
  code: 'a9be7bfd a9014ff4 910003fd 94000000 d503201f',
  get rules(): CfaCode {
    return new CfaCode().advance(3).defCfa(AARCH64.fp, 32).offset(AARCH64.lr, 3).offset(AARCH64.fp, 4).offset(19, 1).offset(20, 2);
  },
};

/** Its rules have another frame. Where the code seems to leave the caller's frame, there is another return address. */
const LOOP = {
  code: 'd10043ff f1000529 54ffffc1 94000000',
  get rules(): CfaCode {
    return new CfaCode().advance(1).defCfaOffset(48);
  },
  frameBytes: 32,
  stack: { [WORD - 16]: START + 4 },
};

describe('leaves whose functions have not set up all of their frames, of which rules say something else', () => {
  test.each<[string, Machine, Setting]>([
    ['PowerPC: before any register is saved', PPC64, { ...POWERPC, at: 4, frameBytes: 0, stack: OTHER }],
    ['PowerPC: after a register was saved', PPC64, { ...POWERPC, at: 8, frameBytes: 0, stack: OTHER }],
    ['PowerPC: after the link register was saved', PPC64, { ...POWERPC, at: 12, frameBytes: 0, stack: { ...OTHER, 16: RETURN } }],
    ['PowerPC: once there is a frame', PPC64, { ...POWERPC, at: 16, frameBytes: 64, stack: { 16: RETURN } }],
    ['arm64: after the link register was saved', AARCH64, { ...A64, at: 4, frameBytes: 32, stack: { [-24]: RETURN } }],
    ['arm64: after all registers were saved', AARCH64, { ...A64, at: 8, frameBytes: 32, stack: { [-24]: RETURN } }],
    // cbz x0, forward
    ['arm64: after a branch', AARCH64, { ...A64, code: `b4000200 ${A64.code}`, at: 8, frameBytes: 32, stack: { [-24]: RETURN } }],
  ])('are left by what these have done: %s', async (_, machine, setting) => {
    expect(await unwoundAt(machine, setting)).toMatchObject({ end: 'complete', frames: frames(setting.at) });
  });

  const saved = { at: 8, frameBytes: 32, stack: { [-24]: RETURN } };
  test.each<[string, Machine, Setting]>([
    ['after a call', AARCH64, { ...A64, ...saved, code: `94000040 ${A64.code}` }],
    ['after a jump', AARCH64, { ...A64, ...saved, code: `14000002 ${A64.code}` }],
    ['in a part of a function that begins with a frame', AARCH64, { ...A64, ...saved, rules: new CfaCode().defCfaOffset(16) }],
    // sub sp, sp, #16; subs x9, x9, #1; b.ne -8 or b -8; bl; which has been around twice
    ['in a loop that moves the stack pointer', AARCH64, { ...LOOP, at: 4 }],
    ['after such a loop', AARCH64, { ...LOOP, at: 12 }],
    ['in a loop that ends in a jump', AARCH64, { ...LOOP, code: LOOP.code.replace('54ffffc1', '17fffffe'), at: 4 }],
    ['if libunwind is followed', AARCH64, { ...A64, ...saved, followsLibunwind: true }],
  ])('are left by their rules: %s', async (_, machine, setting) => {
    expect((await unwoundAt(machine, setting)).frames).not.toEqual(frames(setting.at));
  });

  test('are left by their rules if the code leads to what is no return address', async () => {
    const { frames: found } = await unwoundAt(AARCH64, { ...A64, ...saved, stack: { [-24]: CALLER } });
    expect(found.slice(0, 2)).toEqual(frames(saved.at).slice(0, 2));
  });

  test('are left by rules that say what the code has done, whatever it seems to do up to its return', async () => {
    // mflr r0; std r31, -8(r1); stdu r1, -64(r1); mr r31, r1; std r0, 80(r1);
    // addi r11, r31, 64; ld r0, 16(r11); mtlr r0; ld r31, -8(r11); mr r1, r11; blr
    const code = '7c0802a6 fbe1fff8 f821ffc1 7c3f0b78 f8010050 397f0040 e80b0010 7c0803a6 ebebfff8 7d615b78 4e800020';
    const rules = new CfaCode().advance(4).defCfa(PPC64.fp, 64).register(PPC64.lr, 0).offset(31, 1);
    // Where the return address is saved next, that of an earlier call may be.
    const others = { r0: BIAS + RETURN, r31: SP - 64 };
    const result = await unwoundAt(PPC64, { code, rules, at: 16, frameBytes: 64, stack: { 16: START + 4 }, others });
    expect(result).toMatchObject({ end: 'complete', frames: frames(16) });
  });
});

test('leaves about to return are left by rules that lead to the same caller, since these may know of more registers', async () => {
  // bl; orr x29, x9, x10; ldr x30, [sp, #16]; add sp, sp, #32; ret
  const code = '94000040 aa0a013d f9400bfe 910083ff d65f03c0';
  const rules = new CfaCode().defCfaOffset(32).offset(AARCH64.lr, 2).offset(AARCH64.fp, 1);
  const stack = { [-16]: RETURN, [-8]: SP - BIAS };
  const result = await unwoundAt(AARCH64, { code, rules, at: 4, frameBytes: 32, stack, isCallerByFp: true });
  expect(result).toMatchObject({ end: 'complete', frames: frames(4) });
});
