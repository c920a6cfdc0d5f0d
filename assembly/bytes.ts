/** Works on eight bytes at a time: loops over single ones would take most of the time. */

/** A 1 in each byte. */
export const ONES: u64 = u64.MAX_VALUE / 0xff;
const TOP_BITS: u64 = 0x80 * ONES;

/** 0 if no byte is below a limit of at most 0x80; else, the lowest set bit is the top bit of the first byte that is. */
export function bytesBelow(text: u64, limit: u64): u64 {
  // Other bits that a borrow sets are above the first of them.
  return (text - limit * ONES) & ~text & TOP_BITS;
}
