import { describe, expect, test } from 'vitest';
import { assembleFrames, type PlannedCie, type PlannedFde } from '../support/builders/unwind/frame-assembler.ts';
import { MadeSpace } from '../support/builders/unwind/made-process.ts';
import { madeModule, moduleOf, type UnwoundSample, unwound } from '../support/builders/unwind/unwound.ts';
import { code, fde } from '../support/builders/unwind/x86-64-functions.ts';

describe('i386 stacks', () => {
  const [EBP, ESP, EIP] = [5, 4, 8];
  const cie: PlannedCie = { returnAddress: EIP, dataAlignment: -4, code: code().defCfa(ESP, 4).offset(EIP, 1) };
  const functions = [fde(0x1000), fde(0x1100, code().defCfa(EBP, 8).offset(EBP, 2)), fde(0x1200, code().undefined(EIP))];
  const space = (): MadeSpace => new MadeSpace().map(0xf700_0000, 0xf701_0000, moduleOf('i386', [[cie, functions]]), 0xf700_0000);
  const mapped = space();

  test('are unwound in words of 4 bytes, up to the top of the address space', async () => {
    const registers = { ip: 0xf700_1010, sp: 0xffff_ff00, bp: 0xffff_fff0 };
    const stack = { 0: 0xf700_1110, 240: 0, 244: 0xf700_1210 };
    const result = await unwound({ machine: 'i386', registers, stack }, mapped);
    expect(result).toMatchObject({ end: 'complete', frames: ['!f7001010', 'f7001110', 'f7001210'] });
  });

  test.each<[string, number[], number]>([
    ['pop %eax; mov $119, %eax; int $0x80', [0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80], 0],
    ['mov $173, %eax; int $0x80', [0xb8, 0xad, 0, 0, 0, 0xcd, 0x80], 160],
  ])('lead on from right after the system call that returns from a signal handler, without a rule: %s', async (_name, bytes, at) => {
    const text = new Uint8Array(0x100);
    text.set(bytes);
    const withTrampoline = space().map(0xf600_0000, 0xf600_8000, await madeModule('i386', [{ svma: 0x1000, bytes: text }]), 0xf600_0000);
    const context = { [at + 24]: 0xffff_fff0, [at + 28]: 0xffff_ff00, [at + 56]: 0xf700_1010 };
    const sp = 0xffff_fb00;
    const result = await unwound(
      { machine: 'i386', registers: { ip: 0xf600_1000 + bytes.length, sp, bp: 0 }, stack: { ...context, [0xffff_ff00 - sp]: 0xf700_1210 } },
      withTrampoline,
    );
    expect(result).toMatchObject({ end: 'complete', frames: [`!${(0xf600_1000 + bytes.length).toString(16)}`, '!f7001010', 'f7001210'] });
  });

  describe('from leaves that push a register without saying so in their rules', () => {
    const [BIAS_32, DATA] = [0xf700_0000, 0x900_0000];
    const PUSHED: PlannedFde = fde(0x1000);
    const CALL = BIAS_32 + 0x1210;
    const unwind = async (
      leaf: readonly number[],
      stack: Readonly<Record<number, number>>,
      rule = PUSHED,
      options = {},
      pieces: Readonly<Record<number, readonly number[]>> = {},
    ): Promise<UnwoundSample> => {
      const text = new Uint8Array(0x300);
      for (const [at, bytes] of Object.entries(pieces)) text.set(bytes, Number(at));
      text.set(leaf, 0x10);
      for (const returnsTo of [0x10, 0x130, 0x210, 0x230]) text.set([0xff, 0xd0], returnsTo - 2);
      const content = assembleFrames([[cie, [rule, fde(0x1100), fde(0x1200, code().undefined(EIP))]]], { addr: 0x4000, addressSize: 4 }).bytes;
      const module = await madeModule('i386', [{ svma: 0x1000, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x4000, content }]);
      const made = new MadeSpace().map(BIAS_32, BIAS_32 + 0x10000, module, BIAS_32).mapData(DATA, DATA + 0x1000);
      return unwound({ machine: 'i386', registers: { ip: BIAS_32 + 0x1010, sp: 0xffff_ff00, bp: 0 }, stack }, made, options);
    };
    // pop %eax; ret
    const POPS = [0x58, 0xc3];

    test.each<[string, number]>([
      ['0', 0],
      ['a number', 7],
      ['an address of data', DATA + 8],
      ['an address in code that follows no call', BIAS_32 + 0x1220],
    ])('go on by what the code does: %s', async (_, pushed) => {
      expect(await unwind(POPS, { 0: pushed, 4: CALL })).toMatchObject({ end: 'complete', frames: ['!f7001010', 'f7001210'] });
    });

    test.each<[string, number]>([
      ['0', 0],
      ['an address of data', DATA + 8],
    ])('go on by what the code has done since the function’s entry, as before a jump table: %s', async (_, pushed) => {
      // push ebx; nop, at the function's entry; hlt
      expect(await unwind([0xf4], { 0: pushed, 4: CALL }, PUSHED, {}, { 0: [0x53, 0x90] })).toMatchObject({
        end: 'complete',
        frames: ['!f7001010', 'f7001210'],
      });
      expect(await unwind([0xf4], { 0: pushed, 4: CALL + 1 }, PUSHED, {}, { 0: [0x53, 0x90] })).toMatchObject({ frames: ['!f7001010'] });
    });

    test.each<[string, readonly number[], Readonly<Record<number, readonly number[]>>]>([
      ['does', POPS, {}],
      // push ebx; nop; and after the call hlt
      ['has done', [0xf4], { 256: [0x53, 0x90] }],
    ])('have callers that do so as well, which are left by what their code %s', async (_, after, before) => {
      const [leaf, caller] = [[0xc3], BIAS_32 + 0x1130];
      for (const pushed of [0, 7, DATA + 8]) {
        const result = await unwind(leaf, { 0: caller, 4: pushed, 8: CALL }, PUSHED, {}, { ...before, 304: after });
        expect(result).toMatchObject({ end: 'complete', frames: ['!f7001010', 'f7001130', 'f7001210'] });
      }
    });

    test('have callers whose code is followed beyond further calls, unless the rule leads to 0, which may be right', async () => {
      const caller = BIAS_32 + 0x1130;
      const pieces = { 304: [0xff, 0xd0, ...POPS] };
      for (const pushed of [7, DATA + 8, BIAS_32 + 0x1120]) {
        const result = await unwind([0xc3], { 0: caller, 4: pushed, 8: CALL }, PUSHED, {}, pieces);
        expect(result).toMatchObject({ end: 'complete', frames: ['!f7001010', 'f7001130', 'f7001210'] });
      }
      const result = await unwind([0xc3], { 0: caller, 4: 0, 8: CALL }, PUSHED, {}, pieces);
      expect(result).toMatchObject({ end: 'complete', frames: ['!f7001010', 'f7001130'] });
    });

    test('go on by what the code does if the rule leads to after a call of another function, and the code may not', async () => {
      // call of 0x1200, and of the leaf's function
      const pieces = { 331: [0xe8, 0xb0, 0, 0, 0], 587: [0xe8, 0xb0, 0xfd, 0xff, 0xff] };
      const [ofOther, own] = [BIAS_32 + 0x1150, BIAS_32 + 0x1250];
      for (const at of [own, CALL]) {
        const result = await unwind(POPS, { 0: ofOther, 4: at }, PUSHED, {}, pieces);
        expect(result).toMatchObject({ end: 'complete', frames: ['!f7001010', at.toString(16)] });
      }
      for (const at of [ofOther, 0]) {
        const result = await unwind(POPS, { 0: ofOther, 4: at, 8: CALL }, PUSHED, {}, pieces);
        expect(result.frames).toEqual(['!f7001010', 'f7001150', ...(at === 0 ? [] : ['f7001150', 'f7001210'])]);
      }
    });

    test('go on by what the code does if the rule leads to below the stack pointer', async () => {
      const rule = fde(0x1000, code().defCfaOffset(0));
      expect(await unwind(POPS, { 0: 7, 4: CALL }, rule)).toMatchObject({ end: 'complete', frames: ['!f7001010', 'f7001210'] });
    });

    test.each<[string, readonly number[], Readonly<Record<number, number>>, object]>([
      ['0, if the code tells nothing', [0xf4], { 0: 0, 4: CALL }, { end: 'complete', frames: ['!f7001010'] }],
      ['0, if the code leads to 0, too', POPS, { 0: 0, 4: 0 }, { end: 'complete', frames: ['!f7001010'] }],
      [
        'code that follows no call, if that of the leaf tells nothing',
        [0xf4],
        { 0: BIAS_32 + 0x1120, 4: CALL },
        { frames: ['!f7001010', 'f7001120', 'f7001210'] },
      ],
      ['an address after a call, whatever the code does', POPS, { 0: CALL, 4: BIAS_32 + 0x1230 }, { frames: ['!f7001010', 'f7001210'] }],
      // call *%eax; pop %eax; ret
      ['0, if the way to the return has a call', [0xff, 0xd0, ...POPS], { 0: 0, 4: CALL }, { end: 'complete', frames: ['!f7001010'] }],
    ])('lead to where the rule does: %s', async (_, leaf, stack, expected) => {
      expect(await unwind(leaf, stack)).toMatchObject(expected);
    });

    test('lead to where the rule does for libunwind', async () => {
      expect((await unwind(POPS, { 0: 7, 4: CALL }, PUSHED, { followsLibunwind: true })).frames).toEqual(['!f7001010']);
    });
  });

  test('ignore the upper halves of registers', async () => {
    const registers = { ip: 0xdead_0000_f700_1010n, sp: 0xdead_0000_ffff_ff00n, bp: 0 };
    const result = await unwound({ machine: 'i386', registers, stack: { 0: 0xf700_1210 } }, mapped);
    expect(result).toMatchObject({ end: 'complete', frames: ['!f7001010', 'f7001210'] });
  });
});
