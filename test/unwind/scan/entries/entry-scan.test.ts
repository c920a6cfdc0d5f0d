import { describe, expect, test } from 'vitest';
import type { UnwindMachine } from '../../../../src/unwind/machines/unwind-machine.ts';
import { Unwinder } from '../../../../src/unwind/unwinder.ts';
import { type MadeSample, MadeSpace, madeInput } from '../../../support/builders/unwind/made-process.ts';
import { madeModule, type UnwoundSample, unwound } from '../../../support/builders/unwind/unwound.ts';
import { randomOf } from '../../../support/programs/path-programs.ts';

const BIAS = 0x4000_0000;
const SP = 0x7fff_0000;
const START = 0x1000;
/** After a direct call of 0x1000; add rsp, 8; ret. */
const OWN = 0x1100;
/** After call *rax; leave; ret. */
const FRAMED = 0x1200;
/** After call *rax; ret. */
const OTHER = 0x1300;

/** The pieces of random code: what functions begin and end with, make room with, branch and call, and bytes that are no code. */
const PIECES = [
  '53',
  '41 54',
  '55 48 89 e5',
  '48 83 ec 18',
  '48 81 ec 00 01 00 00',
  '90',
  '0f 1f 84 00 00 00 00 00',
  'c3',
  'cc cc',
  'eb 05',
  'eb f3',
  '74 07',
  '75 f0',
  'ff e0',
  'ff d0',
  'e8 20 00 00 00',
  'e9 10 00 00 00',
  '48 83 c4 18 5b c3',
  '48 8b 45 f8',
  '00 00 53 00 00 00',
  'f3 0f 1e fa',
];

type Code = Readonly<Record<number, string>>;

const CODE: Code = { 4347: 'e8 00 ff ff ff 48 83 c4 08 c3', 4606: 'ff d0 c9 c3', 4862: 'ff d0 c3' };

/** Code by svma, as an assembler lists it. Elsewhere is INT3. */
async function spaceOf(pieces: Code, machine: UnwindMachine = 'x86_64'): Promise<MadeSpace> {
  const bytes = new Uint8Array(0x1000).fill(0xcc);
  for (const [svma, listing] of Object.entries({ ...CODE, ...pieces })) {
    bytes.set(
      listing.split(' ').map((byte) => Number.parseInt(byte, 16)),
      Number(svma) - START,
    );
  }
  return new MadeSpace().map(BIAS, BIAS + 0x8000, await madeModule(machine, [{ svma: START, bytes }]), BIAS);
}

function frames(...svmas: number[]): string[] {
  return svmas.map((at, i) => `${i > 0 ? '' : '!'}${(BIAS + at).toString(16)}`);
}

describe('x86-64 code without rules that leads to no return', () => {
  const unwind = async (listing: string, pc: number, stack: Readonly<Record<number, number>>, bp = 5): Promise<UnwoundSample> =>
    unwound({ machine: 'x86_64', registers: { ip: BIAS + pc, sp: SP, bp, bx: bp, ax: 1 }, stack }, await spaceOf({ 4096: listing }));
  const caller = (at: number): Record<number, number> => ({ [at]: BIAS + OWN, [at + 16]: BIAS + OTHER, [at + 24]: 0 });

  test.each<[string, string, number, number]>([
    // push rbx; sub rsp, 16; nop; jmp
    ['where it goes round', '53 48 83 ec 10 90 eb fd', 0x1006, 24],
    ['where its stack is still the caller’s', '53 48 83 ec 10 90 eb fd', 0x1000, 0],
    ['in its prologue', '53 48 83 ec 10 90 eb fd', 0x1001, 8],
    // push rbx; jmp *rax; nop; jmp *rax
    ['after a jump through a table', '53 ff e0 90 ff e0', 0x1004, 8],
    // push rbx; jmp 0x1004; nop; nop; jmp 0x1003: a loop whose condition comes after it
    ['in a loop that is entered at its end', '53 eb 01 90 90 eb fc', 0x1005, 8],
    // sub rsp, 8; test eax, eax; je 0x100c; add rsp, 8; jmp to another function; nop; nop; jmp back
    ['after a jump to another function', '48 83 ec 08 85 c0 74 07 48 83 c4 08 eb f2 90 90 eb fd', 0x1010, 8],
    // test eax, eax; jne 0x100b; push rbx; jmp *rax; nop; nop; nop; nop; nop; jmp *rax
    ['at the target of a branch from before it had a frame', '85 c0 75 07 53 ff e0 90 90 90 90 ff e0', 0x100b, 0],
    // push rbx; call *rax; test eax, eax; jne 0x100b; pop rbx; jmp *rax; 2 INT3; jmp 0x100a
    ['after an end of the function, where only later code leads', '53 ff d0 85 c0 75 04 5b ff e0 cc cc eb fc', 0x100c, 8],
    // push rbx; call *rax; pop rbx; jmp *rax; nop; jmp *rax
    ['after an end of the function, where nothing leads', '53 ff d0 5b ff e0 90 ff e0', 0x1007, 8],
    // sub rsp, 8; call *rax; mov eax, edi; push rbx; nop; jmp back
    ['where it pushes an argument after a call and something else', '48 83 ec 08 ff d0 89 f8 53 90 eb fd', 0x100a, 16],
    // push rbx; nop; jmp *rax; sub rsp, 16; call *rax; add rsp, 16; jmp to the NOP
    ['where a case of a switch makes room and jumps back', '53 90 ff e0 48 83 ec 10 ff d0 48 83 c4 10 eb f1', 0x1008, 24],
    // The same with jmp *rax, and with NOP and the jump in the next case
    ['where a case of a switch makes room, and the next one jumps back', '53 90 ff e0 48 83 ec 10 ff d0 48 83 c4 10 ff e0 90 eb ee', 0x1008, 24],
    // sub rsp, 16; jmp *rax; sub rsp, 8; call *rax; add rsp, 24; UD2
    ['where a case of a switch makes room and gives back more', '48 83 ec 10 ff e0 48 83 ec 08 ff d0 48 83 c4 18 0f 0b', 0x100a, 24],
    // push rbp; mov rbp, rsp; sub rsp, rax; jmp *rax; nop; jmp *rax: the frame pointer is 0x40 on
    ['where the stack pointer was moved by an unknown amount', '55 48 89 e5 48 29 c4 ff e0 90 ff e0', 0x100a, 72],
    // push rbx; mov rbx, rsp; and rsp, -16; sub rsp, 32; nop; jmp back: rbx is 0x40 on
    ['where the stack pointer was aligned, and another register keeps what it was', '53 48 89 e3 48 83 e4 f0 48 83 ec 20 90 eb fd', 0x100d, 72],
  ])('finds its caller by the code from its entry on: %s', async (_, listing, pc, at) => {
    expect(await unwind(listing, pc, { 64: 7, ...caller(at) }, SP + 0x40)).toMatchObject({ end: 'complete', frames: frames(pc, OWN, OTHER) });
  });

  test('finds its caller if the frame pointer is a register like any other, and points at a 0 in the frame', async () => {
    // sub rsp, 256; nop; jmp back
    const stack = { 0: 7, 8: 0, 16: 7, ...caller(256) };
    expect(await unwind('48 81 ec 00 01 00 00 90 eb fd', 0x1008, stack, SP + 8)).toMatchObject({ end: 'complete', frames: frames(0x1008, OWN, OTHER) });
  });

  test('finds its caller after it has made a call', async () => {
    // push rbx; NOPs; call 0x1010; and there: push rbx; call *rax; jmp back
    const listing = '53 0f 1f 00 e8 07 00 00 00 cc cc cc cc cc cc cc 53 ff d0 eb fc';
    const stack = { 0: 7, 8: BIAS + 0x1009, 16: 7, ...caller(24) };
    expect(await unwind(listing, 0x1013, stack)).toMatchObject({ end: 'complete', frames: frames(0x1013, 0x1009, OWN, OTHER) });
  });

  test.each<[string, Readonly<Record<number, number>>, readonly number[]]>([
    ['tells a frame from what is left over where the frame pointer points', { 16: SP + 8 }, [0x1040, 0x1007, OWN, OTHER]],
    // Most frames of code that leads nowhere are those of interpreters, which have frame pointers.
    ['believes the frame pointer if it points at another frame', { 16: SP + 0x40, 64: 0 }, [0x1040, 0x1007, OTHER]],
  ])('%s', async (_, changes, expected) => {
    // push rbx; sub rsp, 64; call *rax twice; add rsp, 64; pop rbx; ret
    const space = await spaceOf({ 4096: '53 48 83 ec 40 ff d0 ff d0 48 83 c4 40 5b c3', 4160: 'c3' });
    const stack = { 0: BIAS + 0x1007, 24: BIAS + OTHER, 32: 0, ...caller(80), ...changes };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1040, sp: SP, bp: SP + 16 }, stack }, space);
    expect(result).toMatchObject({ end: 'complete', frames: frames(...expected) });
  });

  test('tells a frame from what another function would return to, if a call does not return', async () => {
    // push rbx; sub rsp, 16; call *rax; call *rax; and the other function: ret
    const space = await spaceOf({ 4096: '53 48 83 ec 10 ff d0 ff d0 c3', 4160: 'c3' });
    const stack = { 0: BIAS + 0x1007, 8: 0, ...caller(32) };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1040, sp: SP, bp: 5 }, stack }, space);
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1040, 0x1007, OWN, OTHER) });
  });

  test('tells a frame from what a function before it in the file has left there', async () => {
    // ret; and the other function: push rbx; sub rsp, 64; call *rax twice; add rsp, 64; pop rbx; ret
    const space = await spaceOf({ 4096: 'c3 53 48 83 ec 40 ff d0 ff d0 48 83 c4 40 5b c3', 4160: 'c3' });
    const stack = { 0: BIAS + 0x1008, 16: SP + 0x40, 24: BIAS + OWN, 64: 0, 80: BIAS + OTHER, 88: 0 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1040, sp: SP, bp: SP + 16 }, stack }, space);
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1040, 0x1008, OTHER) });
  });

  test('also tells entries apart at the large addresses of prelinked libraries', async () => {
    const start = 0x3a_0000_0000;
    // push rax; push rbx; NOPs; jmp back; and calls of the first and of the second
    const bytes = new Uint8Array(0x100).fill(0xcc);
    bytes.set([0x50, 0x53, 0x90, 0x90, 0xeb, 0xfd], 0x10);
    bytes.set([0xe8, 0x90, 0xff, 0xff, 0xff, 0xc3], 0x7b);
    bytes.set([0xe8, 0x71, 0xff, 0xff, 0xff, 0xc3], 0x9b);
    const space = new MadeSpace().map(start, start + 0x100, await madeModule('x86_64', [{ svma: start, bytes }]));
    const stack = { 0: start + 0xa0, 8: 7, 16: start + 0x80, 24: 0 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: start + 0x14, sp: SP, bp: 5 }, stack }, space);
    expect(result).toMatchObject({ end: 'complete', frames: ['!3a00000014', '3a00000080'] });
  });

  test('gives its callers the registers that it saved', async () => {
    // push rbp; mov ebp, 5 (or mov rbp, rdi); jmp *rax; nop; jmp *rax
    const stack = { 0: SP + 0x20, 8: BIAS + OWN, 24: BIAS + FRAMED, 32: 0, 40: BIAS + OTHER, 48: 0 };
    for (const [listing, pc] of [
      ['55 bd 05 00 00 00 ff e0 90 ff e0', 0x1009],
      ['55 48 89 fd ff e0 90 ff e0', 0x1007],
    ] as const) {
      expect(await unwind(listing, pc, stack)).toMatchObject({ end: 'complete', frames: frames(pc, OWN, FRAMED, OTHER) });
    }
  });

  test('gives its callers the registers that it saved for what it calls, until it restores them', async () => {
    const stack = { 0: SP + 0x20, 8: BIAS + OWN, 24: BIAS + FRAMED, 32: 0, 40: BIAS + OTHER, 48: 0 };
    const start = 0x1000;
    // push rbp; call *rax; jmp *rax: what was called has changed rbp, although C's functions do not.
    expect(await unwind('55 ff d0 ff e0', start + 3, stack)).toMatchObject({ end: 'complete', frames: frames(start + 3, OWN, FRAMED, OTHER) });
    // push rbx; push rbp; pop rbp; jmp *rax; nop; jmp *rax
    const result = await unwind('53 55 5d ff e0 90 ff e0', start + 6, { ...stack, 0: 7 }, SP + 0x20);
    expect(result).toMatchObject({ end: 'complete', frames: frames(start + 6, OWN, FRAMED, OTHER) });
  });

  test('does not take a word elsewhere for its return address', async () => {
    const stack = { 0: BIAS + OWN, 8: 7, 16: BIAS + OWN, ...caller(24) };
    expect(await unwind('53 48 83 ec 10 90 eb fd', 0x1006, stack)).toMatchObject({ end: 'complete', frames: frames(0x1006, OWN, OTHER) });
  });

  test.each<[string, string, number]>([
    // sub rsp, 8; call *rax; add rsp, 8; ret; and the other function: push rbx; call *rax; jmp back
    ['a return', '48 83 ec 08 ff d0 48 83 c4 08 c3 53 ff d0 eb fc', 0x100e],
    // The same with a call that does not return, and NOPs
    ['a call', '48 83 ec 08 ff d0 66 90 0f 1f 00 53 ff d0 eb fc', 0x100e],
    // sub rsp, 8; call *rax; add rsp, 8; ret; a function that goes round: nop; jmp back; and another: push rbx; call *rax; pop rbx; jmp to the one before
    ['a jump, if it goes on as a function in between', '48 83 ec 08 ff d0 48 83 c4 08 c3 90 eb fd 53 ff d0 5b eb f7', 0x1011],
  ])('is not taken for part of the function before it, after %s', async (_, listing, returnAddress) => {
    const space = await spaceOf({ 4096: listing, 4160: 'c3' });
    const stack = { 0: BIAS + returnAddress, 8: 7, 16: 7, ...caller(24) };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1040, sp: SP, bp: 5 }, stack }, space);
    expect(result).toMatchObject({ end: 'no-rule', frames: frames(0x1040, returnAddress) });
  });

  const FILLED_BY_NOPS = `48 83 ec 28 ff d0 eb fc ${'90 '.repeat(56)}`;
  test.each<[string, string, string]>([
    // sub rsp, 40; call *rax; jmp back; NOPs; and the function: sub rsp, 24; xor ebx, ebx; call *rax; NOP; add rsp, 24; ret
    ['if only one NOP follows its call', FILLED_BY_NOPS, '48 83 ec 18 31 db ff d0 90 48 83 c4 18 c3'],
    // The same with xor eax, eax, and a NOP of 7 bytes before the call: other functions may begin behind it
    ['if it gives back what it has made and returns', FILLED_BY_NOPS, '48 83 ec 18 31 c0 0f 1f 80 00 00 00 00 ff d0 90 48 83 c4 18 c3'],
    // sub rsp, 40; call *rax; NOP; INT3s; and the same with xor ebx, ebx
    ['after INT3s, although it changes a register', '48 83 ec 28 ff d0 90', '48 83 ec 18 31 db 0f 1f 80 00 00 00 00 ff d0 90 48 83 c4 18 c3'],
  ])('is not taken for part of the function before it: %s', async (_, before, listing) => {
    const returnAddress = 0x1040 + listing.split(' ').indexOf('ff') + 2;
    // The function was called through a pointer. The leaf returns: ret
    const space = await spaceOf({ 4096: before.trim(), 4160: listing, 4224: 'c3' });
    const stack = { 0: BIAS + returnAddress, 32: BIAS + OTHER, 40: 0, 72: BIAS + OWN, 88: 0 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1080, sp: SP, bp: 5 }, stack }, space);
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1080, returnAddress, OTHER) });
  });

  test('is not taken for part of the function before it at its first instruction', async () => {
    // INT3; sub rsp, 8; call *rax; NOP; INT3s. The function: sub rsp, 24; NOPs; call *rax; NOP, up to where functions are aligned; add rsp, 24; ret
    const space = await spaceOf({ 4112: '48 83 ec 08 ff d0 90', 4160: '48 83 ec 18 0f 1f 84 00 00 00 00 00 90 ff d0 90 48 83 c4 18 c3' });
    const stack = { 0: BIAS + OTHER, 8: BIAS + OTHER, 16: 0 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1040, sp: SP, bp: 5 }, stack }, space);
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1040, OTHER, OTHER) });
  });

  const PUSHED = '53 90 eb fd';
  test.each<[string, string, string, number]>([
    // Its code goes round: nop; jmp
    ['pushes a register after a return', '90 90 c3', PUSHED, 8],
    ['pushes a register after INT3', 'cc', PUSHED, 8],
    ['pushes a later register', 'cc', '41 54 90 eb fd', 8],
    ['is aligned, after a NOP', '90 '.repeat(16), PUSHED, 8],
    ['is aligned, after a longer NOP', '0f 1f 84 00 00 00 00 00 0f 1f 84 00 00 00 00 00', PUSHED, 8],
    ['is aligned, after the zeros between two sections', '00 '.repeat(16), PUSHED, 8],
    ['comes after a jump', 'eb fe', PUSHED, 8],
    ['comes after a far jump', 'e9 fb ff ff ff', PUSHED, 8],
    ['comes after a call', 'e8 fb ff ff ff', PUSHED, 8],
    // sub rsp, 24; mov rax, 0x53c3: among its bytes are those of ret; push rbx
    ['has other bytes that look like it', 'cc', '48 83 ec 18 48 c7 c0 c3 53 00 00 90 eb fd', 24],
    // push rbx; jmp *rax; and its cases: ENDBR64
    ['has cases that look like it', 'cc '.repeat(16), `53 ff e0 ${'90 '.repeat(13)}${`f3 0f 1e fa ${'90 '.repeat(12)}`.repeat(6)}90 eb fd`, 8],
    ['begins with ENDBR64', 'cc', 'f3 0f 1e fa 53 90 eb fd', 8],
    // mov rcx, a number of 64 bits; mov eax, edi
    ['does something else first', 'cc', '48 b9 01 02 03 04 05 06 07 08 89 f8 53 90 eb fd', 8],
    ['makes room', 'cc', '48 83 ec 18 90 eb fd', 24],
    ['makes much room', 'cc', '48 81 ec 00 01 00 00 90 eb fd', 256],
  ])('finds its caller, which called through a pointer, if it %s', async (_, before, listing, at) => {
    const [first, own] = [before.trim(), listing.split(' ')];
    const pc = START + first.split(' ').length + own.length - 2;
    const result = await unwind(`${first} ${listing}`, pc, { [at]: BIAS + OTHER, [at + 8]: 0 });
    expect(result).toMatchObject({ end: 'complete', frames: frames(pc, OTHER) });
  });

  test('finds its caller, which called another function that went on as this one', async () => {
    // call of 0x1f00; ret
    const space = await spaceOf({ 4096: 'cc 53 90 eb fd', 4987: 'e8 80 0b 00 00 c3' });
    const stack = { 8: BIAS + 0x1380, 16: BIAS + OTHER, 24: 0 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1003, sp: SP, bp: 5 }, stack }, space);
    expect(result).toMatchObject({ end: 'complete', frames: frames(0x1003, 0x1380, OTHER) });
  });

  test.each<[string, Code, number, readonly number[]]>([
    ['by a direct call of it', { 4987: 'e8 90 fc ff ff c3' }, 0x1380, [0x1380, OTHER]],
    // jmp *[rip]; ENDBR64; bnd jmp *[rip]
    ['by a call of a stub of the PLT', { 7936: 'ff 25 00 10 00 00' }, 0x1380, [0x1380, OTHER]],
    ['by a call of such a stub with a prefix', { 7936: 'f2 ff 25 00 10 00 00' }, 0x1380, [0x1380, OTHER]],
    ['by a call of such a stub with ENDBR64', { 7936: 'f3 0f 1e fa ff 25 00 10 00 00' }, 0x1380, [0x1380, OTHER]],
    ['by a call of such a stub with both', { 7936: 'f3 0f 1e fa f2 ff 25 00 10 00 00' }, 0x1380, [0x1380, OTHER]],
    // Such words are left over on many stacks, so that the frame pointer is believed.
    ['not by a call through a pointer', {}, OTHER, [FRAMED]],
    ['not by a call of another function', {}, 0x1380, [FRAMED]],
  ])('is told from code that keeps a frame pointer: %s', async (_, pieces, returnAddress, expected) => {
    // push rbx; nop; jmp back; and call of 0x1f00; ret. The frame pointer is that of the caller's caller.
    const space = await spaceOf({ 4112: '53 90 eb fd', 4987: 'e8 80 0b 00 00 c3', ...pieces });
    const stack = { 0: 7, 8: BIAS + returnAddress, 16: BIAS + OTHER, 24: 0, 64: 0, 72: BIAS + FRAMED, 80: 0 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1012, sp: SP, bp: SP + 64 }, stack }, space);
    expect(result.frames.slice(0, expected.length + 1)).toEqual(frames(0x1012, ...expected));
  });

  test.each([
    [0xfff0, 'complete'],
    [0x10010, 'no-rule'],
  ])('is matched with called functions up to 64 KB before it: %s bytes, %s', async (distance, end) => {
    // push rbx; NOPs; jmp back; and a call of that; ret
    const bytes = new Uint8Array(0x11100).fill(0x90);
    bytes[0] = 0x53;
    bytes.set([0xeb, 0xfd], 0x10020);
    bytes.set([0xe8, 0xfb, 0xef, 0xfe, 0xff, 0xc3], 0x11000);
    const space = new MadeSpace().map(BIAS, BIAS + 0x20000, await madeModule('x86_64', [{ svma: START, bytes }]), BIAS);
    const stack = { 0: 7, 8: BIAS + START + 0x11005, 16: 0 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + START + distance, sp: SP, bp: 5 }, stack }, space);
    expect([result.end, result.frames.length]).toEqual([end, end === 'complete' ? 2 : 1]);
  });

  test.each<[string, Code]>([
    ['directly', { 4987: 'e8 90 fc ff ff c3' }],
    ['through a stub of the PLT', { 4987: 'e8 80 0b 00 00 c3', 7936: 'ff 25 00 10 00 00' }],
  ])('called %s, keeps a frame pointer if its frame would otherwise reach beyond the record there', async (_, calls) => {
    // sub rsp, 88; nop; jmp back
    const space = await spaceOf({ 4112: '48 83 ec 58 90 eb fd', ...calls });
    const stack = { 0: 7, 64: 0, 72: BIAS + FRAMED, 88: BIAS + 0x1380 };
    const at = { ip: BIAS + 0x1015, sp: SP };
    const framed = await unwound({ machine: 'x86_64', registers: { ...at, bp: SP + 64 }, stack }, space);
    expect(framed.frames).toEqual(frames(0x1015, FRAMED));
    const unframed = await unwound({ machine: 'x86_64', registers: { ...at, bp: 5 }, stack }, space);
    expect(unframed.frames).toEqual(frames(0x1015, 0x1380));
  });

  test.each<[string, string, number]>([
    ['its beginning is not known', '90 90 48 ff c0 90 eb fd', OTHER],
    ['a register is pushed after other code', '48 ff c0 53 90 eb fd', OTHER],
    ['it is not aligned after a NOP', '90 90 53 90 eb fd', OTHER],
    ['there are fewer zeros before it than between sections', `${'48 '.repeat(9)}${'00 '.repeat(7)}53 90 eb fd`, OTHER],
    ['there is no return address', 'cc 53 90 eb fd', OTHER + 1],
    // Four times mov eax, edi
    ['room is made after other code', 'cc 89 f8 89 f8 89 f8 89 f8 53 90 eb fd', OTHER],
  ])('does not find its caller if %s', async (_, listing, returnAddress) => {
    const pc = START + listing.split(' ').length - 2;
    const result = await unwind(listing, pc, { 8: BIAS + returnAddress, 16: 0 });
    expect(result).toMatchObject({ end: 'no-rule', frames: frames(pc) });
  });

  test('does not find its caller if no room is made on the stack', async () => {
    // nop; call *rax; jmp back; and the other function: ret
    const space = await spaceOf({ 4096: 'cc 90 ff d0 eb fc', 4160: 'c3' });
    const stack = { 0: BIAS + 0x1004, 8: BIAS + OTHER, 16: 0 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1040, sp: SP, bp: 5 }, stack }, space);
    expect(result).toMatchObject({ end: 'no-rule', frames: frames(0x1040, 0x1004) });
  });

  test.each([
    [0x3ff0, 'complete'],
    [0x4010, 'no-rule'],
  ])('finds its caller if it begins at most 16 KB before: %s bytes, %s', async (distance, end) => {
    // push rbx; NOPs; jmp back; and a call by a pointer; ret
    const start = 0x10_0000;
    const bytes = new Uint8Array(0x6000).fill(0xcc);
    bytes.fill(0x90, 0x101, 0x5000);
    bytes[0x100] = 0x53;
    bytes.set([0xeb, 0xfd], 0x5000);
    bytes.set([0xff, 0xd0, 0xc3], 0x5100);
    const space = new MadeSpace().map(BIAS, BIAS + 0x20_0000, await madeModule('x86_64', [{ svma: start, bytes }]), BIAS);
    const stack = { 8: BIAS + start + 0x5102, 16: 0 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + start + 0x100 + distance, sp: SP, bp: 5 }, stack }, space);
    expect([result.end, result.frames.length]).toEqual([end, end === 'complete' ? 2 : 1]);
  });

  test.each([
    ['holds anything', 5],
    ['is 0, as at the program’s start', 0],
  ])('is truncated if the dump ends before its return address, also where the frame pointer %s', async (_, bp) => {
    // push rbx; call *rax; jmp back; and the other function: ret
    const space = await spaceOf({ 4096: 'cc 53 ff d0 eb fc', 4160: 'c3' });
    const stack = { 0: BIAS + 0x1004, 8: 7 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1040, sp: SP, bp }, stack }, space);
    expect(result).toMatchObject({ end: 'truncated', endStackOffset: 24, frames: frames(0x1040, 0x1004) });
  });

  test.each<[string, string, number, Readonly<Record<number, number>>]>([
    // sub rsp, 256: larger than what is looked through for a return address after a call of the function
    ['a direct call', '48 81 ec 00 01 00 00 90 eb fd', 0x1008, caller(256)],
    ['a call through a pointer', 'cc 53 90 eb fd', 0x1003, { 8: BIAS + OTHER, 16: 0 }],
  ])('no longer finds its caller by %s once reading its file has taken too long', async (_, listing, pc, stack) => {
    for (const [before, end] of [
      [0, 'complete'],
      [2 ** 16, 'no-rule'],
    ] as const) {
      const space = await spaceOf({ 4096: listing });
      space.find(BIAS + START);
      space.module!.code.effort.enteredInstructions = before;
      expect((await unwound({ machine: 'x86_64', registers: { ip: BIAS + pc, sp: SP, bp: 5 }, stack }, space)).end).toBe(end);
    }
  });

  test.each([
    ['after', 2 ** 16, 'complete'],
    ['but only for so long after', 2 ** 16 + 2 ** 14, 'no-rule'],
    ['but never for longer than seconds after', 2 ** 22, 'no-rule'],
  ] as const)('finds its caller in a file that was read for long, %s another was found there', async (_, now, end) => {
    const space = await spaceOf({ 4096: 'cc 53 90 eb fd' });
    space.find(BIAS + START);
    const { code } = space.module!;
    // Frames that were found without reading more do not count.
    for (const readAtFrame of now === 2 ** 22 ? Array.from({ length: 1000 }, (_, i) => 1 + i) : [1, 1, 1]) {
      code.effort.enteredInstructions = readAtFrame;
      code.effort.noteEnteredFrame();
    }
    code.effort.enteredInstructions = now;
    const stack = { 8: BIAS + OTHER, 16: 0 };
    expect((await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1003, sp: SP, bp: 5 }, stack }, space)).end).toBe(end);
  });

  test('does not find its caller below its stack, where a frame pointer that it has not set may point', async () => {
    // push rbp; mov rbp, rsp; sub rsp, rax; call *rax; jmp back; and the other function: ret
    const space = await spaceOf({ 4096: 'cc 55 48 89 e5 48 29 c4 ff d0 eb fc', 4160: 'c3' });
    const stack = { 0: BIAS + 0x100a, 8: 7, 16: 7 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1040, sp: SP, bp: SP - 8 }, stack }, space);
    expect(result).toMatchObject({ end: 'no-rule', frames: frames(0x1040, 0x100a) });
  });

  test.each([
    [30, 'complete'],
    [34, 'no-rule'],
  ] as const)('is followed in a limited number of frames: after %s others, the stack is %s', async (count, end) => {
    // push rbx; NOPs; call *rax; jmp; twice: the first one, after NOPs, is found only by the direct call of it.
    const space = await spaceOf({ 4096: '90 90 90 90 90 90 90 90 53 90 90 90 ff d0 eb fc', 4112: '53 90 90 90 ff d0 eb fc', 4160: 'c3' });
    const stack: Record<number, number> = { 40960: 0 };
    for (let i = 0; i < count; i++) stack[16 * i] = BIAS + 0x1016;
    Object.assign(stack, { [16 * count]: BIAS + 0x100e, ...caller(16 * count + 16) });
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1040, sp: SP, bp: 5 }, stack }, space);
    expect([result.end, result.frames.length]).toEqual([end, count + (end === 'complete' ? 4 : 2)]);
  });

  test('is read only once', async () => {
    const space = await spaceOf({ 4096: '53 48 83 ec 10 90 eb fd' });
    const unwinder = new Unwinder();
    const input = madeInput({ machine: 'x86_64', registers: { ip: BIAS + 0x1006, sp: SP, bp: 5 }, stack: caller(24) });
    for (let reads = 0; unwinder.unwind(input, space) === 'pending' && reads < 10; reads++) await unwinder.endModule?.readWanted();
    expect(unwinder.end).toBe('complete');
    const { module } = space;
    const before = module?.code.effort.enteredInstructions;
    expect(before).toBeGreaterThan(0);
    unwinder.unwind(input, space);
    expect(module?.code.effort.enteredInstructions).toBe(before);
  });

  test.each([0x1400, 0x14ff, 0x1500])('finds its caller, wherever it begins: %s', async (entry) => {
    // push rbx; nop; jmp back. Before it is INT3.
    const space = await spaceOf({ [entry]: '53 90 eb fd' });
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + entry + 1, sp: SP, bp: 5 }, stack: { 8: BIAS + OTHER, 16: 0 } }, space);
    expect(result).toMatchObject({ end: 'complete', frames: frames(entry + 1, OTHER) });
  });

  test('finds its caller even after a look-up where no instruction begins', async () => {
    // sub rsp, 16; nop; jmp back
    const space = await spaceOf({ 5120: '48 83 ec 10 90 eb fd' });
    const unwindAt = (pc: number): Promise<UnwoundSample> =>
      unwound({ machine: 'x86_64', registers: { ip: BIAS + pc, sp: SP, bp: 5 }, stack: { 16: BIAS + OTHER, 24: 0 } }, space);
    expect(await unwindAt(0x1402)).toMatchObject({ end: 'no-rule' });
    expect(await unwindAt(0x1404)).toMatchObject({ end: 'complete', frames: frames(0x1404, OTHER) });
  });

  test.each([1, 2, 3])('gives the same frames in whatever order its addresses are looked up: code %s', async (seed) => {
    const random = randomOf(seed);
    const pieces = Array.from({ length: 400 }, () => PIECES[Math.floor(random() * PIECES.length)]);
    const code: Code = { [START]: pieces.join(' ').slice(0, 3 * 0xb00 - 1) };
    const shared = await spaceOf(code);
    const stack = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [8 * i, BIAS + [OTHER, OWN, 7][Math.floor(random() * 3)]]));
    const ends = new Set<string>();
    for (let i = 0; i < 100; i++) {
      const ip = BIAS + START + Math.floor(random() * 0xb00);
      const sample: MadeSample = { machine: 'x86_64', registers: { ip, sp: SP, bp: 5 }, stack };
      const alone = await unwound(sample, await spaceOf(code));
      expect(await unwound(sample, shared)).toEqual(alone);
      ends.add(alone.frames.join());
    }
    // Most are unwound, and differ.
    expect(ends.size).toBeGreaterThan(50);
  });

  test('does not count against the limit on following code to its returns, even if much of it is read', async () => {
    const space = await spaceOf({ 7936: '90 90 eb fd' });
    const stack = { 0: 7, 8: 7 };
    expect((await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1f02, sp: SP, bp: 5 }, stack }, space)).end).toBe('no-rule');
    expect(space.module?.code.effort.enteredInstructions).toBeGreaterThan(0xc00);
    expect(space.module?.code.effort.scannedInstructions).toBeLessThan(0x10);
  });
});

describe('i386 code without rules that leads to no return', () => {
  /** After a direct call of 0x1000; add esp, 4; ret. After a call through a pointer; ret. */
  const CALLERS: Code = { 4347: 'e8 00 ff ff ff 83 c4 04 c3' };
  const unwind = async (code: Code, pc: number, stack: Readonly<Record<number, number>>, bp = 5): Promise<UnwoundSample> =>
    unwound({ machine: 'i386', registers: { ip: BIAS + pc, sp: SP, bp, ax: 1 }, stack }, await spaceOf({ ...CALLERS, ...code }, 'i386'));
  const caller = (at: number): Record<number, number> => ({ [at]: BIAS + OWN, [at + 8]: BIAS + OTHER, [at + 12]: 0 });

  test.each<[string, string, number, number]>([
    // push ebx; sub 8, esp; nop; jmp back
    ['where it goes round', '53 83 ec 08 90 eb fd', 0x1005, 12],
    ['in its prologue', '53 83 ec 08 90 eb fd', 0x1001, 4],
    // push ebx; sub 12, esp; push 5; call *eax; sub 12, esp; push 6; nop; jmp back
    ['where it pushes arguments right after a call', '53 83 ec 0c 6a 05 ff d0 83 ec 0c 6a 06 90 eb fd', 0x100e, 36],
    // sub 12, esp; call 0x1020, which pops 4 bytes; nop; jmp back
    ['after a call that pops an argument', `83 ec 0c e8 18 00 00 00 90 eb fd ${'cc '.repeat(21)}c2 04 00`, 0x1009, 8],
    // push ebx; test eax, eax; je to the nop; sub 12, esp; push 5; call *eax; nop; jmp back
    ['after a call that does not return, whose arguments are still there', '53 85 c0 74 07 83 ec 0c 6a 05 ff d0 90 eb fd', 0x100d, 4],
    // push ebp; mov esp, ebp; sub eax, esp; nop; jmp back: the frame pointer is 0x40 on
    ['where the stack pointer was moved by an unknown amount', '55 89 e5 29 c4 90 eb fd', 0x1006, 68],
  ])('finds its caller by the code from its entry on: %s', async (_, listing, pc, at) => {
    expect(await unwind({ 4096: listing }, pc, { 64: 7, ...caller(at) }, SP + 0x40)).toMatchObject({ end: 'complete', frames: frames(pc, OWN, OTHER) });
  });

  test('is not taken for part of the function before it, if that ends in a call and padding', async () => {
    // sub 8, esp; call *eax; lea 0(esi), esi, and padding; push ebx; call *eax; jmp back. The leaf is at 0x1040.
    const code = { 4096: '83 ec 08 ff d0 8d 76 00 53 ff d0 eb fc', 4160: 'c3' };
    const result = await unwind(code, 0x1040, { 0: BIAS + 0x100b, 4: 7, 8: 7, ...caller(12) });
    expect(result).toMatchObject({ end: 'no-rule', frames: frames(0x1040, 0x100b) });
  });

  test.each<[string, string, number]>([
    ['only ecx', '8b 0c 24 c3', 2],
    ['eax', '8b 04 24 c3', 0],
  ])('makes room by eax after it has called a function that changes %s', async (_, thunk, callers) => {
    // push ebx; mov eax, 76; call 0x1080 (mov (esp), a register; ret); sub esp, eax; nop; jmp back
    const code = { 4096: '53 b8 4c 00 00 00 e8 75 00 00 00 29 c4 90 eb fd', 4224: thunk };
    const result = await unwind(code, 0x100e, caller(80));
    expect(result.frames).toEqual(frames(0x100e, OWN, OTHER).slice(0, 1 + callers));
  });

  test.each<[string, string, string]>([
    ['comes after a return', 'c3', '53 90 eb fd'],
    ['comes after a return that pops an argument', 'c2 04 00', '53 90 eb fd'],
    ['comes after a jump', 'e9 fb ff ff ff', '53 90 eb fd'],
    ['is aligned, after LEA of a register to itself', '90 90 90 90 90 90 90 90 90 8d b4 26 00 00 00 00', '53 90 eb fd'],
    ['begins with ENDBR32', 'cc', 'f3 0f 1e fb 53 90 eb fd'],
  ])('finds its caller, which called through a pointer, if it %s', async (_, before, listing) => {
    const pc = START + `${before} ${listing}`.split(' ').length - 2;
    const result = await unwind({ 4096: `${before} ${listing}` }, pc, { 4: BIAS + OTHER, 8: 0 });
    expect(result).toMatchObject({ end: 'complete', frames: frames(pc, OTHER) });
  });

  test('does not begin where an argument is pushed right after a call', async () => {
    // call 0x1100; push ebx; nop; jmp back
    const result = await unwind({ 4096: '90 e8 fa 00 00 00 53 90 eb fd' }, 0x1008, { 4: BIAS + OTHER, 8: 0 });
    expect(result).toMatchObject({ end: 'no-rule', frames: frames(0x1008) });
  });

  test.each<[string, string]>([
    ['jmp *n', 'ff 25 00 90 04 08'],
    ['jmp *n(ebx)', 'ff a3 0c 00 00 00'],
    ['endbr32; jmp *n', 'f3 0f 1e fb ff 25 00 90 04 08'],
    ['endbr32; jmp *n(ebx)', 'f3 0f 1e fb ff a3 0c 00 00 00'],
  ])('is told from code that keeps a frame pointer by a call of a stub of the PLT: %s', async (_, stub) => {
    // push ebx; nop; jmp back; and call of 0x1f00; ret. The frame pointer is that of the caller's caller.
    const code = { 4112: '53 90 eb fd', 4987: 'e8 80 0b 00 00 c3', 7936: stub };
    const stack = { 0: 7, 4: BIAS + 0x1380, 8: BIAS + OTHER, 12: 0, 64: 0, 68: BIAS + FRAMED, 72: 0 };
    const result = await unwind(code, 0x1012, stack, SP + 64);
    expect(result.frames.slice(0, 3)).toEqual(frames(0x1012, 0x1380, OTHER));
  });
});
