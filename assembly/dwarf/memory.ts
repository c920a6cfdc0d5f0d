/**
 * Memory is a stack of areas; README.md has the map. Beginning an area drops everything in it and above it: nothing is freed individually, and each unit starts
 * with as much memory as the one before it.
 */

import { WINDOW_COUNT, WINDOW_SIZE_BYTES } from '../../src/dwarf/wasm/contract';
import { full } from './host';

const PAGE_SIZE_BYTES: u64 = 0x1_0000;
/** Two gigabytes: JavaScript reads places as signed numbers, and here, no sum of places may wrap. */
const MAX_PAGES: u64 = 0x8000;
/** Larger than most abbreviation tables. */
const MIN_TABLE_CAPACITY: u64 = 1 << 18;

const WINDOWS_START: u64 = __heap_base;
const TABLE_START: u64 = WINDOWS_START + <u64>WINDOW_COUNT * WINDOW_SIZE_BYTES;

let linesStart: u64 = TABLE_START;
let scanStart: u64 = TABLE_START;
let scratchStart: u64 = TABLE_START;
/** Where free memory starts. */
let top: u64 = TABLE_START;

/** How many bytes an abbreviation table may have before areas are dropped for it. */
export let tableCapacity: u32 = 0;
/** How many times areas were dropped. It tells whoever allocates without an area of its own that its memory is gone. */
export let dropCount: u32 = 0;

/** Memory for `sizeBytes` bytes with any contents. Note a new capacity only after the call: there may be no memory. */
export function allocate(sizeBytes: u64): usize {
  const place = (top + 7) & ~7;
  top = allocated(place + sizeBytes);
  return <usize>place;
}

/** Makes memory extend up to `end`. @returns `end` */
function allocated(end: u64): u64 {
  const pages = (end + PAGE_SIZE_BYTES - 1) / PAGE_SIZE_BYTES;
  const missing = <i64>pages - memory.size();
  if (pages > MAX_PAGES || (missing > 0 && memory.grow(<i32>missing) < 0)) full();
  return end;
}

/** Memory for a column of `capacity` values of `valueSize` bytes each. */
export function allocateColumn(capacity: u32, valueSize: u32): usize {
  return allocate(<u64>capacity * valueSize);
}

/** More memory for a column that has `used` values. The old place stays unused until its area is dropped. */
export function grown(column: usize, used: u32, capacity: u32, valueSize: u32): usize {
  const place = allocateColumn(capacity, valueSize);
  memory.copy(place, column, used * valueSize);
  return place;
}

function drop(start: u64): void {
  top = start;
  dropCount++;
}

/** Where the window with a number is, unless it is longer than WINDOW_SIZE_BYTES. */
export function windowPlace(number: u32): usize {
  allocated(TABLE_START);
  return <usize>(WINDOWS_START + <u64>number * WINDOW_SIZE_BYTES);
}

/**
 * Memory for the abbreviation table of the current unit, in place of the previous one. What is above is kept unless the table is larger than
 * {@link tableCapacity}.
 */
export function reserveTable(sizeBytes: u32): usize {
  if (sizeBytes > tableCapacity) {
    const larger = max(<u64>sizeBytes + sizeBytes / 2, MIN_TABLE_CAPACITY);
    drop(TABLE_START);
    tableCapacity = 0;
    allocate(larger);
    tableCapacity = <u32>larger;
    linesStart = scanStart = top;
  }
  return <usize>TABLE_START;
}

/** Begins the area of a line table's rows. */
export function beginLines(): void {
  drop(linesStart);
  scanStart = linesStart;
}

/** Keeps what was allocated since {@link beginLines}, until it is called again. */
export function keepLines(): void {
  scanStart = top;
}

/** Begins the area of a scan. */
export function beginScan(): void {
  drop(scanStart);
}

/** Begins an area above all others, to be dropped by {@link endScratch}. */
export function beginScratch(): void {
  scratchStart = top;
}

export function endScratch(): void {
  top = scratchStart;
}
