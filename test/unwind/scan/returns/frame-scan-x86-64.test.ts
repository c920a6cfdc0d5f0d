import { describe, expect, test } from 'vitest';
import { madeModule, type UnwoundSample, unwound } from '../../../support/builders/unwind/unwound.ts';
import { BIAS, type Code, frames, SP, START, spaceOf, textOf } from '../../../support/readers/scanned-code.ts';

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
