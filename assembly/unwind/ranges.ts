/** What is mapped where, in the address spaces that were walked in last. */

import { MAX_RANGES, RANGE_SIZE_BYTES, SPACE_COUNT, SPACE_HEADER_SIZE_BYTES, SPACE_SIZE_BYTES, SPACES } from './memory';
import { enterRecent } from './recent';

// A space: generation, number of ranges, the range that was found last; then the ranges in order of their addresses.
const GENERATION: usize = 0;
const COUNT: usize = 8;
const LAST: usize = 12;
// A range: start, end, what to subtract for the module's own addresses, module, file.
const END: usize = 8;
const BIAS: usize = 16;
const MODULE: usize = 24;
const FILE: usize = 28;

let space: usize = SPACES;

/** Switches to the space of a generation (1 or more). It is empty again if another one has taken its place since. */
export function enterSpace(generation: f64): void {
  const number = <u64>generation;
  enterRecent(number);
  space = SPACES + (<usize>number % SPACE_COUNT) * SPACE_SIZE_BYTES;
  if (load<u64>(space, GENERATION) === number) return;
  store<u64>(space, number, GENERATION);
  store<u32>(space, 0, COUNT);
  store<u32>(space, 0, LAST);
}

function rangeAt(index: usize): usize {
  return space + SPACE_HEADER_SIZE_BYTES + index * RANGE_SIZE_BYTES;
}

/** The range that holds an address; 0 for none. */
export function findRange(address: u64): usize {
  const last = rangeAt(load<u32>(space, LAST));
  const count: usize = load<u32>(space, COUNT);
  if (count === 0) return 0;
  if (address >= load<u64>(last) && address < load<u64>(last, END)) return last;
  const index = firstEndingAfter(address, count);
  if (index === count) return 0;
  const range = rangeAt(index);
  if (address < load<u64>(range)) return 0;
  store<u32>(space, <u32>index, LAST);
  return range;
}

function firstEndingAfter(address: u64, count: usize): usize {
  let low: usize = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (load<u64>(rangeAt(middle), END) > address) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Adds a range to the current space. @returns whether there was room for it, and nothing else in its place */
export function addRange(start: f64, end: f64, bias: f64, module: i32, file: i32): bool {
  const count: usize = load<u32>(space, COUNT);
  const index = firstEndingAfter(<u64>start, count);
  if (count === MAX_RANGES || (index < count && load<u64>(rangeAt(index)) < <u64>end)) return false;
  const range = rangeAt(index);
  memory.copy(range + RANGE_SIZE_BYTES, range, (count - index) * RANGE_SIZE_BYTES);
  store<u64>(range, <u64>start);
  store<u64>(range, <u64>end, END);
  store<i64>(range, <i64>bias, BIAS);
  store<i32>(range, module, MODULE);
  store<i32>(range, file, FILE);
  store<u32>(space, <u32>count + 1, COUNT);
  store<u32>(space, <u32>index, LAST);
  return true;
}

export function biasOf(range: usize): i64 {
  return load<i64>(range, BIAS);
}

export function moduleOf(range: usize): u32 {
  return load<u32>(range, MODULE);
}

export function fileOf(range: usize): i32 {
  return load<i32>(range, FILE);
}
