import { expect, test } from 'vitest';
import type { PerfEventAttr } from '../../../src/perfdata/samples/attr.ts';
import { SampledRegisters, stackMachine } from '../../../src/session/events/stack-machine.ts';

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
  ['ppc64le', WIDE, 'ppc64'],
  ['ppc64', WIDE, 'ppc64'],
  ['ppc64', NARROW, 'ppc'],
  ['ppc', NARROW, 'ppc'],
  ['loongarch64', WIDE, 'loongarch64'],
  ['loongarch64', NARROW, undefined],
  ['mips64', WIDE, 'mips64'],
  ['mips64', NARROW, 'mips'],
  ['mips', NARROW, 'mips'],
  ['sparc64', WIDE, undefined],
] as const)('on %s a sample of abi %d has the registers of %s', (arch, abi, machine) => {
  expect(stackMachine(arch, abi, 0n)).toBe(machine);
});

// What perf asks for on each machine: all registers except segments and floating point.
test.each([
  ['x86_64', WIDE, 0xff0fffn, 'x86_64'],
  ['x86_64 with a process of 32 bits', NARROW, 0xff0fffn, 'i386'],
  ['i386', NARROW, 0x0fffn, 'i386'],
  ['arm64', WIDE, 0x1_ffff_ffffn, 'aarch64'],
  ['arm64 with a process of 32 bits', NARROW, 0x1_ffff_ffffn, 'arm'],
  ['arm', NARROW, 0xffffn, 'arm'],
  ['riscv64', WIDE, 0xffff_ffffn, 'riscv64'],
  ['s390x', WIDE, 0x3_ffff_ffffn, 's390x'],
  ['PowerPC', WIDE, 0x1fff_ffff_ffffn, 'ppc64'],
  ['PowerPC with a process of 32 bits', NARROW, 0x1fff_ffff_ffffn, 'ppc'],
  ['x86_64 with the registers that frame pointers take', WIDE, 0x1c0n, 'x86_64'],
] as const)('a recording that does not name its machine has the registers of %s', (_, abi, mask, machine) => {
  expect(stackMachine('', abi, mask)).toBe(machine);
});

test('each sample has the registers of its own event and process', () => {
  const registers = new SampledRegisters();
  const [all, few] = [{ sampleRegsUser: 0xff0fffn }, { sampleRegsUser: (5n << 32n) | 0x1c0n }] as PerfEventAttr[];
  const of = (attr: PerfEventAttr, abi: number, arch: string): readonly unknown[] => {
    const { machine, maskLo, maskHi } = registers.of(attr, abi, arch);
    return [machine, maskLo, maskHi];
  };
  for (let round = 0; round < 2; round++) {
    expect(of(all, WIDE, 'x86_64')).toEqual(['x86_64', 0xff0fff, 0]);
    expect(of(all, NARROW, 'x86_64')).toEqual(['i386', 0xff0fff, 0]);
    expect(of(few, NARROW, 'x86_64')).toEqual(['i386', 0x1c0, 5]);
    expect(of(few, WIDE, 'aarch64')).toEqual(['aarch64', 0x1c0, 5]);
  }
});
