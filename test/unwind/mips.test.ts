import { describe, expect, test } from 'vitest';
import { type UnwindMachine, unwindMachineOf } from '../../src/unwind/machines/unwind-machine.ts';
import { readUnwindModule } from '../../src/unwind/modules/unwind-module.ts';
import { assembleFrames, CfaCode, type PlannedCie, type PlannedFde } from '../support/builders/unwind/frame-assembler.ts';
import { isNarrow, MadeSpace } from '../support/builders/unwind/made-process.ts';
import { madeElf, madeModule, moduleOf, textOf, type UnwoundSample, unwound } from '../support/builders/unwind/unwound.ts';

const BIAS = 0x5550_0000;
const SP = 0x7fff_1000;
const VDSO = 0x7ff3_0000;
const [S8, SP_NUMBER, RA] = [30, 29, 31];
type Stack = Readonly<Record<number, number | bigint>>;

function hex(...addresses: number[]): string[] {
  return addresses.map((at, i) => `${i ? '' : '!'}${(BIAS + at).toString(16)}`);
}

test.each([
  ['n64', 64, 0x8000_0007, 'mips64'],
  ['n32', 32, 0x8000_0027, 'mips64'],
  ['o32', 32, 0x7000_1007, 'mips'],
  ['microMIPS', 32, 0x7200_1007, undefined],
] as const)('files of %s have the registers of their processes', (_, classBits, machineFlags, expected) => {
  expect(unwindMachineOf({ machine: 8, classBits, machineFlags })).toBe(expected);
});

test.each([
  ['MIPS32 Release 2', 0x7000_1007, ['!55501010', '55501108']],
  ['MIPS32 Release 6', 0x9000_1007, ['!55501010']],
  ['MIPS64 Release 6', 0xa000_1007, ['!55501010']],
  ['MIPS16', 0x7400_1007, ['!55501010']],
])('code without rules is followed as far as it is known: %s', async (_, machineFlags, frames) => {
  // addiu sp, -32; sw ra, 28(sp); jalr t9; nop; lw ra, 28(sp); jr ra; addiu sp, 32
  const code = { svma: 0x1000, bytes: textOf('27bdffe0 afbf001c 0320f809 00000000 8fbf001c 03e00008 27bd0020') };
  const caller = { svma: 0x1100, bytes: textOf('0320f809 00000000 1000ffff 00000000') };
  const module = await readUnwindModule(Object.assign(await madeElf('mips', [code, caller]), { machineFlags }));
  const space = new MadeSpace().map(BIAS, BIAS + 0x8000, module, BIAS);
  const stack = { 28: BIAS + 0x1108, 64: 0 };
  expect((await unwound({ machine: 'mips', registers: { r29: SP, pc: BIAS + 0x1010, r31: BIAS + 0x1010 }, stack }, space)).frames).toEqual(frames);
});

describe.each<[string, UnwindMachine, boolean]>([
  ['n64, little-endian', 'mips64', true],
  ['n64, big-endian', 'mips64', false],
  ['o32, little-endian', 'mips', true],
  ['o32, big-endian', 'mips', false],
])('MIPS stacks: %s', (_name, machine, littleEndian) => {
  const narrow = isNarrow(machine);
  const word = narrow ? 4 : 8;
  const unwind = (space: MadeSpace, registers: Readonly<Record<string, number | bigint>>, stack: Stack): Promise<UnwoundSample> =>
    unwound({ machine, registers: { r29: SP, ...registers }, stack, littleEndian }, space);

  describe('with rules', () => {
    const code = (): CfaCode => new CfaCode(littleEndian);
    const cie: PlannedCie = { returnAddress: RA, codeAlignment: 4, dataAlignment: -4, code: code().defCfa(SP_NUMBER, 0) };
    const fde = (start: number, instructions = code()): PlannedFde => ({ start, sizeBytes: 0x100, code: instructions });
    const saving = (): CfaCode =>
      code()
        .defCfaOffset(32)
        .offset(RA, word / 4)
        .offset(S8, word / 2);
    // A leaf, functions that save ra and s8, one with a frame found by s8, and a function without a caller.
    const module = moduleOf(
      machine,
      [[cie, [fde(0x1000), fde(0x1100, saving()), fde(0x1200, saving().defCfa(S8, 32)), fde(0x1300, code().undefined(RA))]]],
      littleEndian,
    );
    const space = (): MadeSpace => new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);

    test('begin with ra in leaves, and go on with what callers have saved', async () => {
      const stack = { [32 - 2 * word]: SP + 64, [32 - word]: BIAS + 0x1210, [96 - word]: BIAS + 0x1310 };
      const result = await unwind(space(), { pc: BIAS + 0x1010, r31: BIAS + 0x1110 }, stack);
      expect(result).toMatchObject({ end: 'complete', frames: hex(0x1010, 0x1110, 0x1210, 0x1310) });
    });

    test('end where the start of the thread has no return address', async () => {
      expect(await unwind(space(), { pc: BIAS + 0x1110 }, { [32 - word]: 0 })).toMatchObject({ end: 'complete', frames: hex(0x1110) });
    });
  });

  describe('without rules', () => {
    const [frame, save, restore, free] = narrow ? ['27bdffe0', 'afbf001c', '8fbf001c', '27bd0020'] : ['67bdffe0', 'ffbf0018', 'dfbf0018', '67bd0020'];
    const CALLER_AT = 0x1108;
    const SAVED = 32 - word;
    /** A function or stub at 0x1000, and at 0x1100 a call, which is followed by an endless loop, as in glibc's first function. */
    const follow = async (listing: string, pc: number, ra: number, stack: Stack): Promise<UnwoundSample> => {
      const caller = { svma: 0x1100, bytes: textOf('0320f809 00000000 1000ffff 00000000', littleEndian) };
      const module = await madeModule(machine, [{ svma: 0x1000, bytes: textOf(listing, littleEndian) }, caller], [], { littleEndian });
      return unwind(new MadeSpace().map(BIAS, BIAS + 0x8000, module, BIAS), { pc: BIAS + pc, r31: BIAS + ra }, stack);
    };
    const FRAMED = `${frame} ${save} 0320f809 00000000 ${restore} 03e00008 ${free}`;

    test.each<[string, number, number, Stack]>([
      ['at its first instruction', 0x1000, CALLER_AT, {}],
      ['before it saves ra', 0x1004, CALLER_AT, { 64: 0 }],
      ['after it has called', 0x1010, 0x1010, { [SAVED]: BIAS + CALLER_AT, 64: 0 }],
      ['at its return, whose delay slot frees the frame', 0x1014, CALLER_AT, { 64: 0 }],
    ])('are followed up to their return: %s', async (_where, pc, ra, stack) => {
      expect(await follow(FRAMED, pc, ra, stack)).toMatchObject({ end: 'complete', frames: hex(pc, CALLER_AT) });
    });

    test.each<[string, string]>([
      ['is the last instruction', `${frame} ${save} 0320f809 00000000 ${frame} 00000000 ${restore} 03e00008 ${free}`],
      ['precedes a trap', `${frame} ${save} 0320f809 00000000 0000000d`],
      ['precedes an endless loop that is not the first function’s', `${frame} ${save} 0320f809 00000000 00000000 1000ffff 00000000`],
    ])('are left by how they began if their last call never returns, and %s', async (_where, listing) => {
      expect(await follow(listing, 0x1010, 0x1010, { [SAVED]: BIAS + CALLER_AT, 96: 0 })).toMatchObject({ end: 'complete', frames: hex(0x1010, CALLER_AT) });
    });

    test('are left by how they began if they save ra after other instructions', async () => {
      // move s0, a0; move s1, a1
      const listing = `${frame} 00808025 00a08825 ${save} 0320f809 00000000 0000000d`;
      const result = await follow(listing, 0x1018, 0x1018, { [SAVED]: BIAS + CALLER_AT, 96: 0 });
      expect(result).toMatchObject({ end: 'complete', frames: hex(0x1018, CALLER_AT) });
    });

    test('are not left by how a function before theirs began', async () => {
      // A function with a switch (jr v0), and one that saves ra behind it, whose last call never returns.
      const other = narrow ? '27bdffd0 afbf002c 00400008 00000000' : '67bdffd0 ffbf0028 00400008 00000000';
      const listing = `${other} ${frame} ${save} 0320f809 00000000 0000000d`;
      const result = await follow(listing, 0x1020, 0x1020, { [SAVED]: BIAS + CALLER_AT, [48 - word]: BIAS + 0x1020, 96: 0 });
      expect(result).toMatchObject({ end: 'complete', frames: hex(0x1020, CALLER_AT) });
    });

    test.each([0x1000, 0x1004, 0x1008])('are left by ra in stubs for lazy binding, at %s', async (pc) => {
      expect(await follow('df998010 03e07825 0320f809 6418002c', pc, CALLER_AT, { 0: 0 })).toMatchObject({ end: 'complete', frames: hex(pc, CALLER_AT) });
    });

    test.each([0x1000, 0x1004, 0x1008])('are left by ra in PLT stubs, at %s', async (pc) => {
      expect(await follow('3c0f0041 8df91500 03200008 25f81500', pc, CALLER_AT, { 0: 0 })).toMatchObject({ end: 'complete', frames: hex(pc, CALLER_AT) });
    });

    test('are not taken to go on at what their last call has left in ra', async () => {
      expect(await follow('0320f809 00000000 0000000d', 0x1008, 0x1008, { 0: 0 })).toMatchObject({ end: 'no-rule', frames: hex(0x1008) });
    });
  });

  describe('with signal handlers', () => {
    const code = new CfaCode(littleEndian);
    const cie: PlannedCie = { returnAddress: RA, codeAlignment: 4, dataAlignment: -4, code: new CfaCode(littleEndian).defCfa(SP_NUMBER, 0) };
    const functions = [
      { start: 0x1000, sizeBytes: 0x100, code },
      { start: 0x1300, sizeBytes: 0x100, code: new CfaCode(littleEndian).undefined(RA) },
    ];
    const handler = moduleOf(machine, [[cie, functions]], littleEndian);
    /** System calls, and where the sigcontext has pc and the registers. */
    const frames: readonly (readonly [string, string, number, number])[] = narrow
      ? [
          ['sigreturn', '24021017', 24 + 8, 24 + 16],
          ['rt_sigreturn', '24021061', 176 + 8, 176 + 16],
        ]
      : [
          ['rt_sigreturn of n64', '2402145b', 192 + 576, 192],
          ['rt_sigreturn of n32', '24021843', 176 + 576, 176],
        ];
    /** Registers are saved as words of 64 bits. */
    const context = (pcAt: number, regsAt: number): Stack => {
      const upperHalf = narrow && !littleEndian ? 4 : 0;
      return {
        [upperHalf + pcAt]: BIAS + 0x1010,
        [upperHalf + regsAt + 8 * SP_NUMBER]: SP + 0x1000,
        [upperHalf + regsAt + 8 * RA]: BIAS + 0x1310,
        [upperHalf + regsAt]: 0,
        1024: 0,
      };
    };
    const expected = [...hex(0x1010), `!${(VDSO + 0x304).toString(16)}`, ...hex(0x1010), (BIAS + 0x1310).toString(16)];

    test.each(frames)('go on by the code of the vdso: %s', async (_call, li, pcAt, regsAt) => {
      const vdso = await madeModule(machine, [{ svma: 0x300, bytes: textOf(`00000000 ${li} 0000000c`, littleEndian) }], [], { littleEndian });
      const space = new MadeSpace().map(BIAS, BIAS + 0x10000, handler, BIAS).map(VDSO, VDSO + 0x1000, vdso, VDSO);
      expect(await unwind(space, { pc: BIAS + 0x1010, r31: VDSO + 0x304 }, context(pcAt, regsAt))).toMatchObject({ end: 'complete', frames: expected });
    });

    test.each(frames)('go on by what the kernel has saved if the vdso is not at hand: %s', async (_call, _li, pcAt, regsAt) => {
      const space = new MadeSpace().map(BIAS, BIAS + 0x10000, handler, BIAS).mapVdso(VDSO, VDSO + 0x1000);
      expect(await unwind(space, { pc: BIAS + 0x1010, r31: VDSO + 0x304 }, context(pcAt, regsAt))).toMatchObject({ end: 'complete', frames: expected });
      // In the system call, ra is where the handler has returned to.
      const inCall = await unwind(space, { pc: VDSO + 0x30c, r31: VDSO + 0x304 }, context(pcAt, regsAt));
      expect(inCall).toMatchObject({ end: 'complete', frames: [`!${(VDSO + 0x30c).toString(16)}`, ...expected.slice(2)] });
    });

    test('end in other functions of a vdso that is not at hand', async () => {
      const space = new MadeSpace().map(BIAS, BIAS + 0x10000, handler, BIAS).mapVdso(VDSO, VDSO + 0x1000);
      const result = await unwind(space, { pc: VDSO + 0x800, r31: VDSO + 0x304 }, context(frames[0][2], frames[0][3]));
      expect(result.frames).toEqual([`!${(VDSO + 0x800).toString(16)}`]);
    });
  });
});

test('Registers of 32-bit programs on a 64-bit kernel are sign-extended', async () => {
  const cie: PlannedCie = { returnAddress: RA, codeAlignment: 4, code: new CfaCode().defCfa(SP_NUMBER, 0) };
  const module = moduleOf('mips', [
    [
      cie,
      [
        { start: 0x1000, sizeBytes: 0x100, code: new CfaCode() },
        { start: 0x1300, sizeBytes: 0x100, code: new CfaCode().undefined(RA) },
      ],
    ],
  ]);
  const high = 0x8000_0000;
  const extended = (address: number): bigint => BigInt.asIntN(32, BigInt(address));
  const registers = { pc: extended(high + 0x1010), r29: extended(high + 0x9000), r31: extended(high + 0x1310) };
  const result = await unwound({ machine: 'mips', registers, stack: {} }, new MadeSpace().map(high, high + 0x8000, module, high));
  expect(result).toMatchObject({ end: 'complete', frames: ['!80001010', '80001310'] });
});

test('The first function of n32 programs is below arguments whose pointers have half the size of registers', async () => {
  // jalr t9; nop; nop, without the endless loop of glibc
  const module = await madeModule('mips64', [{ svma: 0x1000, bytes: textOf('0320f809 00000000 00000000') }]);
  const words = [1, SP + 0x100, 0, SP + 0x108, 0, 6, 0x1000, 0, 0];
  const stack = Object.fromEntries(Array.from({ length: 4 }, (_, i) => [16 + 8 * i, BigInt(words[2 * i]) | (BigInt(words[2 * i + 1]) << 32n)]));
  const space = new MadeSpace().map(BIAS, BIAS + 0x8000, module, BIAS);
  const { bytes } = assembleFrames(
    [[{ returnAddress: RA, augmentation: 'zR', code: new CfaCode().defCfa(SP_NUMBER, 0) }, [{ start: 0x2000, sizeBytes: 16, code: new CfaCode() }]]],
    { addr: 0x4000 },
  );
  const leaf = await madeModule(
    'mips64',
    [{ svma: 0x2000, bytes: textOf('00000000 00000000') }],
    [{ name: '.eh_frame', flags: 2, addr: 0x4000, content: bytes }],
  );
  space.map(BIAS + 0x10000, BIAS + 0x18000, leaf, BIAS + 0x10000);
  const result = await unwound({ machine: 'mips64', registers: { pc: BIAS + 0x12004, r29: SP, r31: BIAS + 0x1008 }, stack: { ...stack, 48: 0 } }, space);
  expect(result).toMatchObject({ end: 'complete', frames: hex(0x12004, 0x1008) });
});
