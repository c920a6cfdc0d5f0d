/**
 * The addresses of one unit: DW_FORM_addrx and range lists (DWARF 5, 2.17.3 and 7.25; DWARF 4, 2.17.3 and 7.23), read from windows of their sections. What is
 * not in a window is missing: the caller loads it, and asks again.
 */

import { isLiveRange } from '../../src/dwarf/encoding/code-ranges';
import {
  DW_FORM_addr,
  DW_FORM_rnglistx,
  DW_RLE_base_address,
  DW_RLE_base_addressx,
  DW_RLE_end_of_list,
  DW_RLE_offset_pair,
  DW_RLE_start_end,
  DW_RLE_start_length,
  DW_RLE_startx_endx,
  DW_RLE_startx_length,
} from '../../src/dwarf/encoding/dwarf-constants';
import { ADDR as ADDR_WINDOW, ENDLESS_RANGES, RANGES as RANGES_WINDOW, RNGLISTS as RNGLISTS_WINDOW, WINDOW_SIZE_BYTES } from '../../src/dwarf/wasm/contract';
import { toAddress } from './addresses';
import { readU8, readU32, readU64, setByteOrder } from './bytes';
import { address, addressSize, at, offsetSize, readFrom, setForms, uleb } from './forms';
import { damaged } from './host';
import { allocate, dropCount, grown, windowPlace } from './memory';

/** A stretch of a section in memory. */
class Window {
  /** Where its bytes are. */
  bytes: usize;
  /** Section offset of the first byte. */
  start: f64;
  length: f64;
  sectionSize: f64;

  /** Whether the section has these bytes at all. */
  holds(offset: f64, sizeBytes: f64): bool {
    return offset >= 0 && offset + sizeBytes <= this.sectionSize;
  }

  /** Whether the bytes are in memory. */
  covers(offset: f64, sizeBytes: f64): bool {
    return offset >= this.start && offset + sizeBytes <= this.start + this.length;
  }

  /** Where bytes that it covers are. */
  placeOf(offset: f64): usize {
    return this.bytes + <u32>(offset - this.start);
  }
}

const RANGES = changetype<Window>(memory.data(offsetof<Window>(), 8));
const RNGLISTS = changetype<Window>(memory.data(offsetof<Window>(), 8));
const ADDR = changetype<Window>(memory.data(offsetof<Window>(), 8));
const NONE: i32 = -1;

/** Most range lists are far shorter. One that does not fit into the window gets a larger one. */
const LIST_SIZE_BYTES: f64 = 4096;
const FIRST_CAPACITY: u32 = 64;
/** The longest entry of a list: a byte and two numbers of ten bytes, or addresses. */
const MAX_ENTRY_SIZE_BYTES: u32 = 21;

let version: u32 = 0;
let hasCodeAtZero: bool = false;
/** The address with all bits set: if it has 8 bytes, as a signed double. */
let top: f64 = 0;
let lowPc: f64 = 0;
let addrBase: f64 = 0;
let rnglistsBase: f64 = 0;
let rangesBase: f64 = 0;
let capacity: u32 = 0;
/** {@link dropCount} when the columns were allocated. */
let drops: u32 = 0;

/** What was needed and not in memory: number of the window, −1 for none. */
export let missing: i32 = NONE;
export let missingOffset: f64 = 0;
export let missingSizeBytes: f64 = 0;
/** The live ranges of the last range list, in its order. */
export let starts: usize = 0;
export let ends: usize = 0;
export let count: u32 = 0;
/** How many more entries of lists may be read before they are taken for endless. */
export let entriesLeft: f64 = 0;

function windowOf(number: i32): Window {
  return number === RANGES_WINDOW ? RANGES : number === RNGLISTS_WINDOW ? RNGLISTS : ADDR;
}

/** Where to put what a window shows. If it has more than WINDOW_SIZE_BYTES, it is only there until {@link dropCount} changes. */
export function placeWindow(number: i32, sizeBytes: u32): usize {
  const window = windowOf(number);
  window.bytes = sizeBytes > <u32>WINDOW_SIZE_BYTES ? allocate(sizeBytes) : windowPlace(number);
  return window.bytes;
}

/** Sets what a window shows. */
export function setWindow(number: i32, start: f64, length: f64, sectionSize: f64): void {
  const window = windowOf(number);
  window.start = start;
  window.length = length;
  window.sectionSize = sectionSize;
}

/** Begins a unit. For the last four parameters, see `AddressBases` in src/dwarf/encoding/wasm-instance.ts. */
export function setUnitFormat(
  dwarfVersion: u32,
  addresses: u32,
  offsets: u32,
  isLittleEndian: bool,
  codeAtZero: bool,
  low: f64,
  addr: f64,
  rnglists: f64,
  ranges: f64,
): void {
  version = dwarfVersion;
  setForms(addresses, offsets);
  setByteOrder(isLittleEndian);
  hasCodeAtZero = codeAtZero;
  top = highestAddress(addresses);
  lowPc = low;
  addrBase = addr;
  rnglistsBase = rnglists;
  rangesBase = ranges;
  missing = NONE;
}

function highestAddress(size: u32): f64 {
  return size === 8 ? -1 : 4294967295;
}

/** Whether a range of the unit's code is in the program. */
export function isLive(start: f64, end: f64): bool {
  return isLiveRange(start, end, addressSize, hasCodeAtZero);
}

function miss(window: i32, offset: f64, sizeBytes: f64): bool {
  missing = window;
  missingOffset = offset;
  missingSizeBytes = sizeBytes;
  return false;
}

/** Address `index` of the unit's contribution to .debug_addr; NaN if it has none, or it is missing. */
export function addressAt(index: f64): f64 {
  const size = <f64>addressSize;
  const offset = addrBase + index * size;
  if (!ADDR.holds(offset, size)) return NaN;
  if (!ADDR.covers(offset, size)) {
    miss(ADDR_WINDOW, offset, size);
    return NaN;
  }
  const place = ADDR.placeOf(offset);
  return addressSize === 8 ? toAddress(readU64(place)) : <f64>readU32(place);
}

/** The value of an attribute that is an address: DW_FORM_addr, or an index of any form. */
export function addressOf(form: i32, value: f64): f64 {
  return form === DW_FORM_addr ? value : addressAt(value);
}

/** Reads the live ranges of a DW_AT_ranges into {@link starts} and {@link ends}. @returns false if something is missing */
export function readRanges(form: i32, value: f64): bool {
  count = 0;
  if (drops !== dropCount) {
    drops = dropCount;
    capacity = 0;
  }
  if (version < 5) return readOldRanges(rangesBase + value);
  if (form !== DW_FORM_rnglistx) return readRangeList(value);
  const size = <f64>offsetSize;
  const entry = rnglistsBase + value * size;
  if (!RNGLISTS.holds(entry, size)) return true;
  if (!RNGLISTS.covers(entry, size)) return miss(RNGLISTS_WINDOW, entry, size);
  const place = RNGLISTS.placeOf(entry);
  return readRangeList(rnglistsBase + (offsetSize === 8 ? <f64>readU64(place) : <f64>readU32(place)));
}

function add(start: f64, end: f64): void {
  if (!isLive(start, end)) return;
  if (count === capacity) {
    const larger = capacity === 0 ? FIRST_CAPACITY : 2 * capacity;
    starts = grown(starts, count, larger, 8);
    ends = grown(ends, count, larger, 8);
    capacity = larger;
  }
  store<f64>(starts + (count << 3), start);
  store<f64>(ends + (count << 3), end);
  count++;
}

/** Counts an entry: in a hostile file, each DIE can refer to a long list. */
function countEntry(): void {
  if (--entriesLeft < 0) damaged(ENDLESS_RANGES, 0);
}

/** .debug_ranges: pairs of offsets from a base, ended by two zeros; a pair that begins with the largest address sets the base. */
function readOldRanges(offset: f64): bool {
  const pairSize = 2 * addressSize;
  if (!RANGES.holds(offset, pairSize)) return true;
  if (!RANGES.covers(offset, pairSize)) return miss(RANGES_WINDOW, offset, LIST_SIZE_BYTES);
  let base = lowPc;
  const end = RANGES.bytes + <u32>RANGES.length;
  for (let place = RANGES.placeOf(offset); place + pairSize <= end; place += pairSize) {
    const first = addressSize === 8 ? toAddress(readU64(place)) : <f64>readU32(place);
    const second = addressSize === 8 ? toAddress(readU64(place + 8)) : <f64>readU32(place + 4);
    countEntry();
    if (first === 0 && second === 0) return true;
    if (first === top) base = second;
    // These are what lld and GNU ld put for the base of discarded code. Offsets from 0 are addresses.
    else if (base !== 1 && base !== top && base !== top - 1 && first !== top - 1) add(base + first, base + second);
  }
  return endsInWindow(RANGES_WINDOW, offset);
}

/** .debug_rnglists */
function readRangeList(offset: f64): bool {
  if (!RNGLISTS.holds(offset, 1)) return true;
  if (!RNGLISTS.covers(offset, 1)) return miss(RNGLISTS_WINDOW, offset, LIST_SIZE_BYTES);
  const end = RNGLISTS.bytes + <u32>RNGLISTS.length;
  const isLast = RNGLISTS.start + RNGLISTS.length >= RNGLISTS.sectionSize;
  let base = lowPc;
  readFrom(RNGLISTS.placeOf(offset), end);
  while (at + MAX_ENTRY_SIZE_BYTES <= end || isLast) {
    countEntry();
    if (at >= end) return true;
    const kind = <i32>readU8(at);
    readFrom(at + 1, end);
    if (kind === DW_RLE_end_of_list) return true;
    if (kind === DW_RLE_offset_pair) {
      // Go counts from the first function of a unit, which need not be the lowest, so offsets may be negative.
      const start = <f64>(<i64>uleb());
      const behind = <f64>(<i64>uleb());
      if (isLive(base, Infinity) || base === 0) add(base + start, base + behind);
    } else if (kind === DW_RLE_base_address) base = address();
    else if (kind === DW_RLE_base_addressx) base = addressAt(<f64>uleb());
    else if (kind === DW_RLE_startx_endx) {
      const start = addressAt(<f64>uleb());
      add(start, addressAt(<f64>uleb()));
    } else if (kind === DW_RLE_startx_length) {
      const start = addressAt(<f64>uleb());
      add(start, start + <f64>uleb());
    } else if (kind === DW_RLE_start_end) {
      const start = address();
      add(start, address());
    } else if (kind === DW_RLE_start_length) {
      const start = address();
      add(start, start + <f64>uleb());
    } else return true;
    if (missing !== NONE) return false;
  }
  return endsInWindow(RNGLISTS_WINDOW, offset);
}

/** The result for a list that reached the end of the window: true if the section ends there, too. */
function endsInWindow(number: i32, offset: f64): bool {
  const window = windowOf(number);
  const end = window.start + window.length;
  if (end >= window.sectionSize) return true;
  return miss(number, offset, 2 * (end - offset) + LIST_SIZE_BYTES);
}
