import type { MachineRegisters } from './unwind-machine.ts';

/** What a frame pointer points at: the offsets from there of the return address and of the caller's frame pointer. */
export interface FrameRecord {
  readonly returnAt: number;
  readonly savedAt: number;
}

/** Source: x86-64 psABI, figure 3.3; i386's is the same with narrower words. */
export const X86_64_RECORD: FrameRecord = { returnAt: 8, savedAt: 0 };
export const I386_RECORD: FrameRecord = { returnAt: 4, savedAt: 0 };
/** Source: AAPCS64, "The Frame Pointer". */
export const AARCH64_RECORD: FrameRecord = { returnAt: 8, savedAt: 0 };
/** The frame pointer is the CFA. Source: RISC-V psABI, "Frame Pointer Convention". */
export const RISCV64_RECORD: FrameRecord = { returnAt: -8, savedAt: -16 };
/** 32-bit Arm: clang's frames are like those of arm64, gcc's have the return address where the frame pointer points. */
export const ARM_CLANG_RECORD: FrameRecord = { returnAt: 4, savedAt: 0 };
export const ARM_GCC_RECORD: FrameRecord = { returnAt: 0, savedAt: -4 };
/**
 * Where functions of PowerPC save the link register: that far above their caller's stack pointer, at which their own one points. Source: 64-bit ELF V2 ABI,
 * "The Stack Frame"; the older ABI has it there, too. System V ABI, PowerPC supplement, "The Stack Frame".
 */
export function powerpcLinkSlot({ addressSize }: Pick<MachineRegisters, 'addressSize'>): number {
  return addressSize === 8 ? 16 : 4;
}
