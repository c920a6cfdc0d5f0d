/** Memory, of which nothing is given back: an instance has some arrays that grow, and is dropped when they have grown large. */

import { full } from './host';

const PAGE_SIZE_BYTES: u64 = 0x1_0000;
/** Two gigabytes: JavaScript takes places for signed numbers, and no sum of places here wraps. */
const MAX_PAGES: u64 = 0x8000;

let end: u64 = __heap_base;

/** Room for so many bytes, which hold anything. Whoever notes how much there is does so behind: there may be none. */
export function allocate(sizeBytes: u64): usize {
  const place = (end + 7) & ~7;
  const behind = place + sizeBytes;
  const pages = (behind + PAGE_SIZE_BYTES - 1) / PAGE_SIZE_BYTES;
  const missing = <i64>pages - memory.size();
  if (pages > MAX_PAGES || (missing > 0 && memory.grow(<i32>missing) < 0)) full();
  end = behind;
  return <usize>place;
}

/** Room for a column of values of so many bytes each. */
export function allocateColumn(capacity: u32, valueSize: u32): usize {
  return allocate(<u64>capacity * valueSize);
}

/** More room for a column that has `used` values, whose place is given up. */
export function grown(column: usize, used: u32, capacity: u32, valueSize: u32): usize {
  const place = allocateColumn(capacity, valueSize);
  memory.copy(place, column, used * valueSize);
  return place;
}
