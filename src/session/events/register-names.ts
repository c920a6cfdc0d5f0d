import { PERF_SAMPLE_REGS_ABI_64 } from '../../perfdata/abi/constants.ts';
import type { UnwindMachine } from '../../unwind/machines/unwind-machine.ts';
import { stackMachine } from './stack-machine.ts';

/** `r0`, `r1`, … */
function numbered(prefix: string, count: number, first = 0): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${first + i}`);
}

const X86: readonly string[] = [
  ...['AX', 'BX', 'CX', 'DX', 'SI', 'DI', 'BP', 'SP', 'IP', 'FLAGS', 'CS', 'SS', 'DS', 'ES', 'FS', 'GS', ...numbered('R', 8, 8)],
  ...Array<string>(8),
  // Each has two of 64 bits.
  ...numbered('XMM', 16).flatMap((name) => [name, name]),
];
const ARM64: readonly string[] = [...numbered('x', 30), 'lr', 'sp', 'pc', ...Array<string>(13), 'vg'];
const ARM: readonly string[] = [...numbered('r', 11), 'fp', 'ip', 'sp', 'lr', 'pc'];
const RISCV: readonly string[] = [
  ...['pc', 'ra', 'sp', 'gp', 'tp', 't0', 't1', 't2', 's0', 's1'],
  ...[...numbered('a', 8), ...numbered('s', 10, 2), ...numbered('t', 4, 3)],
];
const S390: readonly string[] = [...numbered('R', 16), ...numbered('FP', 16), 'MASK', 'PC'];
const POWERPC: readonly string[] = [
  ...[...numbered('r', 32), 'nip', 'msr', 'orig_r3', 'ctr', 'link', 'xer', 'ccr', 'softe', 'trap', 'dar', 'dsisr', 'sier', 'mmcra'],
  ...[...numbered('mmcr', 4), 'sier2', 'sier3', ...numbered('pmc', 6, 1), 'sdar', 'siar'],
];
// The kernel does not record $26 and $27, which it uses itself.
const MIPS: readonly string[] = ['PC', ...numbered('$', 25, 1), ...Array<string>(2), ...numbered('$', 4, 28)];
const LOONGARCH: readonly string[] = ['PC', ...numbered('%r', 31, 1)];

/** By the bit in the mask. Source: observed, perf 6.1; for RISC-V and LoongArch, which it does not name, the machines' `asm/perf_regs.h`. */
const NAMES: Readonly<Record<UnwindMachine, readonly string[]>> = {
  x86_64: X86,
  i386: X86,
  aarch64: ARM64,
  arm: ARM,
  riscv64: RISCV,
  s390x: S390,
  ppc64: POWERPC,
  ppc: POWERPC,
  loongarch64: LOONGARCH,
  mips64: MIPS,
  mips: MIPS,
};

/**
 * Names of the registers in a mask (`sample_regs_user`, `sample_regs_intr`), lowest bit first: undefined for one that has none. As in perf, registers of 32-bit
 * processes have the names of the machine that recorded them.
 * @param arch of that machine, as uname reports it; empty when unknown
 */
export function registerNames(arch: string, mask: bigint): (string | undefined)[] {
  const machine = stackMachine(arch, PERF_SAMPLE_REGS_ABI_64, mask);
  const names = machine === undefined ? [] : NAMES[machine];
  const list: (string | undefined)[] = [];
  for (let bit = 0, rest = mask; rest > 0n; bit++, rest >>= 1n) if ((rest & 1n) === 1n) list.push(names[bit]);
  return list;
}
