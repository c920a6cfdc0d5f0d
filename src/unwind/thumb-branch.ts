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
