import { describe, expect, test } from 'vitest';
import { space } from '../../support/builders/unwind/code-without-rules.ts';
import type { MadeSpace } from '../../support/builders/unwind/made-process.ts';
import { unwound } from '../../support/builders/unwind/unwound.ts';

describe('i386 code of the vdso, which is in no file', () => {
  const bias = 0x800_0000;
  const at = 0xbf00_0000;
  const VDSO = 0xf7f0_0000;
  // call *%gs:0x10; a call of what handles signals is none of the file's.
  const code = { 5113: [0x65, 0xff, 0x15, 0x10, 0, 0, 0], 5374: [0xff, 0xd0] };
  const mapped = async (): Promise<MadeSpace> => (await space('i386', code, 0x90, bias)).mapVdso(VDSO, VDSO + 0x1000);

  test.each([
    ['kept', at + 0x20],
    ['used by sysenter', at],
  ])('is unwound in system calls, with three registers on the stack and ebp %s', async (_name, bp) => {
    const stack = { 0: at + 0x20, 4: 2, 8: 3, 12: bias + 0x1400, 32: 0, 36: bias + 0x1500 };
    const result = await unwound({ machine: 'i386', registers: { ip: VDSO + 0x10, sp: at, bp }, stack }, await mapped());
    expect(result).toMatchObject({ end: 'complete', frames: ['!f7f00010', '8001400', '8001500'] });
  });

  test('is unwound in system calls even if a register looks like the return address of a record', async () => {
    const stack = { 0: at + 0x20, 4: bias + 0x1500, 8: 3, 12: bias + 0x1400, 32: 0, 36: bias + 0x1500 };
    const result = await unwound({ machine: 'i386', registers: { ip: VDSO + 0x10, sp: at, bp: at + 0x20 }, stack }, await mapped());
    expect(result).toMatchObject({ end: 'complete', frames: ['!f7f00010', '8001400', '8001500'] });
  });

  test.each<[string, Readonly<Record<number, number>>, Readonly<Record<string, number>>]>([
    ['before anything is pushed', { 0: bias + 0x1400 }, { ax: 64 }],
    ['with ecx on the stack', { 0: 3, 4: bias + 0x1400 }, { cx: 3 }],
    ['with ecx on the stack, changed by syscall', { 0: 3, 4: bias + 0x1400 }, { cx: VDSO + 0xf }],
    ['with ecx on the stack, changed by sysenter', { 0: 3, 4: bias + 0x1400 }, { cx: at - 8 }],
    ['with edx on the stack', { 0: 2, 4: 3, 8: bias + 0x1400 }, { dx: 2 }],
    ['with all on the stack', { 0: at + 0x20, 4: 2, 8: 3, 12: bias + 0x1400 }, {}],
    ['with all on the stack, and ecx in ebp', { 0: 1, 4: 2, 8: 3, 12: bias + 0x1400 }, { bp: 3 }],
  ])('is unwound in system calls of functions with frame pointers: %s', async (_name, words, more) => {
    const stack = { ...words, 32: 0, 36: bias + 0x1500 };
    const registers = { ip: VDSO + 0x10, sp: at, bp: at + 0x20, ax: 0x20be_2986, cx: 1, dx: 0x79c8, ...more };
    const result = await unwound({ machine: 'i386', registers, stack }, await mapped());
    expect(result.frames.slice(0, 2)).toEqual(['!f7f00010', '8001400']);
  });

  test.each([0, 4, 8, 12])(
    'is not taken for a system call because of an address that an earlier one left %d bytes above the top of the stack',
    async (place) => {
      const stack = { 0: 11, 4: 12, 8: 13, [place]: bias + 0x1400, 32: 0, 36: bias + 0x1500 };
      const registers = { ip: VDSO + 0x10, sp: at, bp: at + 0x20, ax: 0x20be_2986, cx: 1, dx: 0x79c8 };
      const result = await unwound({ machine: 'i386', registers, stack }, await mapped());
      expect(result).toMatchObject({ end: 'complete', frames: ['!f7f00010', '8001500'] });
    },
  );

  test.each<[string, Readonly<Record<number, number>>]>([
    [
      'with information',
      {
        8: 10,
        16: 0,
        24: at + 0x40,
        [0x40 + 20 + 24]: 0,
        [0x40 + 20 + 28]: at + 0x200,
        [0x40 + 20 + 56]: bias + 0x1010,
        [0x40 + 20 + 60]: 0x23,
        [0x40 + 20 + 68]: at + 0x200,
      },
    ],
    ['without information', { 8: 10, [0x14 + 24]: 0, [0x14 + 28]: at + 0x200, [0x14 + 56]: bias + 0x1010, [0x14 + 60]: 0x73, [0x14 + 68]: at + 0x200 }],
  ])('is unwound from signal handlers %s to what they interrupted', async (_name, context) => {
    // The handler has a frame pointer; above its return address are its arguments.
    const stack = { ...context, 8: at + 0x20, 12: VDSO + 0x600, 512: bias + 0x1500 };
    const result = await unwound({ machine: 'i386', registers: { ip: bias + 0x1010, sp: at, bp: at + 8 }, stack }, await mapped());
    expect(result.frames.slice(0, 3)).toEqual(['!8001010', '!f7f00600', '!8001010']);
  });

  test.each<[string, number, number]>([
    ['without information', VDSO + 0x600, 4],
    ['without information, which has popped the number', VDSO + 0x608, 0],
    ['with information', VDSO + 0x615, 0x20 + 20],
  ])('is unwound from the code after a handler to what the signal interrupted: %s', async (_name, ip, context) => {
    const saved = { 24: 0, 28: at + 0x200, 56: bias + 0x1010, 60: 0x23, 68: at + 0x200 };
    const stack = {
      0: 10,
      8: at + 0x20,
      ...Object.fromEntries(Object.entries(saved).map(([place, value]) => [context + Number(place), value])),
      512: bias + 0x1500,
    };
    const result = await unwound({ machine: 'i386', registers: { ip, sp: at, bp: 1 }, stack }, await mapped());
    expect(result.frames.slice(0, 2)).toEqual([`!${ip.toString(16)}`, '!8001010']);
  });

  test('is not unwound like this in code without a file that is not the vdso', async () => {
    const saved = { 24: 0, 28: at + 0x200, 56: bias + 0x1010, 60: 0x23, 68: at + 0x200 };
    const stack = Object.fromEntries(Object.entries(saved).map(([place, value]) => [4 + Number(place), value]));
    const other = (await space('i386', code, 0x90, bias)).map(VDSO, VDSO + 0x1000);
    const result = await unwound({ machine: 'i386', registers: { ip: VDSO + 0x600, sp: at, bp: 1 }, stack }, other);
    expect(result.frames).toEqual(['!f7f00600']);
  });

  test.each([
    ['another stack pointer', { 20: 0, [0x14 + 68]: at + 0x204 }],
    ['a segment of the kernel', { 20: 0, [0x14 + 60]: 0x60 }],
    ['a stack pointer below', { 20: 0, [0x14 + 28]: at, [0x14 + 68]: at }],
    ['an instruction that is not mapped', { 20: 0, [0x14 + 56]: 0x1234 }],
  ])('does not go on from an invalid context: %s', async (_name, wrong) => {
    const context = { [0x14 + 24]: 0, [0x14 + 28]: at + 0x200, [0x14 + 56]: bias + 0x1010, [0x14 + 60]: 0x23, [0x14 + 68]: at + 0x200 };
    const stack = { ...context, ...wrong, 8: at + 0x20, 12: VDSO + 0x600, 512: bias + 0x1500 };
    const result = await unwound({ machine: 'i386', registers: { ip: bias + 0x1010, sp: at, bp: at + 8 }, stack }, await mapped());
    expect(result.frames[2]).not.toBe('!8001010');
  });
});
