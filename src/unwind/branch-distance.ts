/** How far b and bl lead on LoongArch, in bytes: the upper ten of the 26 bits are the lowest ones. @see LoongArch Reference Manual, volume 1, 2.2.5 */
export function loongarchDistance(word: number): number {
  return (((word << 22) >> 6) | ((word >>> 10) & 0xffff)) * 4;
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
