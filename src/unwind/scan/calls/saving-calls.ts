import type { CodeReader } from '../code/instruction-decoder.ts';

// Calls of functions that save registers for their caller (RISC-V, `-msave-restore`): they leave the return address in t0.

/** Whether an instruction is such a call by itself: JAL. */
export function isSavingCall(word: number): boolean {
  return (word & 0xfff) === 0x2ef;
}

/**
 * How far from the first one two instructions lead that are such a call, AUIPC and JALR: the linker keeps them where the function is beyond the reach of JAL.
 * @returns NaN if they are no such call
 */
export function savingDistance(first: number, second: number): number {
  const isCall = (first & 0xfff) === 0x297 && (second & 0xf_ffff) === 0x2_82e7;
  return isCall ? (first & ~0xfff) + (second >> 20) : Number.NaN;
}

/** The svma of such a call that returns to an svma; −1 if there is none. While such a function runs, its caller is as it was at the call. */
export function savingCallBefore(code: CodeReader, svma: number): number {
  const wordAt = (at: number): number => code.half(at) | (code.half(at + 2) << 16);
  const word = wordAt(svma - 4);
  if (isSavingCall(word)) return svma - 4;
  return Number.isNaN(savingDistance(wordAt(svma - 8), word)) ? -1 : svma - 8;
}
