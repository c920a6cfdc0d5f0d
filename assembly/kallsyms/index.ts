/** The module of src/symbolizer/kernel/: reads the plain lines of a kernel's symbol list. */

import { LEAST_LINE_SIZE_BYTES, MAX_ROWS, MAX_TAIL_SIZE_BYTES, WINDOW_SIZE_BYTES } from '../../src/symbolizer/kernel/wasm/contract';
import { reach } from '../pages';
import { LEAST_PLAIN } from '../plain-addresses';
import { hexDigits, NO_DIGITS, nameEnd } from './text';

const SPACE: u8 = 0x20;
const DOLLAR: u8 = 0x24;
/** `.L`, as a little-endian word. */
const DOT_L: u16 = 0x4c2e;
const LOWER_CASE_BIT: u8 = 0x20;
const LOWER_B: u8 = 0x62;
const LOWER_D: u8 = 0x64;
const LOWER_T: u8 = 0x74;
const LOWER_W: u8 = 0x77;

/** Columns, with a row for each symbol that was kept. */
const STARTS: usize = (__heap_base + 15) & ~15;
const NAME_OFFSETS: usize = STARTS + 8 * <usize>MAX_ROWS;
const NAME_LENGTHS: usize = NAME_OFFSETS + 4 * <usize>MAX_ROWS;
const TAIL: usize = NAME_LENGTHS + 4 * <usize>MAX_ROWS;
const WINDOW: usize = TAIL + MAX_TAIL_SIZE_BYTES;
/** Names are searched eight bytes at a time, which may reach beyond the window. */
const END: usize = WINDOW + WINDOW_SIZE_BYTES + 8;

/** Where the areas are that TypeScript writes and reads. */
export const starts: usize = STARTS;
export const nameOffsets: usize = NAME_OFFSETS;
export const nameLengths: usize = NAME_LENGTHS;
export const tail: usize = TAIL;
export const window: usize = WINDOW;

/** How many rows the last call of {@link readLines} made. */
export let rowCount: u32 = 0;

/** To be called once. @returns whether there is memory */
export function initialize(): bool {
  return reach(END);
}

/**
 * Reads plain lines: 16 lower-case digits that are not all zero, a type, a name, and what is in {@link tail}. Keeps those that may name code. If successive
 * symbols have the same address, the last one is kept, see `KallsymsLines`.
 * @param from where the first line begins in the window
 * @param sizeBytes how many bytes the window holds
 * @param windowStart where the window begins in the list
 * @param tailSizeBytes size of {@link tail}; 0 if no line is plain
 * @param least the least address of a symbol that is kept, which rises with each one: a line with a lower address is not plain. −Infinity if any order is
 * @returns where the first line begins that is not plain or not complete
 */
export function readLines(from: usize, sizeBytes: usize, windowStart: u32, tailSizeBytes: usize, least: f64): usize {
  const isOrdered = least > -Infinity;
  const end = WINDOW + sizeBytes;
  let line = WINDOW + from;
  let count: u32 = 0;
  let last = least;
  while (tailSizeBytes > 0 && line + LEAST_LINE_SIZE_BYTES <= end) {
    const hi = hexDigits(load<u64>(line));
    const lo = hexDigits(load<u64>(line, 8));
    if (hi === NO_DIGITS || lo === NO_DIGITS || load<u8>(line, 16) !== SPACE || load<u8>(line, 18) !== SPACE) break;
    const address = <i64>((hi << 32) | lo);
    if (address === 0 || address < LEAST_PLAIN) break;
    const name = line + 19;
    const after = nameEnd(name, end);
    if (after === name || after + tailSizeBytes > end || !hasTail(after, tailSizeBytes)) break;
    const type = load<u8>(line, 17) | LOWER_CASE_BIT;
    const isKept = type === LOWER_T || type === LOWER_W || type === LOWER_D || type === LOWER_B;
    if (isKept && load<u8>(name) !== DOLLAR && load<u16>(name) !== DOT_L) {
      const start = <f64>address;
      if (isOrdered && start < last) break;
      if (count === 0 || start !== last) count++;
      last = start;
      const row = <usize>(count - 1);
      store<f64>(STARTS + (row << 3), start);
      store<u32>(NAME_OFFSETS + (row << 2), windowStart + <u32>(name - WINDOW));
      store<u32>(NAME_LENGTHS + (row << 2), <u32>(after - name));
    }
    line = after + tailSizeBytes;
  }
  rowCount = count;
  return line - WINDOW;
}

function hasTail(place: usize, sizeBytes: usize): bool {
  // For symbols of the kernel image, the tail is only the end of the line.
  return load<u8>(place) === load<u8>(TAIL) && (sizeBytes === 1 || memory.compare(place, TAIL, sizeBytes) === 0);
}
