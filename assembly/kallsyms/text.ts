/** Reads text, eight bytes at a time. */

import { bytesBelow, ONES } from '../bytes';

/** The distance between `9` and `a` apart from their values: 0x61 − 0x3a. */
const LETTER_GAP: u64 = 39;

/** What {@link hexDigits} returns for other text. */
export const NO_DIGITS: u64 = u64.MAX_VALUE;

/** The number that eight lower-case hexadecimal digits stand for, the first of which is the lowest byte. */
export function hexDigits(text: u64): u64 {
  // Letters have bit 6, and their lower four bits count from 1.
  const values = (text & (0x0f * ONES)) + ((text >> 6) & ONES) * 9;
  const isLetter = ((values + 6 * ONES) >> 4) & ONES;
  if ((values & (0xf0 * ONES)) !== 0 || values + 0x30 * ONES + isLetter * LETTER_GAP !== text) return NO_DIGITS;
  const bytes = ((values << 4) | (values >> 8)) & (0x00ff * 0x0001000100010001);
  const halves = ((bytes << 8) | (bytes >> 16)) & (0xffff * 0x1_0000_0001);
  return ((halves << 16) | (halves >> 32)) & 0xffffffff;
}

/** Where, from `place` up to `end`, the first byte is that is a space or below; `end` if there is none. */
export function nameEnd(place: usize, end: usize): usize {
  for (let at = place; at < end; at += 8) {
    const found = bytesBelow(load<u64>(at), 0x21);
    if (found !== 0) return min(at + <usize>(ctz(found) >> 3), end);
  }
  return end;
}
