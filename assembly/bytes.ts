/** Eight bytes at a time: loops over single ones take most of the time otherwise. */

/** A byte of 1 at each place. */
export const ONES: u64 = u64.MAX_VALUE / 0xff;
const TOP_BITS: u64 = 0x80 * ONES;

/** 0 where no byte is below a limit of at most 0x80; else its lowest bit that is set is the top one of the first such byte. */
export function bytesBelow(text: u64, limit: u64): u64 {
  // What a borrow sets besides is above the first of them.
  return (text - limit * ONES) & ~text & TOP_BITS;
}
