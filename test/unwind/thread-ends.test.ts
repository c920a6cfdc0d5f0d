import { expect, test } from 'vitest';
import type { UnwindMachine } from '../../src/unwind/machines/unwind-machine.ts';
import { readUnwindModule } from '../../src/unwind/modules/unwind-module.ts';
import { BIAS, frames, SP, START, space } from '../support/builders/unwind/code-without-rules.ts';
import { assembleFrames, CfaCode, type PlannedCie } from '../support/builders/unwind/frame-assembler.ts';
import { MadeSpace } from '../support/builders/unwind/made-process.ts';
import { madeElf, madeModule, unwound } from '../support/builders/unwind/unwound.ts';
import { CIE, code, fde } from '../support/builders/unwind/x86-64-functions.ts';

test.each<[string, { readonly top?: number; readonly ax?: number; readonly dx?: number; readonly si?: number; readonly opcode?: number }, string]>([
  ['is complete in a thread that comes back from clone', { top: 0x1800 }, 'complete'],
  ['is complete in a thread that comes back from clone3', { ax: 0, dx: 0x1800 }, 'complete'],
  ['ends if there is no function on top of the stack', { top: 0x1801, ax: 0, dx: 0x17ff }, 'no-rule'],
  ['ends in the thread that called clone3', { ax: 4711, dx: 0x1800 }, 'no-rule'],
  ['ends if another system call has returned 0', { ax: 0, dx: 0x1800, si: 4711 }, 'no-rule'],
  ['ends if the size of the arguments is invalid', { ax: 0, dx: 0x1800, si: 90 }, 'no-rule'],
  ['ends if there was no system call', { top: 0x1800, ax: 0, dx: 0x1800, opcode: 0x90 }, 'no-rule'],
])('x86-64 code without a rule %s', async (_name, { top = 1, ax = 1, dx = 1, si = 88, opcode = 0x0f }, end) => {
  const cie: PlannedCie = { returnAddress: 16, code: new CfaCode().defCfa(7, 8).offset(16, 1) };
  const { bytes } = assembleFrames([[cie, [{ start: 0x1800, sizeBytes: 0x100, code: new CfaCode() }]]], { addr: 0x4000 });
  const text = new Uint8Array(0x1000).fill(0x90);
  text.set([opcode, 0x05], 0x20);
  const module = await madeModule('x86_64', [{ svma: START, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x4000, content: bytes }]);
  const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
  const result = await unwound(
    { machine: 'x86_64', registers: { ip: BIAS + 0x1022, sp: SP, bp: 0, ax, dx: BIAS + dx, si }, stack: { 0: BIAS + top, 8: 7 } },
    mapped,
  );
  expect(result).toMatchObject({ end, frames: frames(0x1022) });
});

test.each<[string, UnwindMachine, readonly number[]]>([
  ['Go', 'x86_64', [0xbf, 0x6f, 0, 0, 0, 0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05]],
  ['Go', 'i386', [0xe8, 1, 2, 3, 4, 0xc7, 0x05, 0x05, 0x10, 0, 0, 0x34, 0x12, 0, 0]],
  ['a sanitizer', 'x86_64', [0x48, 0x89, 0xc7, 0x48, 0xc7, 0xc0, 0x3c, 0, 0, 0, 0x0f, 0x05]],
  ['musl', 'x86_64', [0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05]],
  ['musl', 'i386', [0x89, 0xc3, 0x31, 0xc0, 0x40, 0xcd, 0x80]],
])('a stack of %s is complete where its thread ends, even if a rule leads on: %s', async (_, machine, end) => {
  const is64 = machine === 'x86_64';
  const [bias, sp, addressSize] = is64 ? [BIAS, SP, 8 as const] : [0x800_0000, 0xbf00_0000, 4 as const];
  const cie = is64 ? CIE : { returnAddress: 8, dataAlignment: -4, code: code().defCfa(4, 4).offset(8, 1) };
  const found = [`!${(bias + 0x1010).toString(16)}`, (bias + 0x1110).toString(16)];
  const madeSpace = async (bytes: readonly number[], cfaOffset: number): Promise<MadeSpace> => {
    const functions = [fde(0x1000, code().defCfaOffset(2 * addressSize)), fde(0x1100, code().defCfaOffset(cfaOffset))];
    const content = assembleFrames([[cie, functions]], { addr: 0x3000, addressSize }).bytes;
    const elf = await madeElf(machine, [{ svma: 0x110f, bytes: Uint8Array.of(0x90, ...bytes) }], [{ name: '.eh_frame', flags: 2, addr: 0x3000, content }]);
    return new MadeSpace().map(bias, bias + 0x10000, await readUnwindModule(elf), bias);
  };
  for (const [bytes, expected] of [
    [end, 'complete'],
    [[...end.slice(0, -1), 0x06], 'truncated'],
  ] as const) {
    const made = await madeSpace(bytes, 2 * addressSize);
    const stack = { [addressSize]: bias + 0x1110 };
    const result = await unwound({ machine, registers: { ip: bias + 0x1010, sp }, stack }, made);
    expect(result).toMatchObject({ end: expected, frames: found });
    // The rule leads back to the same frame, like that of musl's `clone`, which pops its argument.
    const back = await unwound({ machine, registers: { ip: bias + 0x1010, sp }, stack }, await madeSpace(bytes, 0));
    expect(back).toMatchObject({ end: expected === 'complete' ? expected : 'bad-frame', frames: found });
    const beyond = await unwound({ machine, registers: { ip: bias + 0x1010, sp }, stack: { ...stack, [3 * addressSize]: 0x1234 } }, made);
    expect(beyond).toMatchObject({ end: expected === 'complete' ? expected : 'unmapped', frames: found });
  }
});

test.each<[UnwindMachine, string, readonly number[]]>([
  ['i386', 'complete', [0x89, 0xc3, 0x31, 0xc0, 0x40, 0xcd, 0x80, 0xf4]],
  ['i386', 'no-rule', [0x89, 0xc3, 0x31, 0xc0, 0x48, 0xcd, 0x80, 0xf4]],
  ['x86_64', 'complete', [0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05, 0xf4]],
  ['x86_64', 'no-rule', [0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3d, 0x0f, 0x05, 0xf4]],
])('%s code without rules: the stack is %s where a thread returns to what does or does not end it', async (machine, end, piece) => {
  const [bias, sp] = [0xf000_0000, 0xfff0_1000];
  // ret; what follows the call of the thread's function.
  const mapped = await space(machine, { 4112: [0xc3], 5118: [0xff, 0xd0], 5120: piece }, 0x90, bias);
  const result = await unwound({ machine, registers: { ip: bias + 0x1010, sp, bp: 3 }, stack: { 0: bias + 0x1400, 8: 7 } }, mapped);
  expect(result).toMatchObject({ end, frames: ['!f0001010', 'f0001400'] });
});
