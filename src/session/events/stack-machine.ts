import { PERF_SAMPLE_REGS_ABI_32 } from '../../perfdata/abi/constants.ts';
import type { PerfEventAttr } from '../../perfdata/samples/attr.ts';
import type { UnwindMachine } from '../../unwind/machines/unwind-machine.ts';

/** The link register. Source: the kernel's `asm/perf_regs.h` of arm64. */
export const AARCH64_LR_BIT = 30;

/** By what uname reports: the machine of 64-bit processes, and that of 32-bit ones. */
const MACHINES: readonly (readonly [name: RegExp, wide: UnwindMachine | undefined, narrow: UnwindMachine | undefined])[] = [
  [/^(?:x86_64|amd64)$/, 'x86_64', 'i386'],
  [/^i[3-6]86$/, 'i386', 'i386'],
  [/^(?:aarch64|arm64)$/, 'aarch64', 'arm'],
  [/^arm/, 'arm', 'arm'],
  [/^riscv64$/, 'riscv64', undefined],
  [/^s390x$/, 's390x', undefined],
  [/^ppc64(?:le)?$/, 'ppc64', 'ppc'],
  [/^ppc$/, 'ppc', 'ppc'],
  [/^loongarch64$/, 'loongarch64', undefined],
  [/^mips64$/, 'mips64', 'mips'],
  [/^mips$/, 'mips', 'mips'],
];

/**
 * The machine whose registers a sample has; undefined for one whose stacks are not unwound.
 * @param arch as uname reports it; empty when unknown: then the registers that were asked for show it, since perf asks for all that there are
 * @param abi PERF_SAMPLE_REGS_ABI_* of the sample
 * @param mask `sample_regs_user` of its event
 */
export function stackMachine(arch: string, abi: number, mask: bigint): UnwindMachine | undefined {
  const isNarrow = abi === PERF_SAMPLE_REGS_ABI_32;
  if (arch === '') return machineByMask(isNarrow, mask);
  const known = MACHINES.find(([name]) => name.test(arch));
  if (known === undefined) return undefined;
  const [, wide, narrow] = known;
  return isNarrow ? narrow : wide;
}

/** By bits of the machines' `asm/perf_regs.h`. LoongArch and MIPS have the same ones as RISC-V. */
function machineByMask(isNarrow: boolean, mask: bigint): UnwindMachine | undefined {
  const has = (bit: number): boolean => ((mask >> BigInt(bit)) & 1n) === 1n;
  const [R15_OF_X86, PC_OF_ARM, T6_OF_RISCV, PC_OF_ARM64, PC_OF_S390, LINK_OF_POWERPC] = [23, 15, 31, 32, 33, 36];
  if (has(LINK_OF_POWERPC)) return isNarrow ? 'ppc' : 'ppc64';
  if (has(PC_OF_S390)) return isNarrow ? undefined : 's390x';
  if (has(PC_OF_ARM64)) return isNarrow ? 'arm' : 'aarch64';
  if (has(T6_OF_RISCV)) return isNarrow ? undefined : 'riscv64';
  if (!isNarrow) return 'x86_64';
  // x86 has a segment register there, which perf does not ask for.
  return has(PC_OF_ARM) && !has(R15_OF_X86) ? 'arm' : 'i386';
}

/** Which registers samples have, and of which machine: usually, the event is that of the sample before. */
export class SampledRegisters {
  machine: UnwindMachine | undefined = undefined;
  /** The halves of `sample_regs_user`. */
  maskLo = 0;
  maskHi = 0;
  #attr: PerfEventAttr | undefined;
  #abi = -1;
  #arch = '';

  /** Sets the machine and the mask for a sample: see {@link stackMachine}. @param attr of its event */
  of(attr: PerfEventAttr, abi: number, arch: string): this {
    if (attr !== this.#attr || abi !== this.#abi || arch !== this.#arch) {
      this.#attr = attr;
      this.#abi = abi;
      this.#arch = arch;
      this.machine = stackMachine(arch, abi, attr.sampleRegsUser);
      this.maskLo = Number(attr.sampleRegsUser & 0xffffffffn);
      this.maskHi = Number((attr.sampleRegsUser >> 32n) & 0xffffffffn);
    }
    return this;
  }
}
