/** Pages of memory. A module has as many as it has asked for. */

const PAGE_SIZE_BYTES: usize = 0x1_0000;

/** Makes memory extend up to `end`. @returns whether there is that much */
export function reach(end: usize): bool {
  const missing = <i32>((end + PAGE_SIZE_BYTES - 1) / PAGE_SIZE_BYTES) - memory.size();
  return missing <= 0 || memory.grow(missing) >= 0;
}
