import { describe, expect, test } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { CodeEffort } from '../../../src/unwind/modules/code-effort.ts';
import { UnwindModule } from '../../../src/unwind/modules/unwind-module.ts';
import { BIAS, callTo, frames, made, SP, START, space } from '../../support/builders/unwind/code-without-rules.ts';
import { assembleFrames } from '../../support/builders/unwind/frame-assembler.ts';
import { type MadeSample, MadeSpace } from '../../support/builders/unwind/made-process.ts';
import { madeModule, type UnwoundSample, unwound } from '../../support/builders/unwind/unwound.ts';
import { CIE, code, fde, RIP } from '../../support/builders/unwind/x86-64-functions.ts';

describe('x86-64 code without rules', () => {
  // 0x1400 and 0x1500 come after calls through registers.
  const CALLS = { 5118: [0xff, 0xd0], 5373: [0x41, 0xff, 0xd2], 5625: [0xff, 0x94, 0x24, 0, 1, 0, 0] };
  const unwind = async (
    registers: Readonly<Record<string, number>>,
    stack: Readonly<Record<number, number>>,
    pieces: Readonly<Record<number, readonly number[]>> = {},
  ): Promise<UnwoundSample> => unwound({ machine: 'x86_64', registers: { sp: SP, ...registers }, stack }, await space('x86_64', { ...CALLS, ...pieces }));

  test('is unwound by frame pointers up to one of 0', async () => {
    const stack = { 32: SP + 0x40, 40: BIAS + 0x1400, 64: SP + 0x60, 72: BIAS + 0x1500, 96: 0, 104: BIAS + 0x1600 };
    expect(await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, stack)).toMatchObject({ end: 'complete', frames: frames(0x1010, 0x1400, 0x1500, 0x1600) });
  });

  test('ends if the register of the frame pointer holds something else', async () => {
    for (const bp of [SP + 0x21, SP - 8, 7, SP + 2 ** 32]) {
      expect(await unwind({ ip: BIAS + 0x1010, bp }, { 32: SP + 0x40, 40: BIAS + 0x1400 })).toMatchObject({ end: 'no-rule', frames: frames(0x1010) });
    }
    // Frame pointers are multiples of words, whatever is where they point.
    expect(await unwind({ ip: BIAS + 0x1010, bp: SP + 36 }, { 36: SP + 0x44, 44: BIAS + 0x1400, 68: 0 })).toMatchObject({
      end: 'no-rule',
      frames: frames(0x1010),
    });
  });

  test('ends if there is no return address above the frame pointer', async () => {
    for (const address of [BIAS + 0x1401, BIAS + 0x20000, 5]) {
      expect(await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, { 32: 0, 40: address })).toMatchObject({ end: 'no-rule', frames: frames(0x1010) });
    }
  });

  test('is complete at a return address of 0 only if the frame pointer beside it is 0, too', async () => {
    const stack = { 32: SP + 0x40, 40: BIAS + 0x1400, 72: 0 };
    const found = frames(0x1010, 0x1400);
    expect(await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, { ...stack, 64: 0 })).toMatchObject({ end: 'complete', frames: found });
    for (const saved of [5, SP + 0x60]) {
      expect(await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, { ...stack, 64: saved })).toMatchObject({ end: 'no-rule', frames: found });
    }
  });

  test('is unwound by its own direct calls if the frame pointer is 0, as at the start of a program that keeps none', async () => {
    const calls = { ...callTo(0x1000, 0x1700), ...callTo(0x1690, 0x1800), ...callTo(0x1790, 0x1900), ...callTo(0x1f00, 0x1a00) };
    const stack = { 0: BIAS + 0x1700, 8: 5, 16: BIAS + 0x1800, 24: BIAS + 0x1900, 32: 1, 40: BIAS + 0x1a00 };
    const result = await unwind({ ip: BIAS + 0x1010, bp: 0 }, stack, calls);
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1010, 0x1700, 0x1800, 0x1900) });
    // A chain of frame pointers that ends in 0 is at its end, whatever is left over above.
    const ended = await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, { 32: 0, 40: BIAS + 0x1700, 56: BIAS + 0x1800 }, calls);
    expect(ended).toMatchObject({ end: 'complete', frames: frames(0x1010, 0x1700) });
  });

  test('is complete at the function to which Go has goroutines return, although it made no call', async () => {
    const stack = { 32: 0, 40: BIAS + 0x1801 };
    const result = await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, stack, { 6144: [0x90, 0xe8] });
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1010, 0x1801) });
    // Another frame is below, or another instruction before.
    expect((await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, { ...stack, 32: SP + 0x40 }, { 6144: [0x90, 0xe8] })).end).toBe('no-rule');
    expect((await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, stack, { 6144: [0x91, 0xe8] })).end).toBe('no-rule');
  });

  test('may have saved the frame pointer without having set it yet', async () => {
    const stack = { 0: SP + 0x20, 8: BIAS + 0x1400, 32: 0, 40: BIAS + 0x1500 };
    expect(await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, stack)).toMatchObject({ end: 'complete', frames: frames(0x1010, 0x1400, 0x1500) });
  });

  test('has the return address above what was pushed if a direct call confirms it', async () => {
    const stack = { 0: 7, 8: BIAS + 0x1400, 16: BIAS + 0x1700, 32: 0, 40: BIAS + 0x1500 };
    expect(await unwind({ ip: BIAS + 0x1010, bp: 3 }, stack, callTo(0x1000, 0x1700))).toMatchObject({ frames: frames(0x1010, 0x1700) });
    expect(await unwind({ ip: BIAS + 0x1010, bp: 3 }, stack, callTo(0x1020, 0x1700))).toMatchObject({ end: 'no-rule', frames: frames(0x1010) });
  });

  test('is cut off if the dump ends before the words that are searched do, unless it has fewer', async () => {
    const unwindDump = (words: number): Promise<UnwoundSample> => unwind({ ip: BIAS + 0x1010, bp: 3 }, { 0: 7, [8 * (words - 1)]: 7 });
    expect(await unwindDump(16)).toMatchObject({ end: 'truncated', endStackOffset: 136, frames: frames(0x1010) });
    for (const words of [15, 17]) expect(await unwindDump(words)).toMatchObject({ end: 'no-rule', frames: frames(0x1010) });
  });

  test('of a signal handler returns to the trampoline, which comes after no call', async () => {
    const trampoline = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
    const context = { [0x30 + 120]: 0, [0x30 + 160]: SP + 0x200, [0x30 + 168]: BIAS + 0x1010, 512: 0 };
    const stack = { 32: SP + 0x40, 40: BIAS + 0x1800, ...context, 512: BIAS + 0x1400 };
    const result = await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, stack, { 6144: trampoline });
    expect(result.frames.slice(0, 3)).toEqual([0x1010, 0x1800, 0x1010].flatMap((at) => frames(at)));
  });

  test('ends in the trampoline of a signal handler if the dump does not have what was interrupted, whatever code comes next', async () => {
    // mov $15, %rax; syscall; ret
    const trampoline = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05, 0xc3];
    const stack = { 32: 5, 40: BIAS + 0x1800, 48: BIAS + 0x1400 };
    const result = await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, stack, { 6144: trampoline });
    expect(result).toMatchObject({ end: 'truncated', endStackOffset: 0x30 + 168 + 8, frames: frames(0x1010, 0x1800) });
  });

  test('ends if the frame pointer is beyond the dump', async () => {
    expect(await unwind({ ip: BIAS + 0x1010, bp: SP + 0x100 }, { 32: 0 })).toMatchObject({ end: 'truncated', endStackOffset: 0x110, frames: frames(0x1010) });
  });

  test('ends if the frame is larger than the dump, and tells how large a dump would have to be', async () => {
    // add rsp, 0x11000; ret
    const code = [0x48, 0x81, 0xc4, 0x00, 0x10, 0x01, 0x00, 0xc3];
    const result = await unwind({ ip: BIAS + 0x1010, bp: 3 }, { 32: 0 }, { 4112: code });
    expect(result).toMatchObject({ end: 'truncated', endStackOffset: 0x11008, frames: frames(0x1010) });
  });

  test('ends if frame pointers go round in circles', async () => {
    const stack = { 32: SP + 0x20, 40: BIAS + 0x1400 };
    const { end, frames: found } = await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, stack);
    expect([end, found.length < 4]).toEqual(['no-rule', true]);
  });

  test('has the return address on top of the stack in functions without a frame', async () => {
    const stack = { 0: BIAS + 0x1400, 32: 0, 40: BIAS + 0x1500 };
    // The caller has a frame, which the leaf has left alone.
    expect(await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, stack)).toMatchObject({ end: 'complete', frames: frames(0x1010, 0x1400, 0x1500) });
  });

  test('has its return address on top of the stack or above the frame pointer, as direct calls tell', async () => {
    // Left over on top: a return address after a call of another function. Above the frame pointer: one after a call of this one.
    const calls = { ...callTo(0x1800, 0x1700), ...callTo(0x1000, 0x1720) };
    const stack = { 0: BIAS + 0x1700, 32: 0, 40: BIAS + 0x1720 };
    expect(await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, stack, calls)).toMatchObject({ frames: frames(0x1010, 0x1720) });
    // The other way round.
    const other = { ...callTo(0x1000, 0x1700), ...callTo(0x1800, 0x1720) };
    expect(await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, stack, other)).toMatchObject({ frames: frames(0x1010, 0x1700, 0x1720) });
  });

  test.each<[string, number, number[], number]>([
    ['before push %rbp', 0x1010, [0x55, 0x48, 0x89, 0xe5], 0],
    ['before push %rbp, after endbr64', 0x1010, [0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5], 0],
    ['between push %rbp and mov %rsp, %rbp', 0x1011, [0x55, 0x48, 0x89, 0xe5], 8],
    ['between push %rbp and mov %rsp, %rbp of the other kind', 0x1011, [0x55, 0x48, 0x8b, 0xec], 8],
    ['at pop %rbp', 0x1010, [0x5d, 0xc3], 8],
    ['at ret', 0x1010, [0xc3], 0],
    ['at ret with a size', 0x1010, [0xc2, 8, 0], 0],
    ['at rep ret', 0x1010, [0xf3, 0xc3], 0],
  ])('is unwound at the start and the end of functions: %s', async (_name, ip, bytes, at) => {
    // All of these places have what looks like a return address; the frame pointer is the caller's, or saved below.
    const stack = { 0: BIAS + 0x1600, 8: BIAS + 0x1600, 32: 0, 40: BIAS + 0x1500, [at]: BIAS + 0x1400, ...(at === 8 ? { 0: SP + 0x20 } : {}) };
    const bp = at === 8 && ip === 0x1010 ? 0x1234 : SP + 0x20;
    expect(await unwind({ ip: BIAS + ip, bp }, stack, { 4112: bytes })).toMatchObject({ end: 'complete', frames: frames(ip, 0x1400, 0x1500) });
  });

  test('is unwound at leave by the frame pointer', async () => {
    const stack = { 0: BIAS + 0x1600, 32: 0, 40: BIAS + 0x1500 };
    expect(await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, stack, { 4112: [0xc9, 0xc3] })).toMatchObject({
      end: 'complete',
      frames: frames(0x1010, 0x1500),
    });
  });

  test.each<[string, number, Readonly<Record<number, number>>, string[]]>([
    ['from where it is saved', SP + 0x80, { 120: BIAS + 0x1400 }, frames(0x1010, 0x1400, 0x1500)],
    ['unless the return address is not there', SP + 0x80, { 120: BIAS + 0x1401 }, frames(0x1010, 0x1400)],
    ['unless it is below the frame', SP + 0x28, { 32: BIAS + 0x1400, 40: BIAS + 0x1500 }, frames(0x1010, 0x1400)],
    [
      'unless the next caller, in a recursion, is below it',
      SP + 0x80,
      { 64: SP + 0x70, 80: BIAS + 0x1500, 112: 0, 120: BIAS + 0x1400, 128: 0 },
      frames(0x1010, 0x1400, 0x1500, 0x1400),
    ],
  ])('takes the stack pointer of the caller %s, if the stack was realigned', async (_, sp, changes, expected) => {
    const stack = { 40: 7, 48: sp, 64: 0, 72: BIAS + 0x1400, 128: BIAS + 0x1500, 136: 0, ...changes };
    expect(await unwind({ ip: BIAS + 0x1010, bp: SP + 0x40 }, stack, { 4112: [0xf4], 5120: [0xc3], 5376: [0xf4] })).toMatchObject({
      end: 'complete',
      frames: expected,
    });
  });

  // mov 16(%rsp), %r11; mov 24(%rsp), %rbx; add %r11, %rsp; ret
  const ADDS_DISTANCE = [0x4c, 0x8b, 0x5c, 0x24, 0x10, 0x48, 0x8b, 0x5c, 0x24, 0x18, 0x4c, 0x01, 0xdc, 0xc3];
  test.each<[string, number, object]>([
    ['is left by the distance that it adds to the stack pointer if it has aligned that', 0x48, { frames: frames(0x1010, 0x1400, 0x1500) }],
    ['is not left by a distance that is not of whole words', 0x4c, { end: 'no-rule', frames: frames(0x1010) }],
    ['is truncated if that distance leads out of the dump', 0x4008, { end: 'truncated', frames: frames(0x1010), endStackOffset: 0x4010 }],
  ])('%s', async (_, distance, expected) => {
    const stack = { 16: distance, 72: BIAS + 0x1400, 80: BIAS + 0x1500, 88: 7 };
    const result = await unwind({ ip: BIAS + 0x1010, bp: 7 }, stack, { 4112: ADDS_DISTANCE, 5120: [0xc3], 5376: [0xf4] });
    expect(result).toMatchObject(expected);
  });

  test('takes the stack pointer of the caller from any of six saved registers, but from no word below them', async () => {
    const code = { 4112: [0xf4], 5120: [0xc3], 5376: [0xf4] };
    const above = { 64: 0, 72: BIAS + 0x1400, 120: BIAS + 0x1400, 128: BIAS + 0x1500, 136: 0 };
    for (const place of [56, 48, 40, 32, 24, 16, 8]) {
      const { frames: found } = await unwind({ ip: BIAS + 0x1010, bp: SP + 0x40 }, { ...above, [place]: SP + 0x80 }, code);
      expect([place, found]).toEqual([place, place === 8 ? frames(0x1010, 0x1400) : frames(0x1010, 0x1400, 0x1500)]);
    }
  });

  test.each<[string, Readonly<Record<number, number>>, string]>([
    ['is complete', {}, 'complete'],
    ['is complete if the environment is empty', { 48: 0, 56: 6, 64: 4096 }, 'complete'],
    ['goes on if the environment is empty and the auxiliary vector has no page size', { 48: 0, 56: 33, 64: 4096 }, 'no-rule'],
    ['goes on if the environment is empty and the page size is none', { 48: 0, 56: 6, 64: 4097 }, 'no-rule'],
    ['goes on if the environment is empty and no auxiliary vector follows', { 48: 0, 56: 0 }, 'no-rule'],
    ['goes on if there are too few arguments', { 40: 5 }, 'no-rule'],
    ['is complete if the program has sorted them', { 24: SP + 0x110, 32: SP + 0x100 }, 'complete'],
    ['is complete if the auxiliary vector follows', { 64: 33, 72: BIAS, 80: 51, 88: 7 }, 'complete'],
    ['is complete if the whole auxiliary vector follows', { 64: 33, 72: BIAS, 80: 6, 88: 4096, 96: 0 }, 'complete'],
    ['goes on if the whole auxiliary vector has no page size', { 64: 33, 72: BIAS, 80: 51, 88: 7, 96: 0 }, 'no-rule'],
    ['goes on if something else follows', { 64: 33, 72: BIAS, 80: 1000 }, 'no-rule'],
    ['goes on if the auxiliary vector is empty', { 64: 0 }, 'no-rule'],
    ['goes on if the text is in the auxiliary vector', { 24: SP + 0x50, 32: SP + 0x60, 64: 33, 72: BIAS, 80: 51, 88: 7 }, 'no-rule'],
    ['goes on if the first one is not on the stack', { 24: SP - 0x100 }, 'no-rule'],
    ['goes on if another one is not on the stack', { 32: BIAS + 0x1400 }, 'no-rule'],
    ['goes on if the environment is before them', { 48: SP + 0x80 }, 'no-rule'],
  ])('below the arguments of the program %s', async (_, changes, end) => {
    const stack = { 0: BIAS + 0x1400, 8: 7, 16: 2, 24: SP + 0x100, 32: SP + 0x110, 40: 0, 48: SP + 0x120, 56: 0, ...changes };
    expect(await unwind({ ip: BIAS + 0x1010, bp: 3 }, stack, { 4112: [0xc3], 5120: [0xf4] })).toMatchObject({ end, frames: frames(0x1010, 0x1400) });
  });

  test.each<[string, Readonly<Record<number, number>>, string[]]>([
    ['is the outermost, wherever its code leads', {}, frames(0x1010, 0x1400)],
    ['has a caller if there are no arguments', { 8: 0 }, frames(0x1010, 0x1400, 0x1500)],
  ])('that made a call with the arguments of the program on top of the stack %s', async (_, changes, expected) => {
    const text = { 16: SP + 0x100, 24: SP + 0x110, 32: 0, 40: SP + 0x120, 48: 0 };
    const stack = { 0: BIAS + 0x1400, 8: 2, ...text, 56: 6, 64: 4096, 72: 0, 80: 0, 88: BIAS + 0x1500, ...changes };
    // ret; add $80, %rsp and ret; hlt
    const pieces = { 4112: [0xc3], 5120: [0x48, 0x83, 0xc4, 0x50, 0xc3], 5376: [0xf4] };
    expect((await unwind({ ip: BIAS + 0x1010, bp: 3 }, stack, pieces)).frames).toEqual(expected);
  });

  test.each<[string, Readonly<Record<number, number>>, string]>([
    ['is complete', {}, 'complete'],
    ['goes on if there is something else', { 0: SP + 0x100 }, 'no-rule'],
    ['goes on if they are further up', { 0: 0, 8: 2, 16: SP + 0x100, 24: SP + 0x110, 32: 0, 40: SP + 0x120 }, 'no-rule'],
  ])('that begins a program, with its arguments on top of the stack, %s', async (_, changes, end) => {
    const stack = { 0: 2, 8: SP + 0x100, 16: SP + 0x110, 24: 0, 32: SP + 0x120, 40: 0, ...changes };
    expect(await unwind({ ip: BIAS + 0x1010, bp: 3 }, stack, { 4112: [0xf4] })).toMatchObject({ end, frames: frames(0x1010) });
  });

  test('of JITs is unwound by frame pointers alone', async () => {
    const jit = (await space('x86_64', CALLS)).map(0x10_0000, 0x20_0000);
    const stack = { 0: 0x10_0100, 32: SP + 0x40, 40: 0x10_0200, 64: 0, 72: BIAS + 0x1400 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: 0x10_0010, sp: SP, bp: SP + 0x20 }, stack }, jit);
    expect(result).toMatchObject({ end: 'complete', frames: ['!100010', '100200', (BIAS + 0x1400).toString(16)] });
    expect(await unwound({ machine: 'x86_64', registers: { ip: 0x10_0010, sp: SP, bp: 3 }, stack }, jit)).toMatchObject({
      end: 'no-module',
      frames: ['!100010'],
      endFile: 1,
    });
  });

  test.each<[string, Readonly<Record<number, number>>, string[]]>([
    ['from below the frame record', { 64: 0, 104: BIAS + 0x1500 }, frames(0x1400, 0x1500)],
    [
      'unless the next caller, in a recursion, is below it',
      { 64: SP + 0x58, 80: BIAS + 0x1500, 88: 0, 96: BIAS + 0x1400, 104: 0 },
      frames(0x1400, 0x1500, 0x1400),
    ],
  ])('of a JIT takes the stack pointer of the caller %s', async (_, changes, expected) => {
    const code = { view: new ByteView(new Uint8Array(0x40).fill(0xf4), true), addr: 0 };
    const jit = UnwindModule.ofFunction('x86_64', code, new CodeEffort());
    const memory = (await space('x86_64', { ...CALLS, 5120: [0xc3], 5376: [0xf4] })).map(0x10_0000, 0x10_0040, jit, 0x10_0000);
    const stack = { 56: SP + 0x68, 72: BIAS + 0x1400, ...changes };
    expect(await unwound({ machine: 'x86_64', registers: { ip: 0x10_0010, sp: SP, bp: SP + 0x40 }, stack }, memory)).toMatchObject({
      end: 'complete',
      frames: ['!100010', ...expected.map((frame) => frame.replace('!', ''))],
    });
  });

  test('may have a return address right after the last mapped byte, if a call does not return', async () => {
    const bytes = new Uint8Array(0x1000).fill(0x90);
    bytes.set([0xff, 0xd0], 0xffe);
    const module = await madeModule('x86_64', [{ svma: START, bytes }]);
    const sample = { machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP, bp: SP + 0x20 }, stack: { 32: 0, 40: BIAS + 0x2000 } } as const;
    expect(await unwound(sample, new MadeSpace().map(BIAS, BIAS + 0x2000, module, BIAS))).toMatchObject({ end: 'complete', frames: frames(0x1010, 0x2000) });
    // After a gap, nothing comes before the first byte.
    const other = new MadeSpace().map(BIAS, BIAS + 0x1800, module, BIAS).map(BIAS + 0x2000, BIAS + 0x3000);
    expect(await unwound(sample, other)).toMatchObject({ end: 'no-rule', frames: frames(0x1010) });
  });

  test('does not return to mapped data, whatever the code does, if the frame pointer leads on', async () => {
    // add rsp, 8; ret
    const mapped = (await space('x86_64', { ...CALLS, 4112: [0x48, 0x83, 0xc4, 0x08, 0xc3] })).mapData(0x10_0000, 0x20_0000).map(0x20_0000, 0x30_0000);
    const sampleOf = (returnAddress: number): MadeSample => ({
      machine: 'x86_64',
      registers: { ip: BIAS + 0x1010, sp: SP, bp: SP + 0x20 },
      stack: { 0: 7, 8: returnAddress, 32: 0, 40: BIAS + 0x1400 },
    });
    expect(await unwound(sampleOf(0x10_0100), mapped)).toMatchObject({ end: 'complete', frames: frames(0x1010, 0x1400) });
    expect((await unwound(sampleOf(0x20_0100), mapped)).frames[1]).toBe('200100');
  });

  test('waits for a file that is not loaded, whatever was looked for since', async () => {
    const waiting = (await space('x86_64', CALLS)).map(0x10_0000, 0x20_0000, undefined, 0, 'pending').map(0x20_0000, 0x30_0000);
    const sample = {
      machine: 'x86_64',
      registers: { ip: BIAS + 0x1010, sp: SP, bp: SP + 0x20 },
      stack: { 0: 0x10_0100, 32: SP + 0x40, 40: 0x20_0100 },
    } as const;
    expect(await unwound(sample, waiting)).toMatchObject({ end: 'pending', endFile: 1 });
  });

  test('is unwound at unmapped addresses, whose maps were not recorded', async () => {
    const stack = { 32: 0, 40: BIAS + 0x1400 };
    expect(await unwind({ ip: 0x1234_5678, bp: SP + 0x20 }, stack)).toMatchObject({ end: 'complete', frames: ['!12345678', (BIAS + 0x1400).toString(16)] });
  });

  test.each<[string, number[]]>([
    ['call *%rax', [0xff, 0xd0]],
    ['call *%r10', [0x41, 0xff, 0xd2]],
    ['call *(%rax)', [0xff, 0x10]],
    ['call *8(%rax)', [0xff, 0x50, 8]],
    ['call *0x100(%rax)', [0xff, 0x90, 0, 1, 0, 0]],
    ['call *(%rax,%rcx,8)', [0xff, 0x14, 0xc8]],
    ['call *8(%rsp)', [0xff, 0x54, 0x24, 8]],
    ['call *0x100(%rsp)', [0xff, 0x94, 0x24, 0, 1, 0, 0]],
    ['call *0x100(,%rax,8)', [0xff, 0x14, 0xc5, 0, 1, 0, 0]],
    ['call *0x100(%rip)', [0xff, 0x15, 0, 1, 0, 0]],
    ['call', [0xe8, 0, 0xf9, 0xff, 0xff]],
  ])('has return addresses after %s', async (_name, bytes) => {
    const stack = { 32: 0, 40: BIAS + 0x1800 };
    expect(await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, stack, { [0x1800 - bytes.length]: bytes })).toMatchObject({ frames: frames(0x1010, 0x1800) });
  });

  test.each<[string, number[]]>([
    ['jmp *%rax', [0xff, 0xe0]],
    ['call of what is no code', [0xe8, 1, 2, 3, 4]],
    ['push (%rax)', [0xff, 0x30]],
    ['half of a call', [0xff, 0x15, 0, 1, 0]],
    ['half of a call with an index', [0xff, 0x14]],
    ['nop', [0x90]],
  ])('has no return addresses after %s', async (_name, bytes) => {
    const stack = { 32: 0, 40: BIAS + 0x1800 };
    expect(await unwind({ ip: BIAS + 0x1010, bp: SP + 0x20 }, stack, { [0x1800 - bytes.length]: bytes })).toMatchObject({
      end: 'no-rule',
      frames: frames(0x1010),
    });
  });
});

test.each([
  ['complete', 'first byte of a function, after no call', 0x1100, []],
  ['no-rule', 'first byte of a function, after a call', 0x1100, [0xff, 0xd0]],
  ['no-rule', 'last byte before a function', 0x10ff, []],
  ['complete', 'address after a jump through a register', 0x10f0, [0xff, 0xe3]],
  ['complete', 'address after a jump through one of the later registers', 0x10f0, [0x41, 0xff, 0xe0]],
  ['no-rule', 'address after a jump through memory', 0x10f0, [0xff, 0x23]],
] as const)('a stack ends as %s if its first function returns to the %s, as made by makecontext and Boost', async (end, _, returnAddress, before) => {
  const text = new Uint8Array(0x200).fill(0x90);
  text.set(before, returnAddress - START - before.length);
  const content = assembleFrames([[CIE, [{ ...fde(0x1000, code().defCfaOffset(16)), sizeBytes: 0x80 }, fde(0x1100)]]], { addr: 0x3000 }).bytes;
  const module = await madeModule('x86_64', [{ svma: START, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x3000, content }]);
  const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
  const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP, bp: 3 }, stack: { 8: BIAS + returnAddress, 16: 0x1234 } }, mapped);
  expect(result).toMatchObject({ end, frames: end === 'complete' ? made(0x1010, returnAddress) : frames(0x1010, returnAddress) });
});

test.each([
  ['complete', 'no call precedes it', [], 0x1000],
  ['complete', 'the call of its function before it was not made', callTo(0x1200, 0x1200)[0x11fb], 0x1000],
  ['unmapped', 'the call before it was made', callTo(0x1200, 0x1200)[0x11fb], 0x1200],
  ['unmapped', 'a call of another function precedes it', callTo(0x1300, 0x1200)[0x11fb], 0x1000],
  ['unmapped', 'a call through a register precedes it', [0xff, 0xd0], 0x1000],
] as const)('a stack ends as %s if its first function returns to the start of one right after another and %s', async (end, _, before, leaf) => {
  const text = new Uint8Array(0x400).fill(0x90);
  text.set(before, 0x200 - before.length);
  const functions = [fde(0x1000, code().defCfaOffset(16)), fde(0x1100), fde(0x1200, code().defCfaOffset(16)), fde(0x1300)];
  const content = assembleFrames([[CIE, functions]], { addr: 0x3000 }).bytes;
  const module = await madeModule('x86_64', [{ svma: START, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x3000, content }]);
  const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
  const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + leaf + 0x10, sp: SP }, stack: { 8: BIAS + 0x1200, 16: 0x1234 } }, mapped);
  expect(result).toMatchObject({ end, frames: end === 'complete' ? made(leaf + 0x10, 0x1200) : frames(leaf + 0x10, 0x1200) });
});

// mov rbp, [rsp+48]; lea rsp, [rsp+64]; mov rdx, rsi; jmp r8: the end of Boost.Context's jump_fcontext.
const SWITCH = [0x48, 0x8b, 0x6c, 0x24, 0x30, 0x48, 0x8d, 0x64, 0x24, 0x40, 0x48, 0x89, 0xf2, 0x41, 0xff, 0xe0];

test.each([
  ['complete', 'the end of its frame', 0, 0x18000, [0xff, 0xd0]],
  ['complete', 'the jump', 13, 0x18000, [0xff, 0xd0]],
  ['complete', 'the jump, and the call before its target is of the function', 13, 0x1700, callTo(0x1180, 0x1700)[0x16fb]],
  ['no-rule', 'the jump, and its target may be a case of a switch', 13, 0x1700, [0xff, 0xd0]],
  ['no-rule', 'the jump, and no call is before its target', 13, 0x18000, [0x90, 0x90]],
  ['no-rule', 'the jump, and its target is a function', 13, 0x18100, [0xff, 0xd0]],
] as const)('a stack ends as %s if its function has no rule and jumps to the address in a register: at %s', async (end, _, at, target, before) => {
  const text = new Uint8Array(0x18000).fill(0x90);
  text.set(SWITCH, 0x180);
  text.set(before, target - START - before.length);
  // The last one is a function's first byte.
  const functions = [{ ...fde(target === 0x18100 ? target : target - 0x40, code().undefined(RIP)), sizeBytes: 0x100 }];
  const content = assembleFrames([[CIE, functions]], { addr: 0x20000 }).bytes;
  const module = await madeModule('x86_64', [{ svma: START, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x20000, content }]);
  const mapped = new MadeSpace().map(BIAS, BIAS + 0x30000, module, BIAS);
  const registers = { ip: BIAS + 0x1180 + at, sp: SP, bp: 3, r8: BIAS + target };
  const result = await unwound({ machine: 'x86_64', registers, stack: { 48: 0x5678, 64: 0x1234 } }, mapped);
  const isCaller = end === 'complete';
  expect(result).toMatchObject({ end, frames: isCaller ? frames(0x1180 + at, target) : frames(0x1180 + at) });
});

test.each([
  [['1180', '1400'], 0x1400],
  [['1180'], 0x1300],
])('a function without a rule may keep its return address in a register, if a call is before it: %j', async (svmas, address) => {
  // push rdx; ret
  const mapped = await space('x86_64', { 4480: [0x52, 0xc3], 5118: [0xff, 0xd0] });
  const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1180, sp: SP, bp: 0, dx: BIAS + address }, stack: { 8: 5, 16: 5 } }, mapped);
  expect(result.frames.slice(0, 2)).toEqual(frames(...svmas.map((svma) => Number.parseInt(svma, 16))));
});

test('a function without a rule may also return by a jump to what it has popped', async () => {
  // add rsp, 8; pop rcx; jmp rcx
  const mapped = await space('x86_64', { 4480: [0x48, 0x83, 0xc4, 0x08, 0x59, 0xff, 0xe1], 5118: [0xff, 0xd0] });
  const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1180, sp: SP, bp: 0 }, stack: { 8: BIAS + 0x1400, 16: 5 } }, mapped);
  expect(result.frames.slice(0, 2)).toEqual(frames(0x1180, 0x1400));
});

test.each([
  ['complete', 'rbx points after it', 16, 0x1100],
  ['complete', 'rbx points after arguments', 32, 0x1100],
  ['no-rule', 'rbx points elsewhere', 8, 0x1100],
  ['no-rule', 'no function begins there', 16, 0x1104],
] as const)('a stack ends as %s if its first function has no rule, returns as made by makecontext, and %s', async (end, _, rbx, returnAddress) => {
  // add rsp, 8; ret
  const text = new Uint8Array(0x200).fill(0x90);
  text.set([0x48, 0x83, 0xc4, 0x08, 0xc3], 0x180);
  const content = assembleFrames([[CIE, [{ ...fde(0x1100), sizeBytes: 0x20 }]]], { addr: 0x3000 }).bytes;
  const module = await madeModule('x86_64', [{ svma: START, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x3000, content }]);
  const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
  const registers = { ip: BIAS + 0x1180, sp: SP, bp: 3, bx: SP + rbx };
  const result = await unwound({ machine: 'x86_64', registers, stack: { 8: BIAS + returnAddress, 16: 0x1234 } }, mapped);
  expect(result).toMatchObject({ end, frames: end === 'complete' ? made(0x1180, 0x1100) : frames(0x1180) });
});

test.each([
  ['complete', 'rbx points after it', 24, 0x1100],
  ['no-rule', 'rbx points elsewhere', 16, 0x1100],
  ['no-rule', 'no function begins there', 24, 0x1104],
] as const)('a stack ends as %s if its first function has no rule, never returns, was begun by makecontext, and %s', async (end, _, rbx, returnAddress) => {
  // ret; push rbx; xor ebx, ebx; sub rsp, 8; nop; jmp back
  const text = new Uint8Array(0x200).fill(0x90);
  text.set([0xc3, 0x53, 0x31, 0xdb, 0x48, 0x83, 0xec, 0x08, 0x90, 0xeb, 0xfd], 0x17f);
  const content = assembleFrames([[CIE, [{ ...fde(0x1100), sizeBytes: 0x20 }]]], { addr: 0x3000 }).bytes;
  const module = await madeModule('x86_64', [{ svma: START, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x3000, content }]);
  const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
  const stack = { 8: SP + rbx, 16: BIAS + returnAddress, 24: 0x1234 };
  const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1187, sp: SP, bp: 3, bx: 0 }, stack }, mapped);
  expect(result).toMatchObject({ end, frames: end === 'complete' ? made(0x1187, 0x1100) : frames(0x1187) });
});

describe('x86-64 code without rules, after a call that does not return,', () => {
  // The return addresses of a call through a register, and of one of a function at 0x1310, which is left over on the stack.
  const CALLS = { 5118: [0xff, 0xd0], ...callTo(0x1310, 0x1500) };
  const framesOf = async (
    pieces: Readonly<Record<number, readonly number[]>>,
    ip: number,
    stack: Readonly<Record<number, number>>,
    bp = 3,
  ): Promise<readonly string[]> =>
    (await unwound({ machine: 'x86_64', registers: { ip: BIAS + ip, sp: SP, bp }, stack }, await space('x86_64', { ...CALLS, ...pieces }))).frames;

  test.each<[string, number, number]>([
    ['padding', 0x118b, 0x1190],
    ['no padding before a function that makes room on the stack', 0x118b, 0x118b],
  ])('is left by what it has done since its entry, rather than by what follows: %s', async (_, returnsTo, next) => {
    // ret; push %rbx; sub $16, %rsp; nop; call. The next function: push %rbp; pop %rbp; ret
    const code = { 4479: [0xc3, 0x53, 0x48, 0x83, 0xec, 0x10, 0x90], ...callTo(0x1300, returnsTo), [next]: [0x55, 0x5d, 0xc3] };
    expect(await framesOf(code, 0x1185, { 0: BIAS + 0x1500, 24: BIAS + 0x1400 })).toEqual(frames(0x1185, 0x1400));
    // Nothing tells of another caller.
    expect(await framesOf(code, 0x1185, { 0: BIAS + 0x1500, 24: 7 })).toEqual(frames(0x1185, 0x1500));
  });

  test('is left from its entry, which may be right behind a tail call through a pointer', async () => {
    // jmp *0(%rip); push %rbx; sub $16, %rsp; nop; call. The next function: mov %edi, %eax; ret. The called one: ret
    const code = { 4474: [0xff, 0x25, 0, 0, 0, 0, 0x53, 0x48, 0x83, 0xec, 0x10, 0x90], ...callTo(0x1300, 0x118b), 4491: [0x89, 0xf8, 0xc3], 4864: [0xc3] };
    expect(await framesOf(code, 0x1300, { 0: BIAS + 0x118b, 8: 0, 32: BIAS + 0x1400 })).toEqual(frames(0x1300, 0x118b, 0x1400));
  });

  test('is left from its entry if its last call is of the function that follows it', async () => {
    // ret; push %rbx; sub $16, %rsp; nop; call. The called function: mov %edi, %eax; ret
    const code = { 4479: [0xc3, 0x53, 0x48, 0x83, 0xec, 0x10, 0x90], ...callTo(0x118b, 0x118b), 4491: [0x89, 0xf8, 0xc3] };
    const stack = { 0: BIAS + 0x118b, 8: BIAS + 0x1500, 32: BIAS + 0x1400 };
    expect(await framesOf(code, 0x118d, stack)).toEqual(frames(0x118d, 0x118b, 0x1400));
  });

  test('is left from its entry, not by the frame pointer of an earlier function, which a direct call tells', async () => {
    // push %rbp; mov %rsp, %rbp; leave; ret. And: ret; push %rbx; sub $16, %rsp; nop; call; hlt. The called function: ret
    const earlier = [0x55, 0x48, 0x89, 0xe5, 0xc9, 0xc3];
    const code = { 4608: earlier, 4735: [0xc3, 0x53, 0x48, 0x83, 0xec, 0x10, 0x90], ...callTo(0x1300, 0x128b), 4747: [0xf4], 4864: [0xc3] };
    const stack = { 0: BIAS + 0x128b, 32: BIAS + 0x1400, 64: SP + 0x80, 72: BIAS + 0x1600 };
    const found = await framesOf({ ...code, ...callTo(0x1200, 0x1600) }, 0x1300, stack, SP + 64);
    expect(found.slice(0, 3)).toEqual(frames(0x1300, 0x128b, 0x1400));
    // A call through a pointer may be of any function.
    const byPointer = await framesOf({ ...code, 5630: [0xff, 0xd0] }, 0x1300, stack, SP + 64);
    expect(byPointer.slice(0, 3)).toEqual(frames(0x1300, 0x128b, 0x1600));
  });

  test('is left by the frame pointer if its entry would be beyond the record, though the call there is of what has jumped to it', async () => {
    // The code is that of the previous test, but the record is where the function keeps its frame; what follows a call above it is left over.
    const code = { 4608: [0xff, 0xe0], 4735: [0xc3, 0x53, 0x48, 0x83, 0xec, 0x10, 0x90], ...callTo(0x1300, 0x128b), 4747: [0xf4], 4864: [0xc3] };
    const stack = { 0: BIAS + 0x128b, 16: SP + 0x80, 24: BIAS + 0x1600, 32: BIAS + 0x1400 };
    const found = await framesOf({ ...code, ...callTo(0x1200, 0x1600) }, 0x1300, stack, SP + 16);
    expect(found.slice(0, 3)).toEqual(frames(0x1300, 0x128b, 0x1600));
  });

  test('restores the frame pointer of the record that its return address is in, although the place that looks like its entry saves none', async () => {
    // ret; push %rbx; sub $16, %rsp; nop; call. The next function: sub $8, %rsp; add $8, %rsp; ret. The called one: ret
    const next = [0x48, 0x83, 0xec, 0x08, 0x48, 0x83, 0xc4, 0x08, 0xc3];
    const code = { 4479: [0xc3, 0x53, 0x48, 0x83, 0xec, 0x10, 0x90], ...callTo(0x1300, 0x118b), 4491: next, 4864: [0xc3] };
    const stack = { 0: BIAS + 0x118b, 8: BIAS + 0x1500, 24: SP + 0x40, 32: BIAS + 0x1400, 64: 0, 72: BIAS + 0x1500 };
    expect(await framesOf(code, 0x1300, stack, SP + 24)).toEqual(frames(0x1300, 0x118b, 0x1400, 0x1500));
  });

  test('restores the frame pointer of the record that a branch leads to the end of, although nothing on that way restores it', async () => {
    // add $24, %rsp; ret. And: je to there; call. The next function: ret
    const code = { 4464: [0x48, 0x83, 0xc4, 0x18, 0xc3], 4480: [0x74, 0xee], ...callTo(0x1300, 0x1187), 4496: [0xc3] };
    const stack = { 16: SP + 0x40, 24: BIAS + 0x1400, 64: 0, 72: BIAS + 0x1500 };
    expect(await framesOf(code, 0x1180, stack, SP + 16)).toEqual(frames(0x1180, 0x1400, 0x1500));
  });

  test('does not end the stack at a word of 0 that it has not used, although the next function would return to that', async () => {
    // ret; push %rbx; sub $16, %rsp; nop; call. The next function: mov %edi, %eax; ret. The called one: ret
    const code = { 4479: [0xc3, 0x53, 0x48, 0x83, 0xec, 0x10, 0x90], ...callTo(0x1300, 0x118b), 4491: [0x89, 0xf8, 0xc3], 4864: [0xc3] };
    expect(await framesOf(code, 0x1300, { 0: BIAS + 0x118b, 8: 0, 32: BIAS + 0x1400 })).toEqual(frames(0x1300, 0x118b, 0x1400));
  });

  test('is left by the branches that lead elsewhere', async () => {
    // add $24, %rsp; ret. And: je to there; call. The next function: ret
    const code = { 4464: [0x48, 0x83, 0xc4, 0x18, 0xc3], 4480: [0x74, 0xee], ...callTo(0x1300, 0x1187), 4496: [0xc3] };
    expect(await framesOf(code, 0x1180, { 0: BIAS + 0x1500, 24: BIAS + 0x1400 })).toEqual(frames(0x1180, 0x1400));
  });

  test('is left by the frame pointer if its function was called there, whatever is left over on top of the stack', async () => {
    // push %rbp; mov %rsp, %rbp; sub $64, %rsp; nop; call; hlt
    const code = { 4480: [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x40, 0x90], ...callTo(0x1300, 0x118e), 4494: [0xf4] };
    const stack = { 0: SP + 0x40, 8: BIAS + 0x1500, 64: SP + 0x100, 72: BIAS + 0x1600 };
    expect((await framesOf({ ...code, ...callTo(0x1180, 0x1600) }, 0x1188, stack, SP + 0x40)).slice(0, 2)).toEqual(frames(0x1188, 0x1600));
    expect((await framesOf({ ...code, ...callTo(0x1320, 0x1600) }, 0x1188, stack, SP + 0x40)).slice(0, 2)).toEqual(frames(0x1188, 0x1500));
  });

  test.each<[string, readonly number[]]>([
    ['a stub of another file', [0xff, 0x25, 0, 0, 0, 0]],
    ['another function, which has left the stack', [0xc3]],
  ])('has a caller that called %s, even if a nearer place looks like the entry', async (_, target) => {
    // ret; push %rbx; sub $16, %rsp; mov $0x9090_53c3, %eax, in which there are a ret and a push; nop; nop; jmp back
    const code = { 4479: [0xc3, 0x53, 0x48, 0x83, 0xec, 0x10, 0xb8, 0xc3, 0x53, 0x90, 0x90, 0x90, 0x90, 0xeb, 0xfd], 4880: target };
    expect(await framesOf(code, 0x118b, { 8: 7, 24: BIAS + 0x1500 })).toEqual(frames(0x118b, 0x1500));
    // Unless there is a return address where that leads to.
    const byNearer = await framesOf({ ...code, ...callTo(0x1320, 0x1600) }, 0x118b, { 8: BIAS + 0x1600, 24: BIAS + 0x1500 });
    expect(byNearer.slice(0, 2)).toEqual(frames(0x118b, 0x1600));
  });
});

describe('x86-64 code without rules, in which only an indirect jump leads to the return,', () => {
  // push %rbx; sub $16, %rsp; nop; jmp *%rax. The called function: ret
  const FUNCTION = { 4992: [0x53, 0x48, 0x83, 0xec, 0x10, 0x90, 0xff, 0xe0], ...callTo(0x1380, 0x1480), 4864: [0xc3] };
  const framesOf = async (pieces: Readonly<Record<number, readonly number[]>>, stack: Readonly<Record<number, number>>): Promise<readonly string[]> =>
    (await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1300, sp: SP, bp: 3 }, stack }, await space('x86_64', { ...FUNCTION, ...pieces }))).frames;

  test('has the frame of the function that it jumps back to, if the compiler has split it off', async () => {
    // call; jmp to the nop
    const code = { ...callTo(0x1300, 0x1185), 4485: [0xe9, 0xfb, 0x01, 0, 0] };
    expect(await framesOf(code, { 0: BIAS + 0x1185, 32: BIAS + 0x1480 })).toEqual(frames(0x1300, 0x1185, 0x1480));
  });

  test('has the frame of that jump, not that of a call with arguments on the stack', async () => {
    // sub $16, %rsp; call; add $32, %rsp; pop %rbx; ret. And: call; jmp *%rax
    const code = { 5000: [0x48, 0x83, 0xec, 0x10], ...callTo(0x1300, 0x1391), 5009: [0x48, 0x83, 0xc4, 0x20, 0x5b, 0xc3], ...callTo(0x1300, 0x139c) };
    expect(await framesOf({ ...code, 5020: [0xff, 0xe0] }, { 0: BIAS + 0x139c, 32: BIAS + 0x1480 })).toEqual(frames(0x1300, 0x139c, 0x1480));
  });

  test.each([
    ['pop %rdx; add %eax, %ebx', [0x5a, 0x01, 0xc3, 0xff, 0xe0]],
    ['the same after a jump', [0xeb, 0x02, 0xcc, 0xcc, 0x5a, 0x01, 0xc3, 0xff, 0xe0]],
  ])('is not taken for another function if it pushes a register, but does not keep it: %s', async (_, rest) => {
    // push %rbx; call
    const code = { 5000: [0x53], ...callTo(0x1300, 0x138e), 5006: rest };
    expect(await framesOf(code, { 0: BIAS + 0x138e, 40: BIAS + 0x1480 })).toEqual(frames(0x1300, 0x138e, 0x1480));
  });
});

test.each([
  ['complete', 'begins', [0x48, 0x89, 0xdc]],
  ['unmapped', 'does not begin', [0x48, 0x89, 0xd4]],
] as const)('a stack ends as %s at a function that %s with another stack pointer, even if a rule leads on', async (end, _, first) => {
  const text = new Uint8Array(0x200).fill(0x90);
  text.set(first, 0x100);
  const content = assembleFrames([[CIE, [fde(0x1000, code().defCfaOffset(16)), { ...fde(0x1100), sizeBytes: 0x20 }]]], { addr: 0x3000 }).bytes;
  const module = await madeModule('x86_64', [{ svma: START, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x3000, content }]);
  const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
  const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP }, stack: { 8: BIAS + 0x1111, 16: SP + 0x100 } }, mapped);
  expect(result).toMatchObject({ end, frames: frames(0x1010, 0x1111) });
});

test.each([
  ['complete', [0x8d, 0x24, 0x9c, 0x83, 0x3c, 0x24, 0x00]],
  ['no-rule', [0x8d, 0x24, 0x9c, 0x83, 0x3c, 0x24, 0x01]],
] as const)('an i386 stack ends as %s if its first function returns to code like that of makecontext, after a return', async (end, piece) => {
  const bytes = new Uint8Array(0x200).fill(0x90);
  bytes.set([0xc3, ...piece], 0x17f);
  const cie = { returnAddress: 8, dataAlignment: -4, code: code().defCfa(4, 4).offset(8, 1) };
  const content = assembleFrames([[cie, [fde(0x1000, code().defCfaOffset(16))]]], { addr: 0x3000, addressSize: 4 }).bytes;
  const module = await madeModule('i386', [{ svma: START, bytes }], [{ name: '.eh_frame', flags: 2, addr: 0x3000, content }]);
  const [bias, sp] = [0x800_0000, 0xbf00_0000];
  const mapped = new MadeSpace().map(bias, bias + 0x10000, module, bias);
  const result = await unwound({ machine: 'i386', registers: { ip: bias + 0x1010, sp, bp: 7 }, stack: { 12: bias + 0x1180, 16: 5, 20: 0x1234 } }, mapped);
  expect(result).toMatchObject({ end, frames: ['!8001010', `${end === 'complete' ? '!' : ''}8001180`] });
});
