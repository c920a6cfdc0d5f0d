import { expect, test } from 'vitest';
import { registerNames } from '../../../src/session/events/register-names.ts';

// The registers that perf asks for. The names of other machines are compared with perf's in the live tests.

test('x86-64 has no segment registers among those that perf asks for', () => {
  expect(registerNames('x86_64', 0xff0fffn).join(' ')).toBe('AX BX CX DX SI DI BP SP IP FLAGS CS SS R8 R9 R10 R11 R12 R13 R14 R15');
});

test('RISC-V and LoongArch, which perf 6.1 does not name, have the names of their registers', () => {
  expect(registerNames('riscv64', 0xffff_ffffn).join(' ')).toBe(
    'pc ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6',
  );
  expect(registerNames('loongarch64', 0x8000_0003n)).toEqual(['PC', '%r1', '%r31']);
});

test('the registers tell the machine if the recording does not', () => {
  expect(registerNames('', 0x1_e000_0000n)).toEqual(['x29', 'lr', 'sp', 'pc']);
});

test('bits and machines without names have none', () => {
  expect(registerNames('x86_64', 1n << 24n)).toEqual([undefined]);
  expect(registerNames('sparc64', 3n)).toEqual([undefined, undefined]);
  expect(registerNames('x86_64', 0n)).toEqual([]);
});
