import { expect, test } from 'vitest';
import type { UnwindMachine } from '../../src/unwind/machines/unwind-machine.ts';
import { CfaCode } from '../support/builders/unwind/frame-assembler.ts';
import { MadeSpace } from '../support/builders/unwind/made-process.ts';
import { moduleOf, unwound } from '../support/builders/unwind/unwound.ts';

const BIAS = 0x4000_0000;
const SP = 0x7fff_0000;

/** Registers in the order of their DWARF numbers, by the names of perf's bits. Sources: the psABIs. */
const REGISTERS: readonly (readonly [machine: UnwindMachine, returnAddress: number, names: readonly string[]])[] = [
  ['x86_64', 16, 'ax dx cx bx si di bp sp r8 r9 r10 r11 r12 r13 r14 r15'.split(' ')],
  ['i386', 8, 'ax cx dx bx sp bp si di'.split(' ')],
  ['aarch64', 30, Array.from({ length: 30 }, (_, i) => `x${i}`)],
  ['riscv64', 1, 'zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6'.split(' ')],
];
const CASES = REGISTERS.flatMap(([machine, returnAddress, names]) =>
  names.flatMap((name, number) => (name === 'zero' || name === 'sp' || number === returnAddress ? [] : [[machine, returnAddress, name, number] as const])),
);

test.each(CASES)('%s rules that have the return address in column %i find %s by number %i', async (machine, returnAddress, name, number) => {
  const pc = machine === 'riscv64' || machine === 'aarch64' ? 'pc' : 'ip';
  const size = machine === 'i386' ? 4 : 8;
  const cie = { returnAddress, dataAlignment: -size, code: new CfaCode() };
  const byRegister = { start: 0x1000, sizeBytes: 0x100, code: new CfaCode().defCfa(number, 2 * size).offset(returnAddress, 1) };
  const outermost = { start: 0x1100, sizeBytes: 0x100, code: new CfaCode().undefined(returnAddress) };
  const space = new MadeSpace().map(BIAS, BIAS + 0x8000, moduleOf(machine, [[cie, [byRegister, outermost]]]), BIAS);
  const registers = { [pc]: BIAS + 0x1010, sp: SP, [name]: SP + 0x40 };
  const { end, frames } = await unwound({ machine, registers, stack: { [0x40 + size]: BIAS + 0x1110 } }, space);
  expect([end, ...frames]).toEqual(['complete', `!${(BIAS + 0x1010).toString(16)}`, (BIAS + 0x1110).toString(16)]);
});
