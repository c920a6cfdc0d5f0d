import { EAX, EBP, EBX, ECX, EDI, EDX, EIP, ESI, ESP } from './i386-registers.ts';
import { S390X_FLOATING } from './s390x-registers.ts';
import type { UnwindMachine } from './unwind-machine.ts';
import { R8, RAX, RBP, RBX, RCX, RDI, RDX, RETURN_ADDRESS, RSI, RSP } from './x86-64-registers.ts';

/** Code that returns from a signal handler, and where the registers of the interrupted code are then. */
export interface SignalTrampoline {
  /** Its code. At the {@link offsets} in it, the stack pointer is where {@link saved} counts from. */
  readonly code: readonly number[];
  /** Where its instructions begin, and where they end: the kernel returns to the one after a system call. Registers are in the same places at all of them. */
  readonly offsets: readonly number[];
  /** Pairs of a register (DWARF) and its offset from the stack pointer. */
  readonly saved: readonly (readonly [number, number])[];
  /** Of 32-bit Arm: offset of the program status register from the stack pointer. */
  readonly statusAt?: number;
}

function consecutive(first: number, count: number, at: number, sizeBytes: number): [number, number][] {
  return Array.from({ length: count }, (_, i) => [first + i, at + i * sizeBytes]);
}

// The handler has popped `pretcode`: the stack pointer is at `uc`. 40 bytes on are r8 … r15 and the others
// (arch/x86/include/uapi/asm/sigcontext.h, ucontext.h).
const X86_64_SAVED: [number, number][] = [
  ...consecutive(R8, 8, 40, 8),
  ...[RDI, RSI, RBP, RBX, RDX, RAX, RCX, RSP, RETURN_ADDRESS].map((register, i): [number, number] => [register, 104 + 8 * i]),
];
/** Where the registers of i386 are in a sigcontext (arch/x86/include/uapi/asm/sigcontext.h). */
export const I386_CONTEXT = [
  [EDI, 16],
  [ESI, 20],
  [EBP, 24],
  [ESP, 28],
  [EBX, 32],
  [EDX, 36],
  [ECX, 40],
  [EAX, 44],
  [EIP, 56],
] as const;
// sig, pinfo, puc, siginfo (128 bytes), uc_flags, uc_link, uc_stack (arch/x86/include/asm/sigframe.h).
const I386_WITH_SIGINFO = I386_CONTEXT.map(([register, at]): [number, number] => [register, 12 + 128 + 20 + at]);
// siginfo (128 bytes), uc_flags, uc_link, uc_stack, uc_sigmask (128 bytes), uc_mcontext on a 16-byte boundary: fault_address, x0 … x30, sp, pc
// (arch/arm64/include/uapi/asm/sigcontext.h, ucontext.h).
const AARCH64_SAVED = consecutive(0, 33, 128 + 176 + 8, 8);
// uc_flags, uc_link, uc_stack (12 bytes), trap_no, error_code, oldmask, r0 … r15, cpsr; siginfo (128 bytes) is before them if the handler gets it
// (arch/arm/include/uapi/asm/sigcontext.h, asm-generic/ucontext.h).
const ARM_CONTEXT = { saved: consecutive(0, 16, 32, 4), statusAt: 96 };
const ARM_WITH_SIGINFO = { saved: consecutive(0, 16, 128 + 32, 4), statusAt: 128 + 96 };
// The same as on arm64 up to uc_mcontext: pc, x1 … x31 (arch/riscv/include/uapi/asm/ptrace.h, user_regs_struct).
const RISCV64_SAVED: [number, number][] = [[64, 128 + 176], ...consecutive(1, 31, 128 + 176 + 8, 8)];
// The same: sc_pc, r0 … r31 (arch/loongarch/include/uapi/asm/sigcontext.h, ucontext.h).
const LOONGARCH64_SAVED: [number, number][] = [[64, 128 + 176], ...consecutive(1, 31, 128 + 176 + 16, 8)];
// PSW mask and address, r0 … r15, 16 access registers of 4 bytes; fpc, f0 … f15 (arch/s390/include/uapi/asm/sigcontext.h, _sigregs).
const s390xSaved = (at: number): [number, number][] => [
  [65, at + 8],
  ...consecutive(0, 16, at + 16, 8),
  ...S390X_FLOATING.map((register, i): [number, number] => [register, at + 216 + 8 * i]),
];
// 160 bytes for the handler, and oldmask and the address of what follows (sigcontext.h, sigcontext).
const S390X_SAVED = s390xSaved(160 + 16);
// 160 bytes for the handler, svc_insn (8 with padding), siginfo (128), uc_flags, uc_link, uc_stack (24) (ucontext.h).
const S390X_WITH_SIGINFO = s390xSaved(160 + 8 + 128 + 40);
// ucontext: uc_flags, uc_link, uc_stack (24), uc_sigmask (128 bytes); sigcontext: 4 words, signal, handler, oldmask, regs, r0 … r31, nip, msr, orig_gpr3, ctr,
// link (arch/powerpc/include/uapi/asm/ucontext.h, sigcontext.h, elf.h).
const ppc64Saved = (at: number): [number, number][] => [...consecutive(0, 32, at + 232, 8), [67, at + 232 + 8 * 32], [65, at + 232 + 8 * 36]];
/** addi r1, r1, 128; li r0, 172; sc */
const PPC64_RETURN = [0x3821_0080, 0x3800_00ac, 0x4400_0002];

/** Instructions whose byte order is that of data. */
function wordsOf(words: readonly number[], littleEndian: boolean): number[] {
  return words.flatMap((word) => {
    const bigEndian = [word >>> 24, (word >>> 16) & 0xff, (word >>> 8) & 0xff, word & 0xff];
    return littleEndian ? bigEndian.reverse() : bigEndian;
  });
}

/** Of either byte order. */
function ppc64Trampolines(): SignalTrampoline[] {
  // The kernel leaves 128 bytes for the handler, which the first instruction frees.
  return [true, false].flatMap((littleEndian) => {
    const code = wordsOf(PPC64_RETURN, littleEndian);
    return [
      { code, offsets: [0], saved: ppc64Saved(128) },
      { code, offsets: [4, 8, 12], saved: ppc64Saved(0) },
    ];
  });
}

// The stack pointer is at 24 bytes for the handler, siginfo (128 bytes) if it gets that, and ucontext: uc_flags, uc_link, uc_stack, and sigcontext on an 8-byte
// boundary. n64 and n32: regs, fpregs, 8 words of multiplication, pc; o32: regmask, status, pc, regs (arch/mips/include/uapi/asm/sigcontext.h, ucontext.h).
const mips64Saved = (at: number): [number, number][] => [[64, at + 576], ...consecutive(0, 32, at, 8)];
/** Words of 64 bits also here, of which the lower halves count. */
const mipsSaved = (at: number): [number, number][] => [[64, at + 8], ...consecutive(0, 32, at + 16, 8)];
const MIPS_INFO = 24 + 128;

/** li v0, number; syscall. Of either byte order. */
function mipsTrampolines(number: number, savedOf: (littleEndian: boolean) => [number, number][]): SignalTrampoline[] {
  return [true, false].map((littleEndian) => ({
    code: wordsOf([0x2402_0000 | number, 0x0000_000c], littleEndian),
    offsets: [0, 4, 8],
    saved: savedOf(littleEndian),
  }));
}

/**
 * Trampolines by their code: they often have no rules, or rules that leave out the interrupted instruction (arm64's vdso). Source: the kernels' signal frames
 * in the uapi headers; numbers of system calls from asm/unistd.h.
 */
const TRAMPOLINES: Readonly<Record<UnwindMachine, readonly SignalTrampoline[]>> = {
  x86_64: [
    // mov $15, %rax; syscall (as libraries and Go write it); mov $15, %eax; syscall
    { code: [0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05], offsets: [0, 7, 9], saved: X86_64_SAVED },
    { code: [0xb8, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05], offsets: [0, 5, 7], saved: X86_64_SAVED },
  ],
  // Those of i386 have rules in the vdso and in libc, but none after the system call.
  i386: [
    // pop %eax (sig, which is gone then); mov $119, %eax; int $0x80; with siginfo: mov $173, %eax; int $0x80
    { code: [0x58, 0xb8, 0x77, 0x00, 0x00, 0x00, 0xcd, 0x80], offsets: [1, 6, 8], saved: I386_CONTEXT },
    { code: [0xb8, 0xad, 0x00, 0x00, 0x00, 0xcd, 0x80], offsets: [0, 5, 7], saved: I386_WITH_SIGINFO },
  ],
  // mov x8, #139; svc #0
  aarch64: [{ code: [0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4], offsets: [0, 4, 8], saved: AARCH64_SAVED }],
  // mov r7, #119; svc #0; with siginfo: mov r7, #173; svc #0 (A32, T32)
  arm: [
    { code: [0x77, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef], offsets: [0, 4, 8], ...ARM_CONTEXT },
    { code: [0x4f, 0xf0, 0x77, 0x07, 0x00, 0xdf], offsets: [0, 4, 6], ...ARM_CONTEXT },
    { code: [0xad, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef], offsets: [0, 4, 8], ...ARM_WITH_SIGINFO },
    { code: [0x4f, 0xf0, 0xad, 0x07, 0x00, 0xdf], offsets: [0, 4, 6], ...ARM_WITH_SIGINFO },
  ],
  // li a7, 139; ecall
  riscv64: [{ code: [0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00], offsets: [0, 4, 8], saved: RISCV64_SAVED }],
  // svc 119 (sigreturn); with siginfo: svc 173 (rt_sigreturn)
  s390x: [
    { code: [0x0a, 0x77], offsets: [0, 2], saved: S390X_SAVED },
    { code: [0x0a, 0xad], offsets: [0, 2], saved: S390X_WITH_SIGINFO },
  ],
  ppc64: ppc64Trampolines(),
  // The vdso has rules.
  ppc: [],
  // li.w a7, 139; syscall 0
  loongarch64: [{ code: [0x0b, 0x2c, 0x82, 0x03, 0x00, 0x00, 0x2b, 0x00], offsets: [0, 4, 8], saved: LOONGARCH64_SAVED }],
  // rt_sigreturn of n64 and n32
  mips64: [...mipsTrampolines(5211, () => mips64Saved(MIPS_INFO + 40)), ...mipsTrampolines(6211, () => mips64Saved(MIPS_INFO + 24))],
  // sigreturn, rt_sigreturn
  mips: [
    ...mipsTrampolines(4119, (littleEndian) => mipsSaved(24 + (littleEndian ? 0 : 4))),
    ...mipsTrampolines(4193, (littleEndian) => mipsSaved(MIPS_INFO + 24 + (littleEndian ? 0 : 4))),
  ],
};

export function signalTrampolines(machine: UnwindMachine): readonly SignalTrampoline[] {
  return TRAMPOLINES[machine];
}
