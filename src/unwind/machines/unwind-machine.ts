import { PerfconvError } from '../../base/problems/errors.ts';
import {
  EF_MIPS_ABI2,
  EF_MIPS_ARCH,
  EF_MIPS_ARCH_32R6,
  EF_MIPS_ARCH_64R6,
  EF_MIPS_ARCH_ASE_M16,
  EF_MIPS_MICROMIPS,
  EM_386,
  EM_AARCH64,
  EM_ARM,
  EM_LOONGARCH,
  EM_MIPS,
  EM_PPC,
  EM_PPC64,
  EM_RISCV,
  EM_S390,
  EM_X86_64,
} from '../../elf/elf-constants.ts';
import type { ElfFile } from '../../elf/elf-file.ts';
import { ARM_LR, ARM_PC, ARM_SP } from './arm-registers.ts';
import { EAX, EBP, EIP, ESP } from './i386-registers.ts';
import { S390X_FLOATING } from './s390x-registers.ts';
import { RAX, RBP, RETURN_ADDRESS, RSP } from './x86-64-registers.ts';

/** Machines whose stacks are unwound. For a 32-bit process on a 64-bit kernel, it is the process's machine. */
export type UnwindMachine = 'x86_64' | 'i386' | 'aarch64' | 'arm' | 'riscv64' | 's390x' | 'ppc64' | 'ppc' | 'loongarch64' | 'mips64' | 'mips';

/** x86: 64 or 32 bits. */
export type X86Machine = Extract<UnwindMachine, 'x86_64' | 'i386'>;

export function isX86(machine: UnwindMachine): machine is X86Machine {
  return machine === 'x86_64' || machine === 'i386';
}

/** MIPS: n64 and n32, or o32. */
export type MipsMachine = Extract<UnwindMachine, 'mips64' | 'mips'>;

export function isMips(machine: string): machine is MipsMachine {
  return machine === 'mips64' || machine === 'mips';
}

/** The registers of a machine, as DWARF numbers them and as perf records them. */
export interface MachineRegisters {
  readonly name: UnwindMachine;
  readonly addressSize: 4 | 8;
  /** Registers with lower DWARF numbers matter to unwinding; others (floating point, vectors) do not. */
  readonly count: number;
  /** By DWARF number: the bit in `sample_regs_user`, −1 for none. */
  readonly perfBits: Int8Array;
  /** perf's bit of the instruction pointer. */
  readonly pcBit: number;
  /** DWARF numbers. */
  readonly sp: number;
  /** The frame pointer, by the ABI's convention. */
  readonly fp: number;
  /** Where calls leave the return address; −1 if that is on the stack. */
  readonly lr: number;
  /** The return address's own column, which also holds the instruction pointer; −1 if there is none besides {@link lr}. */
  readonly pc: number;
  /** Where signal frames leave the interrupted instruction's address: {@link pc}, if there is one. */
  readonly signalPc: number;
  /** Bytes from the caller's stack pointer up to the CFA. */
  readonly cfaBias: number;
  /** Bits of a return address that are not part of the address: the lowest one stands for Thumb. */
  readonly pcMask: number;
  /**
   * A register that functions which return to an exception handler save (`__builtin_eh_return`), and hardly any others: the first one that brings the exception
   * to the handler; where callees save that anyway, or such functions restore it long before they return, the last one that callees save. −1 on 32-bit Arm,
   * where functions do not return to handlers in this way: see `landing.ts`.
   */
  readonly handlerMark: number;
}

/** Where steps leave the return address: its own column, or else the link register. */
export function returnColumn({ pc, lr }: MachineRegisters): number {
  return pc >= 0 ? pc : lr;
}

/** The address of code in two words of a register or of the stack: without a signature, and without the bit that stands for Thumb. */
export function codeAddress(lo: number, hi: number, machine: MachineRegisters): number {
  return withoutSignature(hi, machine) * 0x1_0000_0000 + ((lo & ~machine.pcMask) >>> 0);
}

/** The upper word of a return address without its signature, which arm64 puts into the bits that addresses do not use. */
export function withoutSignature(hi: number, { name }: MachineRegisters): number {
  return name === 'aarch64' ? hi & 0xffff : hi;
}

/** The last register that callees save on RISC-V, fs11. */
const RISCV_FS11 = 59;

/** Bits of perf_regs.h by DWARF number from 0 on. */
function bits(...numbers: readonly number[]): Int8Array {
  return Int8Array.from(numbers);
}

/** For the first registers, perf's bit is the DWARF number; the others have none. */
function sameBits(same: number, count: number): Int8Array {
  return Int8Array.from({ length: count }, (_, i) => (i < same ? i : -1));
}

// x86: AX BX CX DX SI DI BP SP IP FLAGS CS SS DS ES FS GS R8 … R15 (arch/x86/include/uapi/asm/perf_regs.h).
// DWARF: x86-64 psABI, figure 3.36 (rax rdx rcx rbx rsi rdi rbp rsp r8 … r15, return address); i386 psABI, table 2.14.
const X86_64: MachineRegisters = {
  name: 'x86_64',
  addressSize: 8,
  count: 17,
  perfBits: bits(0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8),
  pcBit: 8,
  sp: RSP,
  fp: RBP,
  lr: -1,
  pc: RETURN_ADDRESS,
  signalPc: RETURN_ADDRESS,
  cfaBias: 0,
  pcMask: 0,
  handlerMark: RAX,
};
const I386: MachineRegisters = {
  name: 'i386',
  addressSize: 4,
  count: 9,
  perfBits: bits(0, 2, 3, 1, 7, 6, 4, 5, 8),
  pcBit: 8,
  sp: ESP,
  fp: EBP,
  lr: -1,
  pc: EIP,
  signalPc: EIP,
  cfaBias: 0,
  pcMask: 0,
  handlerMark: EAX,
};
// arm64: X0 … X29 LR SP PC; DWARF for the Arm 64-bit Architecture: 0 … 30 X, 31 SP, 32 PC, 34 RA_SIGN_STATE.
const AARCH64: MachineRegisters = {
  name: 'aarch64',
  addressSize: 8,
  count: 35,
  perfBits: sameBits(33, 35),
  pcBit: 32,
  sp: 31,
  fp: 29,
  lr: 30,
  pc: 32,
  signalPc: 32,
  cfaBias: 0,
  pcMask: 0,
  handlerMark: 0,
};
// arm: R0 … R10 FP IP SP LR PC, which are r0 … r15. A 32-bit process on an arm64 kernel has the same bits.
const ARM: MachineRegisters = {
  name: 'arm',
  addressSize: 4,
  count: 16,
  perfBits: sameBits(16, 16),
  pcBit: 15,
  sp: ARM_SP,
  fp: 11,
  lr: ARM_LR,
  pc: ARM_PC,
  signalPc: ARM_PC,
  cfaBias: 0,
  pcMask: 1,
  handlerMark: -1,
};
// riscv: PC RA SP GP TP T0 … in the order of x0 …, but with PC in place of x0, which is always 0. DWARF 64 is the column of signal frames.
const RISCV64: MachineRegisters = {
  name: 'riscv64',
  addressSize: 8,
  count: 65,
  perfBits: Int8Array.from({ length: 65 }, (_, i) => (i > 0 && i < 32 ? i : -1)),
  pcBit: 0,
  sp: 2,
  fp: 8,
  lr: 1,
  pc: -1,
  signalPc: 64,
  cfaBias: 0,
  pcMask: 0,
  handlerMark: RISCV_FS11,
};
// s390: R0 … R15 FP0 … FP15 MASK PC. DWARF (s390x ELF ABI, 1.6): 16 … 31 are f0 … f15 in another order, 64 and 65 the PSW.
// The CFA is 160 bytes above the caller's stack pointer.
const S390X: MachineRegisters = {
  name: 's390x',
  addressSize: 8,
  count: 66,
  perfBits: Int8Array.from({ length: 66 }, (_, i) => {
    if (i < 16) return i;
    if (i < 32) return 16 + S390X_FLOATING.indexOf(i);
    return i >= 64 ? i - 32 : -1;
  }),
  pcBit: 33,
  sp: 15,
  fp: 11,
  lr: 14,
  pc: 65,
  signalPc: 65,
  cfaBias: 160,
  pcMask: 0,
  handlerMark: S390X_FLOATING[15],
};
// powerpc: R0 … R31 NIP MSR ORIG_R3 CTR LINK …. DWARF (64-bit ELF V2 ABI, "DWARF Definition"; the same in the older ABI and, as gcc writes rules, with 32 bits):
// 0 … 31 are r0 … r31, 65 LR. 67 is the column of signal frames (observed in the vdso's rules). There is no fixed frame pointer: gcc and LLVM use r31.
const PPC64: MachineRegisters = {
  name: 'ppc64',
  addressSize: 8,
  count: 68,
  perfBits: Int8Array.from({ length: 68 }, (_, i) => (i < 32 ? i : i === 65 ? 36 : i === 66 ? 35 : -1)),
  pcBit: 32,
  sp: 1,
  fp: 31,
  lr: 65,
  pc: -1,
  signalPc: 67,
  cfaBias: 0,
  pcMask: 0,
  handlerMark: 3,
};
const PPC: MachineRegisters = { ...PPC64, name: 'ppc', addressSize: 4 };
// loongarch: PC R1 … R31, as on RISC-V, and so are the DWARF numbers (LoongArch ELF psABI, "DWARF Register Numbers"). 64 is only a place for what signal frames
// have.
const LOONGARCH64: MachineRegisters = { ...RISCV64, name: 'loongarch64', sp: 3, fp: 22, handlerMark: 4 };
// mips: PC R1 … R31, with the same numbers in DWARF. 64 is only a place for what signal frames have. n32 has the registers of n64, also in samples; o32 has
// their lower halves.
const MIPS64: MachineRegisters = { ...RISCV64, name: 'mips64', sp: 29, fp: 30, lr: 31, handlerMark: 4 };
const MIPS: MachineRegisters = { ...MIPS64, name: 'mips', addressSize: 4 };

export const MACHINE_REGISTERS: Readonly<Record<UnwindMachine, MachineRegisters>> = {
  x86_64: X86_64,
  i386: I386,
  aarch64: AARCH64,
  arm: ARM,
  riscv64: RISCV64,
  s390x: S390X,
  ppc64: PPC64,
  ppc: PPC,
  loongarch64: LOONGARCH64,
  mips64: MIPS64,
  mips: MIPS,
};

/** The registers of a machine. @throws PerfconvError `usage` for any other name, which JavaScript callers may pass */
export function machineRegisters(machine: UnwindMachine): MachineRegisters {
  const registers: MachineRegisters | undefined = MACHINE_REGISTERS[machine];
  if (registers !== undefined) return registers;
  throw new PerfconvError('usage', `stacks of the machine ${String(machine)} cannot be unwound, only those of ${Object.keys(MACHINE_REGISTERS).join(', ')}`);
}

/** r7, the frame pointer of Thumb code. */
const THUMB_FP = 7;

/** Whether functions find their frames by a register: the stack pointer and those that are the frame pointer by convention. */
export function findsFrames({ name, sp, fp }: MachineRegisters, register: number): boolean {
  return register === sp || register === fp || (name === 'arm' && register === THUMB_FP);
}

/** By `e_machine`. */
const MACHINES: ReadonlyMap<number, UnwindMachine> = new Map([
  [EM_X86_64, 'x86_64'],
  [EM_386, 'i386'],
  [EM_AARCH64, 'aarch64'],
  [EM_ARM, 'arm'],
  [EM_RISCV, 'riscv64'],
  [EM_S390, 's390x'],
  [EM_PPC64, 'ppc64'],
  [EM_PPC, 'ppc'],
  [EM_LOONGARCH, 'loongarch64'],
]);

/** The machine of an ELF file; undefined if its stacks are not unwound, as when addresses are narrower than registers (x32, but not n32 of MIPS). */
export function unwindMachineOf({ machine, classBits, machineFlags }: Pick<ElfFile, 'machine' | 'classBits' | 'machineFlags'>): UnwindMachine | undefined {
  if (machine === EM_MIPS) return mipsOf(classBits, machineFlags);
  const name = MACHINES.get(machine);
  return name !== undefined && MACHINE_REGISTERS[name].addressSize * 8 === classBits ? name : undefined;
}

/** Whether the code of an ELF file is of an instruction set that is followed, if any of its machine is: not that of MIPS Release 6 or with MIPS16. */
export function isCodeKnown({ machine, machineFlags }: Pick<ElfFile, 'machine' | 'machineFlags'>): boolean {
  const architecture = (machineFlags & EF_MIPS_ARCH) >>> 0;
  const isOther = architecture === EF_MIPS_ARCH_32R6 || architecture === EF_MIPS_ARCH_64R6 || (machineFlags & EF_MIPS_ARCH_ASE_M16) !== 0;
  return machine !== EM_MIPS || !isOther;
}

function mipsOf(classBits: 32 | 64, machineFlags: number): UnwindMachine | undefined {
  if ((machineFlags & EF_MIPS_MICROMIPS) !== 0) return undefined;
  return classBits === 64 || (machineFlags & EF_MIPS_ABI2) !== 0 ? 'mips64' : 'mips';
}
