/** Which function of a unit covers which of the wanted addresses: see `FunctionClaims` of src/dwarf/functions/function-scan.ts. */

import { TOO_MANY_CLAIMS } from '../../src/dwarf/wasm/contract';
import { damaged } from './host';
import { allocateColumn, grown } from './memory';

/** How many functions may claim each address on average, in addition to one for each byte of the unit. */
const MAX_CLAIMS_PER_ADDRESS: f64 = 1000;
const FIRST_CAPACITY: u32 = 256;

export let wantedCount: u32 = 0;
let dieCapacity: u32 = 0;
let claimsLeft: f64 = 0;
let keepsInlined: bool = false;

/** Wanted addresses, ascending. */
export let wanted: usize = 0;
/** By index of the wanted addresses: the innermost function there, as an index of {@link dies}; −1 for none. */
export let innermost: usize = 0;
/** By index of the wanted addresses: the largest end that was claimed before it; −Infinity for none. */
export let endsBefore: usize = 0;
/** Where the functions' DIEs are in the unit. */
export let dies: usize = 0;
/** What a function was inlined into; −1 for one that was not inlined. */
export let parents: usize = 0;
export let functionCount: u32 = 0;

/** Where to put a number of wanted addresses for the scan that has begun. */
export function placeWanted(addresses: u32): usize {
  wanted = allocateColumn(addresses, 8);
  innermost = allocateColumn(addresses, 4);
  endsBefore = allocateColumn(addresses, 8);
  wantedCount = addresses;
  dieCapacity = 0;
  return wanted;
}

/** Begins with all wanted addresses free. @param keeps whether inlined functions keep their addresses when later functions that are not inlined claim them */
export function beginClaims(unitSizeBytes: u32, keeps: bool): void {
  keepsInlined = keeps;
  functionCount = 0;
  claimsLeft = <f64>wantedCount * MAX_CLAIMS_PER_ADDRESS + <f64>unitSizeBytes;
  for (let i: u32 = 0; i < wantedCount; i++) {
    store<i32>(innermost + (i << 2), -1);
    store<f64>(endsBefore + (i << 3), -Infinity);
  }
}

/** Stops if there were far more claims than a proper file can have. */
export function checkClaims(): void {
  if (claimsLeft < 0) damaged(TOO_MANY_CLAIMS, 0);
}

/** Gives the function of a DIE all wanted addresses from `low` up to `high`. All ranges of a DIE are claimed before those of the next. */
export function claim(low: f64, high: f64, dieAt: u32, parent: i32): void {
  claimsLeft--;
  if (wantedCount === 0 || load<f64>(wanted + ((wantedCount - 1) << 3)) < low) return;
  let first = lowerBound(low);
  if (load<f64>(wanted + (first << 3)) < high) first = take(first, high, dieAt, parent);
  if (first < wantedCount && load<f64>(endsBefore + (first << 3)) < high) store<f64>(endsBefore + (first << 3), high);
}

function lowerBound(value: f64): u32 {
  let low: u32 = 0;
  let high = wantedCount;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (load<f64>(wanted + (middle << 3)) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function take(from: u32, high: f64, dieAt: u32, parent: i32): u32 {
  // A function has one entry, however many ranges.
  const isKnown = functionCount > 0 && load<u32>(dies + ((functionCount - 1) << 2)) === dieAt;
  const index = isKnown ? functionCount - 1 : add(dieAt, parent);
  const isOutermost = parent < 0 && keepsInlined;
  let i = from;
  for (; i < wantedCount && load<f64>(wanted + (i << 3)) < high; i++) {
    if (isOutermost && isInlined(load<i32>(innermost + (i << 2)))) continue;
    store<u32>(innermost + (i << 2), index);
  }
  claimsLeft -= i - from;
  return i;
}

function isInlined(index: i32): bool {
  return index >= 0 && load<i32>(parents + (index << 2)) >= 0;
}

/** Adds the function of a DIE. @returns its index */
export function add(dieAt: u32, parent: i32): u32 {
  claimsLeft--;
  if (functionCount === dieCapacity) {
    const larger = dieCapacity === 0 ? FIRST_CAPACITY : 2 * dieCapacity;
    dies = grown(dies, functionCount, larger, 4);
    parents = grown(parents, functionCount, larger, 4);
    dieCapacity = larger;
  }
  store<u32>(dies + (functionCount << 2), dieAt);
  store<i32>(parents + (functionCount << 2), parent);
  return functionCount++;
}
