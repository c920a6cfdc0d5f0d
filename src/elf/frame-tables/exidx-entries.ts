/** An entry of `.ARM.exidx`: where a function begins, and how to unwind it. Source: Exception Handling ABI for the Arm Architecture, 5. */
export const EXIDX_ENTRY_SIZE_BYTES = 8;

/** What a word of the tables refers to: 31 bits, signed, relative to the word's own address (svma). */
export function prel31(word: number, addr: number): number {
  return (addr + ((word << 1) >> 1)) >>> 0;
}
