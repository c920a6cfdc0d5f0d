import { expect, test } from 'vitest';
import { callTo, SP, START, space } from '../../support/builders/unwind/code-without-rules.ts';
import { assembleFrames } from '../../support/builders/unwind/frame-assembler.ts';
import { MadeSpace } from '../../support/builders/unwind/made-process.ts';
import { madeModule, unwound } from '../../support/builders/unwind/unwound.ts';
import { code, fde } from '../../support/builders/unwind/x86-64-functions.ts';

test.each<[string, number, number, string[]]>([
  ['a leaf', 0x1180, 3, ['8001180', '8001400']],
  ['a leaf only if that ends at a word', 0x1180, 4, ['8001180']],
])('i386 code without rules may have a frame of any size in %s', async (_, ip, padding, expected) => {
  const bias = 0x800_0000;
  // add $19, %esp; ret
  const mapped = await space('i386', { 4480: [0x83, 0xc4, 0x13, 0xc3], 5118: [0xff, 0xd0] }, 0x90, bias);
  const sp = 0xbf00_0000 - 16 - padding;
  const stack = { 19: bias + 0x1400 };
  const result = await unwound({ machine: 'i386', registers: { ip: bias + ip, sp, bp: 3 }, stack }, mapped);
  expect(result.frames).toEqual(expected.map((address, i) => (i === 0 ? `!${address}` : address)));
});

test('an i386 stack ends where its first function, which never returns, was begun by makecontext', async () => {
  const bias = 0x800_0000;
  // ret; push ebx; sub esp, 8; nop; jmp back. And: lea esp, [esp+ebx*4]; cmp dword [esp], 0
  const code = { 4479: [0xc3, 0x53, 0x83, 0xec, 0x08, 0x90, 0xeb, 0xfd], 5120: [0x8d, 0x24, 0x9c, 0x83, 0x3c, 0x24, 0x00] };
  const stack = { 8: 1, 12: bias + 0x1400, 16: 0x1234 };
  const result = await unwound({ machine: 'i386', registers: { ip: bias + 0x1184, sp: SP, bp: 3, bx: 7 }, stack }, await space('i386', code, 0x90, bias));
  expect(result).toMatchObject({ end: 'complete', frames: ['!8001184', '!8001400'] });
});

test('i386 code without rules is unwound by frame pointers', async () => {
  const mapped = await space('i386', { 5118: [0xff, 0xd0], ...callTo(0x1000, 0x1500) }, 0x90, 0x800_0000);
  const stack = { 32: 0xbf00_0040, 36: 0x800_1400, 64: 0, 68: 0x800_1500 };
  const result = await unwound({ machine: 'i386', registers: { ip: 0x800_1010, sp: 0xbf00_0000, bp: 0xbf00_0020 }, stack }, mapped);
  expect(result).toMatchObject({ end: 'complete', frames: ['!8001010', '8001400', '8001500'] });
});

test.each<[string, Readonly<Record<number, readonly number[]>>, Readonly<Record<number, number>>, number, string[]]>([
  ['above what was pushed, if a call of the function precedes it', callTo(0x1000, 0x1700), { 4: 0x1400, 8: 0x1700 }, 3, ['1700']],
  ['nowhere if the call is of a later function', callTo(0x1020, 0x1700), { 4: 0x1400, 8: 0x1700 }, 3, []],
  ['nowhere if the call is of a function too far before it', callTo(-0xf000, 0x1700), { 4: 0x1400, 8: 0x1700 }, 3, []],
  [
    'above the frame pointer if the call there is of the function',
    { ...callTo(0x1800, 0x1700), ...callTo(0x1000, 0x1720) },
    { 0: 0x1700, 36: 0x1720 },
    32,
    ['1720'],
  ],
  ['on top of the stack if the call there is', { ...callTo(0x1000, 0x1700), ...callTo(0x1800, 0x1720) }, { 0: 0x1700, 36: 0x1720 }, 32, ['1700', '1720']],
  ['on top if the call there is of a nearer one', { ...callTo(0x1010, 0x1700), ...callTo(0x1000, 0x1720) }, { 0: 0x1700, 36: 0x1720 }, 32, ['1700', '1720']],
])('i386 code without rules has the return address of a leaf %s', async (_, calls, returns, bp, expected) => {
  const [bias, sp] = [0x800_0000, 0xbf00_0000];
  const mapped = await space('i386', { 5118: [0xff, 0xd0], ...calls }, 0x90, bias);
  const stack = { 0: 7, 32: 0, 36: 0, ...Object.fromEntries(Object.entries(returns).map(([at, svma]) => [at, bias + svma])) };
  const result = await unwound({ machine: 'i386', registers: { ip: bias + 0x1010, sp, bp: bp === 32 ? sp + bp : bp }, stack }, mapped);
  expect(result.frames).toEqual(['!8001010', ...expected.map((svma) => `800${svma}`)]);
});

test('i386 code without rules finds its caller, even if the call through a pointer there ends like a direct one', async () => {
  const [bias, sp] = [0x800_0000, 0xbf00_0000];
  // ret; push %ebx; je over the jmp; jmp to itself; push $5; nop; jmp back. The caller: mov %ebp, %eax; xor %ebp, %ebp; call *%eax; ret
  const leaf = [0xc3, 0x53, 0x74, 0x02, 0xeb, 0xfe, 0x6a, 0x05, 0x90, 0xeb, 0xfd];
  const mapped = await space('i386', { 4096: leaf, 5114: [0x89, 0xe8, 0x31, 0xed, 0xff, 0xd0, 0xc3] }, 0xcc, bias);
  const result = await unwound({ machine: 'i386', registers: { ip: bias + 0x1008, sp, bp: 3 }, stack: { 4: 7, 8: bias + 0x1400, 12: 0 } }, mapped);
  expect(result).toMatchObject({ end: 'complete', frames: ['!8001008', '8001400'] });
});

test.each<[string, number, string[]]>([
  ['is found', 0x1300, ['800118f', '8001400']],
  ['is not found if that may be any other function', 0x1310, ['800118f']],
])('i386 code without rules: a function that never returns, and first calls one that tells where it is, %s', async (_, thunk, expected) => {
  const [bias, sp] = [0x800_0000, 0xbf00_0000];
  // add $5, %eax; push %ebx; sub $8, %esp; nop; jmp back. The thunk: mov (%esp), %eax; ret
  const function_ = { ...callTo(thunk, 0x1185), 4485: [0x05, 5, 0, 0, 0, 0x53, 0x83, 0xec, 0x08, 0x90, 0xeb, 0xfd] };
  const mapped = await space('i386', { ...function_, 4864: [0x8b, 0x04, 0x24, 0xc3], 4880: [0x8b, 0x44, 0x24, 0x04, 0xc3], 5118: [0xff, 0xd0] }, 0x90, bias);
  const result = await unwound({ machine: 'i386', registers: { ip: bias + 0x118f, sp, bp: 3 }, stack: { 8: 7, 12: bias + 0x1400 } }, mapped);
  expect(result.frames).toEqual(expected.map((address, i) => (i === 0 ? `!${address}` : address)));
});

test('i386 code without rules does not end the stack by a frame pointer that is 0 from the leaf on', async () => {
  const bias = 0xf000_0000;
  const stack = { 0: bias + 0x1400, 4: 7, 8: bias + 0x1500, 12: 7 };
  // add 4, esp; ret
  const code = await space('i386', { ...callTo(0x1000, 0x1400), 5120: [0x83, 0xc4, 0x04, 0xc3], ...callTo(0x1380, 0x1500) }, 0x90, bias);
  const found = await unwound({ machine: 'i386', registers: { ip: bias + 0x1010, sp: 0xfff0_1000, bp: 0 }, stack }, code);
  expect(found).toMatchObject({ end: 'no-rule', frames: ['!f0001010', 'f0001400', 'f0001500'] });
});

test('i386 code without rules gives rules the stack pointer of its caller if the stack was realigned', async () => {
  // At 0x1400, after call *%eax: a frame of 16 bytes, found by the stack pointer.
  const bytes = new Uint8Array(0x500).fill(0x90);
  bytes.set([0xff, 0xd0], 0x3fe);
  bytes.set([0xff, 0xd0], 0x4be);
  const cie = { returnAddress: 8, dataAlignment: -4, code: code().defCfa(4, 4).offset(8, 1) };
  const content = assembleFrames([[cie, [fde(0x1380, code().defCfaOffset(16))]]], { addr: 0x3000, addressSize: 4 }).bytes;
  const module = await madeModule('i386', [{ svma: START, bytes }], [{ name: '.eh_frame', flags: 2, addr: 0x3000, content }]);
  const [bias, sp] = [0x800_0000, 0xbf00_0000];
  const mapped = new MadeSpace().map(bias, bias + 0x10000, module, bias);
  for (const [cfa, expected] of [
    [sp + 0x80, 0x14c0],
    [sp + 0x84, 0],
  ]) {
    // Below the frame pointer a saved register, and the stack pointer; above, and where that was, the return address.
    const stack = { 24: cfa, 28: 7, 32: 0, 36: bias + 0x1400, 124: bias + 0x1400, 140: bias + 0x14c0, 144: 0 };
    const result = await unwound({ machine: 'i386', registers: { ip: bias + 0x1010, sp, bp: sp + 0x20 }, stack }, mapped);
    expect(result.frames.slice(0, 3)).toEqual(['!8001010', '8001400', ...(expected === 0 ? [] : [(bias + expected).toString(16)])]);
  }
});
