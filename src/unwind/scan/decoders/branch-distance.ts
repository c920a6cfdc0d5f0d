/** How far B and BL lead on arm64, in bytes. @see Arm Architecture Reference Manual for A-profile, C6.2 "B", "BL" */
export function aarch64Distance(word: number): number {
  return (word << 6) >> 4;
}

/** Where B, BL and BLX of A32 at an address lead; what BLX adds is left out. @see Arm Architecture Reference Manual for ARMv7-A, A8.8.18, A8.8.25 */
export function armBranchTarget(word: number, address: number): number {
  return address + 8 + ((word << 8) >> 6);
}

/**
 * The distance of Thumb's longest branches (B.W, BL and BLX), in bytes from the end of the instruction.
 * @param first, second the instruction's halves
 * @see Arm Architecture Reference Manual for ARMv7-A, A8.8.18 "B" (encoding T4), A8.8.25 "BL, BLX (immediate)"
 */
export function thumbBranchDistance(first: number, second: number): number {
  const sign = (first >>> 10) & 1;
  // Two bits of the distance are stored as whether they equal its sign.
  const [i1, i2] = [1 - (((second >>> 13) & 1) ^ sign), 1 - (((second >>> 11) & 1) ^ sign)];
  return (-sign << 24) | (i1 << 23) | (i2 << 22) | ((first & 0x3ff) << 12) | ((second & 0x7ff) << 1);
}

/** How far b and bl lead on LoongArch, in bytes: the upper ten of the 26 bits are the lowest ones. @see LoongArch Reference Manual, volume 1, 2.2.5 */
export function loongarchDistance(word: number): number {
  return (((word << 22) >> 6) | ((word >>> 10) & 0xffff)) * 4;
}

/** How far JAL leads on RISC-V, in bytes. @see The RISC-V Instruction Set Manual, volume I, "Unconditional Jumps" */
export function riscvDistance(word: number): number {
  return ((word >> 31) << 20) | (word & 0xf_f000) | ((word >> 9) & 0x800) | ((word >> 20) & 0x7fe);
}

/** How far b and bl lead on PowerPC, in bytes. @see Power ISA, version 3.1, Book I, 2.4 */
export function powerpcDistance(word: number): number {
  return ((word & 0x03ff_fffc) << 6) >> 6;
}

/** Where a branch of MIPS at an address leads. @see MIPS64 Architecture For Programmers, volume II */
export function mipsBranchTarget(word: number, address: number): number {
  return address + 4 + ((word << 16) >> 14);
}

/** Where j and jal of MIPS lead: within the 256 MB of the instruction after them. */
export function mipsJumpTarget(word: number, address: number): number {
  const next = address + 4;
  return next - (next % 0x1000_0000) + (word & 0x03ff_ffff) * 4;
}
