/** The module of src/elf/: collects the plain symbols of a table. */

import {
  SHN_LORESERVE,
  SHN_UNDEF,
  SHN_XINDEX,
  STB_GLOBAL,
  STB_WEAK,
  STT_FUNC,
  STT_GNU_IFUNC,
  STT_NOTYPE,
  STT_OBJECT,
} from '../../src/elf/symbols/symbol-constants';
import { ENTRY_SIZE_BYTES, LOAD_FIELDS, MAX_ENTRIES, MAX_LOADS } from '../../src/elf/wasm/contract';
import { RANK_GLOBAL, RANK_LOCAL, RANK_WEAK } from '../../src/symbol-table/symbol-rank';
import { bytesBelow } from '../bytes';
import { reach } from '../pages';
import { LEAST_PLAIN } from '../plain-addresses';

const DOLLAR: u8 = 0x24;

/** Columns, with a row for each symbol that was collected. */
const STARTS: usize = (__heap_base + 15) & ~15;
const SIZES: usize = STARTS + 8 * MAX_ENTRIES;
const NAME_OFFSETS: usize = SIZES + 8 * MAX_ENTRIES;
const NAME_LENGTHS: usize = NAME_OFFSETS + 4 * MAX_ENTRIES;
const RANKS: usize = NAME_LENGTHS + 4 * MAX_ENTRIES;
const LOADS: usize = RANKS + MAX_ENTRIES;
const LOAD_SIZE_BYTES: usize = 8 * LOAD_FIELDS;
const ENTRIES: usize = LOADS + LOAD_SIZE_BYTES * MAX_LOADS;
const NAMES: usize = ENTRIES + ENTRY_SIZE_BYTES * MAX_ENTRIES;

/** Where the areas are that TypeScript writes and reads. */
export const starts: usize = STARTS;
export const sizes: usize = SIZES;
export const nameOffsets: usize = NAME_OFFSETS;
export const nameLengths: usize = NAME_LENGTHS;
export const ranks: usize = RANKS;
export const loads: usize = LOADS;
export const entries: usize = ENTRIES;
export const names: usize = NAMES;

/** How many rows the last call of {@link readSymbols} made, and how many bytes their names have. */
export let rowCount: u32 = 0;
export let nameBytes: f64 = 0;

let namesSizeBytes: u32 = 0;
let loadCount: u32 = 0;

/**
 * To be called once, before anything is put into memory.
 * @param sizeBytes size of the names
 * @param segments how many mapped segments there are
 * @returns whether there is memory
 */
export function initialize(sizeBytes: u32, segments: u32): bool {
  namesSizeBytes = sizeBytes;
  loadCount = segments;
  // The zeros after the names end the last one, and are read eight bytes at a time.
  return reach(NAMES + sizeBytes + 8);
}

/**
 * Collects plain symbols: functions and data at an address in one of the segments. Skips entries of other types, of no section, or without a name.
 * @param from the first entry
 * @param to how many entries are in memory
 * @param leavesDollars whether names that begin with a dollar sign are not plain
 * @param maxNameBytes how long all names together may be
 * @returns the first entry that is not plain
 */
export function readSymbols(from: u32, to: u32, leavesDollars: bool, maxNameBytes: f64): u32 {
  let count: usize = 0;
  let total: f64 = 0;
  let index = from;
  for (; index < to; index++) {
    const entry = ENTRIES + <usize>ENTRY_SIZE_BYTES * index;
    const nameOffset = load<u32>(entry);
    if (nameOffset === 0 || nameOffset >= namesSizeBytes) continue;
    const info = <i32>load<u8>(entry, 4);
    const section = <i32>load<u16>(entry, 6);
    if (section === SHN_UNDEF || (section >= SHN_LORESERVE && section !== SHN_XINDEX)) continue;
    const type = info & 0xf;
    if (type === STT_NOTYPE) break;
    if (type !== STT_FUNC && type !== STT_OBJECT && type !== STT_GNU_IFUNC) continue;
    const name = NAMES + nameOffset;
    const nameLength = lengthAt(name);
    if (nameLength === 0) continue;
    if ((leavesDollars && load<u8>(name) === DOLLAR) || total + <f64>nameLength > maxNameBytes) break;
    const value = load<i64>(entry, 8);
    if (value < LEAST_PLAIN) break;
    const start = fileOffsetOf(<f64>value);
    if (start < 0) break;
    total += <f64>nameLength;
    store<f64>(STARTS + (count << 3), start);
    store<f64>(SIZES + (count << 3), <f64>load<u64>(entry, 16));
    store<u32>(NAME_OFFSETS + (count << 2), nameOffset);
    store<u32>(NAME_LENGTHS + (count << 2), nameLength);
    store<u8>(RANKS + count, <u8>rankOf(info >> 4));
    count++;
  }
  rowCount = <u32>count;
  nameBytes = total;
  return index;
}

/** The file offset according to the first segment that contains the address, as in `ElfFile.fileOffsetOf`; −1 if none does. */
function fileOffsetOf(address: f64): f64 {
  const end = LOADS + LOAD_SIZE_BYTES * <usize>loadCount;
  for (let segment = LOADS; segment < end; segment += LOAD_SIZE_BYTES) {
    const at = address - load<f64>(segment);
    if (at >= 0 && at < load<f64>(segment, 8)) return at + load<f64>(segment, 16);
  }
  return -1;
}

/** How many bytes precede the next one that is 0. */
function lengthAt(place: usize): u32 {
  let at = place;
  while (true) {
    const found = bytesBelow(load<u64>(at), 1);
    if (found !== 0) return <u32>(at - place) + <u32>(ctz(found) >> 3);
    at += 8;
  }
}

function rankOf(binding: i32): i32 {
  if (binding === STB_GLOBAL) return RANK_GLOBAL;
  return binding === STB_WEAK ? RANK_WEAK : RANK_LOCAL;
}
