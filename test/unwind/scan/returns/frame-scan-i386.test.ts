import { describe, expect, test } from 'vitest';
import { assembleFrames, CfaCode } from '../../../support/builders/unwind/frame-assembler.ts';
import { MadeSpace } from '../../../support/builders/unwind/made-process.ts';
import { madeModule, type UnwoundSample, unwound } from '../../../support/builders/unwind/unwound.ts';
import { BIAS, type Code, frames, SP, START, spaceOf, textOf } from '../../../support/readers/scanned-code.ts';

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
