import { describe, expect, test } from 'vitest';
import { assembleFrames, CfaCode } from '../support/builders/unwind/frame-assembler.ts';
import { isNarrow, type MadeSample, MadeSpace } from '../support/builders/unwind/made-process.ts';
import { madeModule, textOf, type UnwoundSample, unwound } from '../support/builders/unwind/unwound.ts';

const BIAS = 0x5550_0000;
const SP = 0x7fff_1000;
const FRAME_BYTES = 32;
const [LEAF, CALLER, START] = [0x1000, 0x1100, 0x1200];
/** Another function, and a part of one that begins with a frame. */
const [OTHER, PART] = [0x1300, 0x1400];

interface Machine {
  readonly machine: MadeSample['machine'];
  readonly littleEndian?: boolean;
  /** DWARF numbers, and the names of the instruction pointer, the stack pointer and the link register. */
  readonly sp: number;
  readonly fp: number;
  readonly lr: number;
  readonly names: readonly [pc: string, sp: string, lr: string];
  /** What the CFA is above the stack pointer. */
  readonly bias?: number;
  /** An indirect call, and how long it is. */
  readonly call: string;
  readonly callBytes?: number;
}

const AARCH64: Machine = { machine: 'aarch64', sp: 31, fp: 29, lr: 30, names: ['pc', 'sp', 'lr'], call: 'd63f0000' };
const RISCV64: Machine = { machine: 'riscv64', sp: 2, fp: 8, lr: 1, names: ['pc', 'sp', 'ra'], call: '000500e7' };
const S390X: Machine = { machine: 's390x', littleEndian: false, sp: 15, fp: 11, lr: 14, names: ['pc', 'r15', 'r14'], bias: 160, call: '07070de1' };
const PPC64: Machine = { machine: 'ppc64', sp: 1, fp: 31, lr: 65, names: ['nip', 'r1', 'link'], call: '4e800421' };
const PPC: Machine = { ...PPC64, machine: 'ppc', littleEndian: false };
const LOONGARCH64: Machine = { machine: 'loongarch64', sp: 3, fp: 22, lr: 1, names: ['pc', 'r3', 'r1'], call: '4c000181' };
const MIPS64: Machine = { machine: 'mips64', sp: 29, fp: 30, lr: 31, names: ['pc', 'r29', 'r31'], call: '0320f809 00000000', callBytes: 8 };
const MIPS: Machine = { ...MIPS64, machine: 'mips', littleEndian: false };

interface Setting {
  /** The end of the leaf, in words; its rules say that it keeps its frame all along. */
  readonly code: string;
  /** How long it is by its rules. */
  readonly leafBytes?: number;
  /** Where in it the sample is. */
  readonly at?: number;
  /** How much of the frame is left. */
  readonly left?: number;
  /** Whether the rules count from the frame pointer, which is the caller's by now. */
  readonly isByFp?: boolean;
  /** What the link register has; default: the address in the caller. */
  readonly link?: number | bigint;
  /** A register that only functions save that return to a handler. */
  readonly mark?: number;
  readonly followsLibunwind?: boolean;
}

async function unwoundAt(
  { machine, littleEndian = true, sp, fp, lr, names: [pcName, spName, lrName], bias = 0, call, callBytes = 4 }: Machine,
  { code: leaf, leafBytes = 0x100, at = 0, left = 0, isByFp = false, link, mark, followsLibunwind = false }: Setting,
): Promise<UnwoundSample> {
  const word = isNarrow(machine) ? 4 : 8;
  const code = (): CfaCode => new CfaCode(littleEndian);
  const text = [
    { svma: LEAF, bytes: textOf(leaf, littleEndian) },
    { svma: CALLER, bytes: textOf(call, littleEndian) },
    { svma: START, bytes: textOf(call, littleEndian) },
    { svma: OTHER, bytes: textOf(call, littleEndian) },
    { svma: PART, bytes: textOf(call, littleEndian) },
  ];
  const keeping = code().defCfa(isByFp ? fp : sp, FRAME_BYTES + bias);
  keeping.offsetExtended(lr, (bias + 16) / word);
  if (mark !== undefined) keeping.offsetExtended(mark, (bias + 24) / word);
  const fdes = [
    { start: LEAF, sizeBytes: leafBytes, code: keeping },
    // It has saved the link register right above its stack pointer, in a frame of two words.
    {
      start: CALLER,
      sizeBytes: 0x100,
      code: code()
        .defCfaOffset(2 * word + bias)
        .offsetExtended(lr, (bias + word) / word),
    },
    { start: START, sizeBytes: 0x100, code: code().undefined(lr) },
    { start: OTHER, sizeBytes: 0x100, code: code() },
    { start: PART, sizeBytes: 0x100, code: code().defCfaOffset(FRAME_BYTES + bias) },
  ];
  const cie = { returnAddress: lr, dataAlignment: -word, code: code().defCfa(sp, bias) };
  const { bytes } = assembleFrames([[cie, fdes]], { addr: 0x4000, addressSize: word, littleEndian });
  const module = await madeModule(machine, text, [{ name: '.eh_frame', flags: 2, addr: 0x4000, content: bytes }], { littleEndian });
  const space = new MadeSpace().map(BIAS, BIAS + 0x8000, module, BIAS);
  const registers = { [pcName]: BIAS + LEAF + at, [spName]: SP, [lrName]: link ?? BIAS + CALLER + callBytes };
  const sample = { machine, littleEndian, registers, stack: { [left + word]: BIAS + START + callBytes, 256: 0 } };
  return unwound(sample, space, { followsLibunwind });
}

function frames({ callBytes = 4 }: Machine, at: number): string[] {
  return [`!${(BIAS + LEAF + at).toString(16)}`, (BIAS + CALLER + callBytes).toString(16), (BIAS + START + callBytes).toString(16)];
}

describe('leaves that are about to return, of which rules say that they still have their frames', () => {
  test.each<[string, Machine, Setting]>([
    ['arm64: ret', AARCH64, { code: 'd65f03c0' }],
    ['arm64: autiasp; ret', AARCH64, { code: 'd50323bf d65f03c0', at: 4 }],
    ['arm64: retaa, the link register still signed', AARCH64, { code: 'd65f0bff', link: BigInt(BIAS + CALLER + 4) | (0x12a5n << 48n) }],
    ['RISC-V: ret', RISCV64, { code: '02010113 00008067', at: 4 }],
    ['RISC-V: c.jr ra', RISCV64, { code: '00018082' }],
    ['RISC-V: addi sp, sp, 32; ret', RISCV64, { code: '02010113 00008067', left: FRAME_BYTES, isByFp: true }],
    ['s390x: br %r14', S390X, { code: '07fe0707' }],
    ['64-bit PowerPC: blr', PPC64, { code: '4e800020' }],
    ['64-bit PowerPC: mtlr r12; blr', PPC64, { code: '7d8803a6 4e800020', at: 4 }],
    ['32-bit PowerPC: blr', PPC, { code: '4e800020' }],
    ['LoongArch: jr ra', LOONGARCH64, { code: '4c000020', isByFp: true }],
    ['LoongArch: addi.d sp, sp, 32; jr ra', LOONGARCH64, { code: '02c08063 4c000020', left: FRAME_BYTES, isByFp: true }],
    ['MIPS n64: jr ra; nop', MIPS64, { code: '03e00008 00000000' }],
    ['MIPS n64: jr ra; daddiu sp, 32', MIPS64, { code: '03e00008 67bd0020', left: FRAME_BYTES, isByFp: true }],
    ['MIPS o32: jr ra; nop', MIPS, { code: '03e00008 00000000' }],
    ['MIPS o32: jr ra; addiu sp, 32', MIPS, { code: '03e00008 27bd0020', left: FRAME_BYTES, isByFp: true }],
    ['64-bit PowerPC: after 40 other instructions', PPC64, { code: `${'60000000 '.repeat(40)}4e800020` }],
    ['arm64: a jump to another function', AARCH64, { code: '140000c0' }],
    ['arm64: a jump to code that leads straight to the return', AARCH64, { code: '14000002 d4200000 d65f03c0' }],
  ])('are left by what they do: %s', async (_, machine, setting) => {
    expect(await unwoundAt(machine, setting)).toMatchObject({ end: 'complete', frames: frames(machine, setting.at ?? 0) });
  });

  test.each<[string, Machine, Setting]>([
    ['conditional return', PPC64, { code: '4d820020 4e800020' }],
    ['jump through another register', RISCV64, { code: '00028067' }],
    ['call before the return', RISCV64, { code: '000500e7 00008067' }],
    ['return to what is no return address', RISCV64, { code: '00008067', link: BIAS + CALLER }],
    ['jump to a part of a function that has a frame', AARCH64, { code: '14000100' }],
    ['return of the next function', AARCH64, { code: `${'d503201f '.repeat(4)}d65f03c0`, leafBytes: 16 }],
    ['return to a handler', RISCV64, { code: '00008067', mark: 59 }],
    ['return, but libunwind is followed', AARCH64, { code: 'd65f03c0', followsLibunwind: true }],
  ])('are left by their rules: %s', async (_, machine, setting) => {
    expect((await unwoundAt(machine, setting)).frames).not.toEqual(frames(machine, 0));
  });
});
