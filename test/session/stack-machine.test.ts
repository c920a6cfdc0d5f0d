import { expect, test } from 'vitest';
import { stackMachine } from '../../src/session/stack-machine.ts';

const NARROW = 1;
const WIDE = 2;

test.each([
  ['x86_64', WIDE, 'x86_64'],
  ['x86_64', NARROW, 'i386'],
  ['i686', NARROW, 'i386'],
  ['aarch64', WIDE, 'aarch64'],
  ['aarch64', NARROW, 'arm'],
  ['armv7l', NARROW, 'arm'],
  ['riscv64', WIDE, 'riscv64'],
  ['riscv64', NARROW, undefined],
  ['s390x', WIDE, 's390x'],
  ['ppc64le', WIDE, undefined],
] as const)('on %s a sample of abi %d has the registers of %s', (arch, abi, machine) => {
  expect(stackMachine(arch, abi, 0n)).toBe(machine);
});

// What perf asks for on each: all registers but segments and floating point.
test.each([
  ['x86_64', WIDE, 0xff0fffn, 'x86_64'],
  ['x86_64 with a process of 32 bits', NARROW, 0xff0fffn, 'i386'],
  ['i386', NARROW, 0x0fffn, 'i386'],
  ['arm64', WIDE, 0x1_ffff_ffffn, 'aarch64'],
  ['arm64 with a process of 32 bits', NARROW, 0x1_ffff_ffffn, 'arm'],
  ['arm', NARROW, 0xffffn, 'arm'],
  ['riscv64', WIDE, 0xffff_ffffn, 'riscv64'],
  ['s390x', WIDE, 0x3_ffff_ffffn, 's390x'],
  ['x86_64 with the registers that frame pointers take', WIDE, 0x1c0n, 'x86_64'],
] as const)('a recording that does not name its machine has registers of %s', (_, abi, mask, machine) => {
  expect(stackMachine('', abi, mask)).toBe(machine);
});
