import { describe, expect, test } from 'vitest';
import { assembleFrames, CfaCode, type PlannedCie, type PlannedFde } from '../support/builders/unwind/frame-assembler.ts';
import { MadeSpace } from '../support/builders/unwind/made-process.ts';
import { madeModule, moduleOf, unwound } from '../support/builders/unwind/unwound.ts';

const BIAS = 0x5500_f000_0000;
const SP = 0x7fff_f000_1000;

function code(littleEndian = true): CfaCode {
  return new CfaCode(littleEndian);
}

function fde(start: number, instructions = code()): PlannedFde {
  return { start, sizeBytes: 0x100, code: instructions };
}

function hex(...addresses: number[]): string[] {
  return addresses.map((at, i) => `${i ? '' : '!'}${(BIAS + at).toString(16)}`);
}

describe('arm64 stacks', () => {
  const [FP, LR, SP_NUMBER] = [29, 30, 31];
  const cie: PlannedCie = { returnAddress: LR, codeAlignment: 4, code: code().defCfa(SP_NUMBER, 0) };
  const saving = (): CfaCode => code().defCfaOffset(32).offset(FP, 4).offset(LR, 3);
  // A leaf, functions that save x29 and x30, with a signed return address and without, and a function without a caller.
  const functions = [fde(0x1000), fde(0x1100, saving()), fde(0x1200, saving().negateRaState()), fde(0x1300, code().undefined(LR))];
  const space = (...more: PlannedFde[]): MadeSpace => new MadeSpace().map(BIAS, BIAS + 0x10000, moduleOf('aarch64', [[cie, [...functions, ...more]]]), BIAS);
  const signed = (address: number): bigint => BigInt(address) | (0x12a5n << 48n);

  test('begin with the link register in leaves', async () => {
    const registers = { pc: BIAS + 0x1010, lr: BIAS + 0x1110, sp: SP };
    const result = await unwound({ machine: 'aarch64', registers, stack: { 0: 0, 8: BIAS + 0x1310 } }, space());
    expect(result).toEqual({ end: 'complete', frames: hex(0x1010, 0x1110, 0x1310), endAddress: BIAS + 0x1310, endFile: 0 });
  });

  test('have signed return addresses without their signatures', async () => {
    const registers = { pc: BIAS + 0x1210, lr: 0, sp: SP };
    const result = await unwound({ machine: 'aarch64', registers, stack: { 8: signed(BIAS + 0x1210), 40: signed(BIAS + 0x1310) } }, space());
    expect(result).toMatchObject({ end: 'complete', frames: hex(0x1210, 0x1210, 0x1310) });
  });

  test('lose signatures that no rule mentions', async () => {
    const result = await unwound({ machine: 'aarch64', registers: { pc: BIAS + 0x1110, lr: 0, sp: SP }, stack: { 8: signed(BIAS + 0x1310) } }, space());
    expect(result).toMatchObject({ end: 'complete', frames: hex(0x1110, 0x1310) });
  });

  test('may have a link register that is signed only later on', async () => {
    const late = fde(0x1400, code().advance(1).negateRaState().advance(1).defCfaOffset(16).offset(LR, 1));
    for (const [at, lr] of [
      [0x1400, BigInt(BIAS + 0x1310)],
      [0x1404, signed(BIAS + 0x1310)],
    ] as const) {
      expect(await unwound({ machine: 'aarch64', registers: { pc: BIAS + at, lr, sp: SP }, stack: {} }, space(late))).toMatchObject({
        end: 'complete',
        frames: hex(at, 0x1310),
      });
    }
  });

  test('go on above a return address that a rule puts above the CFA', async () => {
    // The PLT has pushed x16 and the link register, of which the rule says only where the latter is; then x8 and x9 were pushed.
    const resolver = fde(0x1400, code().defCfaOffset(48).offset(8, 6).offset(9, 5).offsetExtendedSf(LR, -1));
    const stack = { 0: 8, 8: 9, 48: 16, 56: BIAS + 0x1110, 64: 0, 72: BIAS + 0x1310 };
    const result = await unwound({ machine: 'aarch64', registers: { pc: BIAS + 0x1410, lr: 0, sp: SP }, stack }, space(resolver));
    expect(result).toMatchObject({ end: 'complete', frames: hex(0x1410, 0x1110, 0x1310) });
  });

  test('may have addresses of 52 bits if these are not signed', async () => {
    const high = 0x8_1234_0000_0000;
    const module = moduleOf('aarch64', [[cie, functions]]);
    const mapped = new MadeSpace().map(high, high + 0x10000, module, high).map(BIAS, BIAS + 0x10000, module, BIAS);
    const result = await unwound({ machine: 'aarch64', registers: { pc: BIAS + 0x1010, lr: high + 0x1310, sp: SP }, stack: {} }, mapped);
    expect(result).toMatchObject({ end: 'complete', endAddress: high + 0x1310 });
  });

  test('end if the link register leads to the same frame again', async () => {
    const result = await unwound({ machine: 'aarch64', registers: { pc: BIAS + 0x1010, lr: BIAS + 0x1010, sp: SP }, stack: {} }, space());
    expect(result.end).toBe('bad-frame');
    expect(result.frames.length).toBeLessThan(10);
  });

  test('go on from a signal’s frame, which has all registers, by the code of the vdso', async () => {
    // nop; mov x8, #139; svc #0. The rule that the kernel gives goes to the caller of what was interrupted.
    const text = Uint8Array.of(0x1f, 0x20, 0x03, 0xd5, 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4);
    const rule = { start: 0x300, sizeBytes: 12, code: code().defCfa(FP, 0).offset(FP, 0).offsetExtendedSf(LR, -1) };
    const { bytes } = assembleFrames([[{ ...cie, augmentation: 'zRS' }, [rule]]], { addr: 0x4000 });
    const vdso = await madeModule('aarch64', [{ svma: 0x300, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x4000, content: bytes }]);
    const mapped = space().map(0x7000_0000, 0x7000_1000, vdso, 0x7000_0000);
    const at = 128 + 176 + 8;
    const frame = { [at + 8 * 29]: 0, [at + 8 * 30]: BIAS + 0x1310, [at + 8 * 31]: SP + 0x1000, [at + 8 * 32]: BIAS + 0x1010 };
    const result = await unwound({ machine: 'aarch64', registers: { pc: BIAS + 0x1010, lr: 0x7000_0304, sp: SP }, stack: frame }, mapped);
    expect(result).toMatchObject({
      end: 'complete',
      frames: [`!${(BIAS + 0x1010).toString(16)}`, '!70000304', `!${(BIAS + 0x1010).toString(16)}`, (BIAS + 0x1310).toString(16)],
    });
  });
});

describe('RISC-V stacks', () => {
  const cie: PlannedCie = { version: 3, returnAddress: 1, code: code().defCfa(2, 0) };
  const functions = [fde(0x1000), fde(0x1100, code().defCfaOffset(16).offset(1, 1).offset(8, 2)), fde(0x1300, code().undefined(1))];
  // A helper that saves registers for others is called with the return address in t0.
  const helper: PlannedCie = { ...cie, returnAddress: 5 };
  const module = moduleOf('riscv64', [
    [cie, functions],
    [helper, [fde(0x1500)]],
  ]);
  const space = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);

  test('begin with ra in leaves', async () => {
    const result = await unwound({ machine: 'riscv64', registers: { pc: BIAS + 0x1010, ra: BIAS + 0x1110, sp: SP }, stack: { 0: 0, 8: BIAS + 0x1310 } }, space);
    expect(result).toMatchObject({ end: 'complete', frames: hex(0x1010, 0x1110, 0x1310) });
  });

  test('have return addresses in the register that the CIE says', async () => {
    const registers = { pc: BIAS + 0x1510, t0: BIAS + 0x1010, ra: BIAS + 0x1310, sp: SP };
    expect(await unwound({ machine: 'riscv64', registers, stack: {} }, space)).toMatchObject({ end: 'complete', frames: hex(0x1510, 0x1010, 0x1310) });
  });

  describe('in a function that saves registers for its caller', () => {
    // jal t0, 0x320, or auipc t0, 0; jalr t0, 0x20(t0). jalr a2; j 0x330
    const calls = { jal: 'ef020002 0296 6f00a002', far: '97020000 e7820202 0296 6f006002' };
    // addi sp, sp, -32; li t1, 1; sd ra, 24(sp); slli t1, t1, 4; add sp, sp, t1; jr t0. At 0x330: ld ra, 8(sp); addi sp, sp, 16; ret
    const helpers = '0111 0543 06ec 1203 1a91 8282 00000000 a260 4101 8280';

    const spaceOf = async (call: string, rule?: CfaCode): Promise<MadeSpace> => {
      const bytes = new Uint8Array(64);
      bytes.set(Buffer.from(call.replaceAll(' ', ''), 'hex'));
      bytes.set(Buffer.from(helpers.replaceAll(' ', ''), 'hex'), 32);
      const { bytes: frames } = assembleFrames([[{ ...helper, augmentation: 'zR' }, rule === undefined ? [] : [{ start: 0x320, sizeBytes: 16, code: rule }]]], {
        addr: 0x4000,
      });
      const text = await madeModule('riscv64', [{ svma: 0x300, bytes }], [{ name: '.eh_frame', flags: 2, addr: 0x4000, content: frames }]);
      return new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS).map(0x7000_0000, 0x7000_1000, text, 0x7000_0000);
    };

    test.each([
      [0x320, 0],
      [0x322, 32],
      [0x324, 32],
      [0x326, 32],
      [0x328, 32],
      [0x32a, 16],
    ])('go on with the caller as it was at the call, at %i', async (at, size) => {
      for (const rule of [undefined, code().defCfaOffset(32)]) {
        for (const [call, t0] of [
          [calls.jal, 0x7000_0304],
          [calls.far, 0x7000_0308],
        ] as const) {
          const registers = { pc: 0x7000_0000 + at, t0, ra: BIAS + 0x1110, sp: SP - size, t1: 16 };
          const result = await unwound({ machine: 'riscv64', registers, stack: { [size + 8]: BIAS + 0x1310 } }, await spaceOf(call, rule));
          const frames = [`!${(0x7000_0000 + at).toString(16)}`, t0.toString(16), (BIAS + 0x1110).toString(16), (BIAS + 0x1310).toString(16)];
          expect(result).toMatchObject({ end: 'complete', frames });
        }
      }
    });
  });

  test('leave callers by their code if a rule says that the return address is still in ra', async () => {
    // jalr a2; mv t1, a0; ld ra, 72(sp); addi sp, sp, 144; jr t1
    const text = Uint8Array.of(0x02, 0x96, 0x2a, 0x83, 0xa6, 0x60, 0x49, 0x61, 0x02, 0x83);
    const { bytes } = assembleFrames([[{ ...cie, augmentation: 'zR' }, [{ start: 0x300, sizeBytes: text.length, code: code() }]]], { addr: 0x4000 });
    const resolver = await madeModule('riscv64', [{ svma: 0x300, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x4000, content: bytes }]);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS).map(0x7000_0000, 0x7000_1000, resolver, 0x7000_0000);
    const registers = { pc: BIAS + 0x1010, ra: 0x7000_0302, sp: SP };
    const result = await unwound({ machine: 'riscv64', registers, stack: { 72: BIAS + 0x1110, 152: BIAS + 0x1310 } }, mapped);
    expect(result).toMatchObject({ end: 'complete', frames: [...hex(0x1010), '70000302', ...hex(0, 0x1110, 0x1310).slice(1)] });
    expect(await unwound({ machine: 'riscv64', registers, stack: { 0: 0 } }, mapped)).toMatchObject({ end: 'truncated', frames: [...hex(0x1010), '70000302'] });
  });

  test('go on from a signal’s frame by the code of the vdso', async () => {
    const vdso = await madeModule('riscv64', [{ svma: 0x300, bytes: Uint8Array.of(0x13, 0, 0, 0, 0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0) }]);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS).map(0x7000_0000, 0x7000_1000, vdso, 0x7000_0000);
    const at = 128 + 176;
    const frame = { [at]: BIAS + 0x1010, [at + 8]: BIAS + 0x1310, [at + 16]: SP + 0x1000, [at + 8 * 31]: 0 };
    const result = await unwound({ machine: 'riscv64', registers: { pc: BIAS + 0x1010, ra: 0x7000_0304, sp: SP }, stack: frame }, mapped);
    expect(result).toMatchObject({ end: 'complete', frames: [...hex(0x1010), '!70000304', ...hex(0x1010), (BIAS + 0x1310).toString(16)] });
  });
});

describe('s390x stacks', () => {
  const cie: PlannedCie = { returnAddress: 14, code: code(false).defCfa(15, 160) };
  const functions = [
    fde(0x1000, code(false)),
    // stmg %r14,%r15,112(%r15); aghi %r15,-160
    fde(0x1100, code(false).offset(14, 6).offset(15, 5).defCfaOffset(320)),
    // r14 and r15 in f0 and f2
    fde(0x1200, code(false).register(14, 16).register(15, 17)),
    fde(0x1300, code(false).undefined(14)),
    // A frame that is found by r11
    fde(0x1500, code(false).defCfa(11, 352).offset(14, 6).offset(15, 5)),
  ];
  const module = moduleOf('s390x', [[cie, functions]], false);
  const space = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);

  test('have the CFA above the caller’s stack pointer, in the other byte order', async () => {
    const registers = { pc: BIAS + 0x1010, r14: BIAS + 0x1110, r15: SP };
    const stack = { [160 + 112]: BIAS + 0x1310, [160 + 120]: SP + 160 };
    const result = await unwound({ machine: 's390x', registers, stack, littleEndian: false }, space);
    expect(result).toMatchObject({ end: 'complete', frames: hex(0x1010, 0x1110, 0x1310) });
  });

  test('may have registers saved in floating-point registers', async () => {
    const registers = { pc: BIAS + 0x1210, f0: BIAS + 0x1310, f2: SP + 400, r14: 1, r15: SP };
    expect(await unwound({ machine: 's390x', registers, stack: {}, littleEndian: false }, space)).toMatchObject({
      end: 'complete',
      frames: hex(0x1210, 0x1310),
    });
  });

  describe('without rules', () => {
    // stmg %r6,%r15,48(%r15); lay %r15,-200(%r15); basr %r14,%r1; lg %r4,312(%r15); lmg %r6,%r15,248(%r15); br %r4
    const saving = 'eb6ff0300024 e3f0ff38ff71 0de1 e340f1380004 eb6ff0f80004 07f4';
    // ldgr %f2,%r11; lgr %r11,%r15; lgdr %r11,%f2; br %r14
    const leaf = 'b3c1002b b90400bf b3cd00b2 07fe';
    // stmg %r14,%r15,112(%r15); aghi %r15,-160; brasl %r14,…; j .+2
    const endless = 'ebeff0700024 a7fbff60 c0e5ffffffe6 a7f40001';
    const bytes = Uint8Array.from([saving, leaf, endless].join('').match(/[^ ]{2}/g) ?? [], (byte) => Number.parseInt(byte, 16));
    const spaceOf = async (): Promise<MadeSpace> =>
      new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS).map(0x7000_0000, 0x7000_1000, await madeModule('s390x', [{ svma: 0x300, bytes }]), 0x7000_0000);
    const CALLER_SP = SP + 0x400;
    /** What the function has saved, from its caller's stack pointer on. */
    const SAVED = { 48: 6, 112: BIAS + 0x1110, 120: CALLER_SP };
    const CALLERS = { [160 + 112]: BIAS + 0x1310, [160 + 120]: CALLER_SP + 160 };

    test.each<[string, number, number, Readonly<Record<string, number>>, Readonly<Record<number, number>>]>([
      ['at the beginning', 0x300, 0, { r14: BIAS + 0x1110 }, {}],
      ['once registers are saved', 0x306, 0, { r14: BIAS + 0x1110 }, SAVED],
      ['with a frame', 0x30c, 200, { r14: BIAS + 0x1110 }, SAVED],
      ['after a call', 0x30e, 200, { r14: 0x7000_030e }, SAVED],
      ['once the return address is restored', 0x314, 200, { r14: 0x7000_030e, r4: BIAS + 0x1110 }, SAVED],
      ['once the frame is gone', 0x31a, 0, { r14: BIAS + 0x1110, r4: BIAS + 0x1110 }, SAVED],
    ])('are left by what their code does: %s', async (_, at, size, registers, saved) => {
      const stack = Object.fromEntries(Object.entries({ ...saved, ...CALLERS }).map(([place, value]) => [Number(place) + size, value]));
      const sample = { machine: 's390x' as const, registers: { pc: 0x7000_0000 + at, r15: CALLER_SP - size, ...registers }, stack, littleEndian: false };
      const frames = [`!${(0x7000_0000 + at).toString(16)}`, ...[0x1110, 0x1310].map((svma) => (BIAS + svma).toString(16))];
      expect(await unwound(sample, await spaceOf())).toMatchObject({ end: 'complete', frames });
    });

    // stmg %r6,%r15,80(%r15); lay %r15,-112(%r15); lgr %r11,%r15; basr %r14,%r1; lmg %r6,%r15,192(%r15) or (%r11); br %r14
    test.each(['f', 'b'])('are left by what their code does if it saves the stack pointer elsewhere: with -mpacked-stack, by r%s', async (base) => {
      const bytes = Uint8Array.from(Buffer.from(`eb6ff0500024e3f0ff90ff71b90400bf0de1eb6f${base}0c0000407fe`, 'hex'));
      const packed = new MadeSpace()
        .map(BIAS, BIAS + 0x10000, module, BIAS)
        .map(0x7000_0000, 0x7000_1000, await madeModule('s390x', [{ svma: 0x300, bytes }]), 0x7000_0000);
      const sp = CALLER_SP - 112;
      const saved = { 8: BIAS + 0x1110, 9: CALLER_SP, 24: BIAS + 0x1310, 25: CALLER_SP + 160 };
      const stack = Object.fromEntries(Object.entries(saved).map(([word, value]) => [192 + 8 * Number(word), value]));
      const registers = { pc: 0x7000_0312, r11: sp, r14: 0x7000_0312, r15: sp };
      expect(await unwound({ machine: 's390x', registers, stack, littleEndian: false }, packed)).toMatchObject({
        end: 'complete',
        frames: ['!70000312', ...[0x1110, 0x1310].map((svma) => (BIAS + svma).toString(16))],
      });
    });

    test.each<[string, number, Readonly<Record<string, number>>]>([
      ['the link register is saved', 0x7000_0330, { r14: 0x7000_030e, r15: CALLER_SP }],
      ['there is a frame', 0x7000_0334, { r14: 0x7000_030e, r15: CALLER_SP - 160 }],
      ['another function was called', BIAS + 0x1010, { r14: 0x7000_033a, r15: CALLER_SP - 160 }],
    ])('are left by where they have saved registers if they never return: once %s', async (_, pc, registers) => {
      const saved = { 112: 0x7000_030e, 120: CALLER_SP, [200 + 112]: BIAS + 0x1310, [200 + 120]: CALLER_SP + 200 };
      const stack = Object.fromEntries(Object.entries(saved).map(([place, value]) => [Number(place) + CALLER_SP - registers.r15, value]));
      const called = pc === 0x7000_0330 || pc === 0x7000_0334 ? [] : ['7000033a'];
      const frames = [`!${pc.toString(16)}`, ...called, '7000030e', (BIAS + 0x1310).toString(16)];
      expect(await unwound({ machine: 's390x', registers: { pc, ...registers }, stack, littleEndian: false }, await spaceOf())).toMatchObject({
        end: 'complete',
        frames,
      });
    });

    test('restore registers from floating-point registers', async () => {
      const registers = { pc: 0x7000_0324, r11: 1, f2: CALLER_SP - 32, r14: BIAS + 0x1510, r15: CALLER_SP };
      const sample = { machine: 's390x' as const, registers, stack: CALLERS, littleEndian: false };
      const frames = ['!70000324', ...[0x1510, 0x1310].map((svma) => (BIAS + svma).toString(16))];
      expect(await unwound(sample, await spaceOf())).toMatchObject({ end: 'complete', frames });
    });
  });

  test('do not take what the last call left in r14 for the caller of a function without rules', async () => {
    // brasl %r14, …; lhi %r1, 1; nopr; j to itself; and a leaf: lgr %r2, %r2; br %r14
    const calling = [0xc0, 0xe5, 0, 0, 0, 0x10, 0xa7, 0x18, 0, 1, 0x07, 0, 0xa7, 0xf4, 0, 0];
    const text = await madeModule('s390x', [{ svma: 0x300, bytes: Uint8Array.of(...calling, 0xb9, 0x04, 0, 0x22, 0x07, 0xfe) }]);
    const mapped = new MadeSpace().map(0x7000_0000, 0x7000_1000, text, 0x7000_0000);
    for (const [at, frames] of [
      [0x30a, ['!7000030a']],
      [0x310, ['!70000310', '70000306']],
    ] as const) {
      const registers = { pc: 0x7000_0000 + at, r14: 0x7000_0306, r15: SP };
      expect(await unwound({ machine: 's390x', registers, stack: {}, littleEndian: false }, mapped)).toMatchObject({ end: 'no-rule', frames });
    }
  });

  test.each([
    ['with siginfo', 173, 160 + 8 + 128 + 40],
    ['without siginfo', 119, 160 + 16],
  ])('go on from a signal’s frame %s by the code of the vdso', async (_, systemCall, at) => {
    const vdso = await madeModule('s390x', [{ svma: 0x300, bytes: Uint8Array.of(0x07, 0x07, 0x0a, systemCall) }]);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS).map(0x7000_0000, 0x7000_1000, vdso, 0x7000_0000);
    const frame = { [at + 8]: BIAS + 0x1010, [at + 16 + 8 * 14]: BIAS + 0x1310, [at + 16 + 8 * 15]: SP + 0x1000 };
    const registers = { pc: BIAS + 0x1010, r14: 0x7000_0302, r15: SP };
    const result = await unwound({ machine: 's390x', registers, stack: frame, littleEndian: false }, mapped);
    expect(result).toMatchObject({ end: 'complete', frames: [...hex(0x1010), '!70000302', ...hex(0x1010), (BIAS + 0x1310).toString(16)] });
    // The interrupted code has its return address and stack pointer in f0 and f2.
    const floating = { [at + 8]: BIAS + 0x1210, [at + 16 + 8 * 15]: SP + 0x1000, [at + 216]: BIAS + 0x1310, [at + 216 + 16]: SP + 0x1000 };
    const byFloating = await unwound({ machine: 's390x', registers, stack: floating, littleEndian: false }, mapped);
    expect(byFloating).toMatchObject({ end: 'complete', frames: [...hex(0x1010), '!70000302', ...hex(0x1210), (BIAS + 0x1310).toString(16)] });
  });
});

describe('LoongArch stacks', () => {
  const [FP, SP_NUMBER] = [22, 3];
  const cie: PlannedCie = { returnAddress: 1, code: code().defCfa(SP_NUMBER, 0) };
  const functions = [fde(0x1000), fde(0x1100, code().defCfaOffset(16).offset(1, 1).offset(FP, 2)), fde(0x1300, code().undefined(1))];
  const module = moduleOf('loongarch64', [[cie, functions]]);
  const space = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);

  test('begin with ra in leaves', async () => {
    const registers = { pc: BIAS + 0x1010, r1: BIAS + 0x1110, r3: SP };
    const result = await unwound({ machine: 'loongarch64', registers, stack: { 0: 0, 8: BIAS + 0x1310 } }, space);
    expect(result).toMatchObject({ end: 'complete', frames: hex(0x1010, 0x1110, 0x1310) });
  });

  // pcaddu12i $t3, 0; ld.d $t3, $t3, 0; jirl $t1, $t3, 0; and a call that returns to 0x310.
  const stub = Uint8Array.of(0x0f, 0, 0, 0x1c, 0xef, 0x01, 0xc0, 0x28, 0xed, 0x01, 0, 0x4c, 0, 0, 0, 0x54);

  test.each([0x300, 0x304, 0x308])('begin with ra in PLT stubs, at %s', async (pc) => {
    const text = await madeModule('loongarch64', [{ svma: 0x300, bytes: stub }]);
    const mapped = new MadeSpace().map(0x7000_0000, 0x7000_1000, text, 0x7000_0000);
    const registers = { pc: 0x7000_0000 + pc, r1: 0x7000_0310, r3: SP, r22: SP + 32 };
    const result = await unwound({ machine: 'loongarch64', registers, stack: { 16: 0, 24: 0 } }, mapped);
    expect(result).toMatchObject({ end: 'complete', frames: [`!${(0x7000_0000 + pc).toString(16)}`, '70000310'] });
  });

  test('go on by frame pointers in code without rules', async () => {
    const text = await madeModule('loongarch64', [{ svma: 0x300, bytes: stub }]);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS).map(0x7000_0000, 0x7000_1000, text, 0x7000_0000);
    const registers = { pc: BIAS + 0x1010, r1: 0x7000_0310, r3: SP, r22: SP + 32 };
    const result = await unwound({ machine: 'loongarch64', registers, stack: { 16: 0, 24: BIAS + 0x1310 } }, mapped);
    expect(result).toMatchObject({ end: 'complete', frames: [...hex(0x1010), '70000310', (BIAS + 0x1310).toString(16)] });
  });

  test('leave callers by their code if a rule says that the return address is still in ra', async () => {
    // bl; ld.d $ra, $sp, 72; addi.d $sp, $sp, 144; jr $t0
    const text = Uint8Array.of(0, 0x04, 0, 0x54, 0x61, 0x20, 0xc1, 0x28, 0x63, 0x40, 0xc2, 0x02, 0x80, 0x01, 0, 0x4c);
    const { bytes } = assembleFrames([[{ ...cie, augmentation: 'zR' }, [{ start: 0x300, sizeBytes: text.length, code: code() }]]], { addr: 0x4000 });
    const resolver = await madeModule('loongarch64', [{ svma: 0x300, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x4000, content: bytes }]);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS).map(0x7000_0000, 0x7000_1000, resolver, 0x7000_0000);
    const registers = { pc: BIAS + 0x1010, r1: 0x7000_0304, r3: SP };
    const result = await unwound({ machine: 'loongarch64', registers, stack: { 72: BIAS + 0x1110, 152: BIAS + 0x1310 } }, mapped);
    expect(result).toMatchObject({ end: 'complete', frames: [...hex(0x1010), '70000304', ...hex(0, 0x1110, 0x1310).slice(1)] });
  });

  test('go on from a signal’s frame by the code of the vdso', async () => {
    // nop; li.w $a7, 139; syscall 0
    const text = Uint8Array.of(0, 0, 0x40, 0x03, 0x0b, 0x2c, 0x82, 0x03, 0, 0, 0x2b, 0);
    const vdso = await madeModule('loongarch64', [{ svma: 0x300, bytes: text }]);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS).map(0x7000_0000, 0x7000_1000, vdso, 0x7000_0000);
    const at = 128 + 176;
    const frame = { [at]: BIAS + 0x1010, [at + 16]: BIAS + 0x1310, [at + 8 + 8 * 3]: SP + 0x1000, [at + 8 + 8 * 31]: 0 };
    const result = await unwound({ machine: 'loongarch64', registers: { pc: BIAS + 0x1010, r1: 0x7000_0304, r3: SP }, stack: frame }, mapped);
    expect(result).toMatchObject({ end: 'complete', frames: [...hex(0x1010), '!70000304', ...hex(0x1010), (BIAS + 0x1310).toString(16)] });
  });
});
