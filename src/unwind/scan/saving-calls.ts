import type { CodeReader } from './instruction-decoder.ts';

/** Whether an instruction of RISC-V is a JAL that leaves the return address in t0: a call of a function that saves registers for its caller. */
export function isSavingCall(word: number): boolean {
  return (word & 0xfff) === 0x2ef;
}

/**
 * The svma of such a call that returns to an svma; −1 if there is none. While such a function runs, its caller is as it was at the call. Also of AUIPC and JALR, if
 * the linker has not made a JAL of them.
 */
export function savingCallBefore(code: CodeReader, svma: number): number {
  const word = code.half(svma - 4) | (code.half(svma - 2) << 16);
  if (isSavingCall(word)) return svma - 4;
  // auipc t0, hi; jalr t0, lo(t0)
  if ((word & 0xf_ffff) !== 0x2_82e7) return -1;
  return (code.half(svma - 8) & 0xfff) === 0x297 ? svma - 8 : -1;
}
