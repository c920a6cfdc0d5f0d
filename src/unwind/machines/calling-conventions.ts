import { EAX, EBP, EBX, ECX, EDI, EDX, ESI } from './i386-registers.ts';
import { POWERPC_CTR, POWERPC_LR } from './powerpc-registers.ts';
import type { UnwindMachine } from './unwind-machine.ts';
import { R8, R9, R10, R11, R12, R13, R14, R15, RAX, RBP, RBX, RCX, RDI, RDX, RSI } from './x86-64-registers.ts';

/** Which registers a function has to restore, by DWARF number, or by that of {@link link}. */
export interface CallingConvention {
  /** The number by which {@link ScanState} knows the link register; −1 if there is none. */
  readonly link: number;
  /** A call may leave anything in these. */
  readonly callerSaved: readonly number[];
  /** Those of {@link callerSaved} in which a function may return a value, and the link register: every call changes them. */
  readonly changedByCall: readonly number[];
  /** A function restores these before it returns. Without the stack pointer. */
  readonly calleeSaved: readonly number[];
}

const POWERPC: CallingConvention = {
  link: POWERPC_LR,
  callerSaved: [0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, POWERPC_LR, POWERPC_CTR],
  changedByCall: [3, 4, POWERPC_LR],
  calleeSaved: [14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31],
};

/**
 * Source: the machines' procedure call standards: x86-64 psABI, figure 3.4; i386 psABI, table 2.3; AAPCS64 and AAPCS32, 6.1.1; RISC-V psABI, "Integer Register
 * Convention"; s390x ELF ABI, 1.2.2; 64-bit ELF V2 ABI, "Register Roles"; System V ABI, PowerPC supplement, "Registers"; LoongArch ELF psABI, "Register
 * Convention"; System V ABI, MIPS supplement, "Registers"; MIPSpro N32 ABI Handbook, "Calling Convention Implementations".
 */
export const CALLING_CONVENTIONS: Readonly<Record<UnwindMachine, CallingConvention>> = {
  x86_64: {
    link: -1,
    callerSaved: [RAX, RDX, RCX, RSI, RDI, R8, R9, R10, R11],
    changedByCall: [RAX, RDX],
    calleeSaved: [RBX, RBP, R12, R13, R14, R15],
  },
  i386: {
    link: -1,
    callerSaved: [EAX, EDX, ECX],
    changedByCall: [EAX, EDX],
    calleeSaved: [EBX, ESI, EDI, EBP],
  },
  aarch64: {
    link: 30,
    callerSaved: [...Array.from({ length: 19 }, (_, register) => register), 30],
    changedByCall: [0, 1, 30],
    calleeSaved: [19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29],
  },
  arm: {
    link: 14,
    callerSaved: [0, 1, 2, 3, 12, 14],
    changedByCall: [0, 1, 2, 3, 14],
    calleeSaved: [4, 5, 6, 7, 8, 9, 10, 11],
  },
  riscv64: {
    link: 1,
    callerSaved: [1, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31],
    changedByCall: [1, 10, 11],
    calleeSaved: [8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27],
  },
  // 16 … 31 are floating-point registers, of which f8 … f15 are restored.
  s390x: {
    link: 14,
    callerSaved: [0, 1, 2, 3, 4, 5, 14, 16, 17, 18, 19, 20, 21, 22, 23],
    changedByCall: [2, 14],
    calleeSaved: [6, 7, 8, 9, 10, 11, 12, 13],
  },
  ppc64: POWERPC,
  ppc: POWERPC,
  loongarch64: {
    link: 1,
    callerSaved: [1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20],
    changedByCall: [1, 4, 5],
    calleeSaved: [22, 23, 24, 25, 26, 27, 28, 29, 30, 31],
  },
  mips64: {
    link: 31,
    callerSaved: [...Array.from({ length: 15 }, (_, i) => i + 1), 24, 25, 31],
    changedByCall: [2, 3, 31],
    calleeSaved: [16, 17, 18, 19, 20, 21, 22, 23, 28, 30],
  },
  mips: {
    link: 31,
    callerSaved: [...Array.from({ length: 15 }, (_, i) => i + 1), 24, 25, 28, 31],
    changedByCall: [2, 3, 31],
    calleeSaved: [16, 17, 18, 19, 20, 21, 22, 23, 30],
  },
};
