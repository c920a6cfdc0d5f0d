/** The tables of modules by which rules are found: `.eh_frame`, and the sorted table of `.eh_frame_hdr` that lists its FDEs. */

import { MAX_TABLE_MODULES } from '../../src/unwind/wasm/contract';
import { allocate, MODULE_SIZE_BYTES, MODULES } from './memory';

/** All tables together; rules of modules that come later are added one by one. */
const MAX_TABLES_SIZE_BYTES: usize = 48 << 20;

// A module: where `.eh_frame` is in memory, its size, its own address; where the table is, its number of entries, the address that its words count from.
const FRAMES_SIZE: usize = 4;
const FRAMES_ADDR: usize = 8;
const TABLE: usize = 16;
const ENTRY_COUNT: usize = 20;
const DATA_ADDR: usize = 24;

/** An entry of the table: where the function starts, and where its FDE is, as signed words. */
const ENTRY_SIZE_BYTES: usize = 8;

let sizeBytes: usize = 0;

/** The current module: `.eh_frame` from `frames` on up to before `framesEnd`, and its address. */
export let frames: usize = 0;
export let framesEnd: usize = 0;
export let framesAddr: u64 = 0;
/** After {@link findEntry}: where the function starts, and where its FDE is. */
export let entryStart: u64 = 0;
export let entryFde: u64 = 0;

function moduleAt(module: u32): usize {
  return MODULES + <usize>module * MODULE_SIZE_BYTES;
}

/**
 * Makes room for the tables of a module.
 * @returns where to copy the entries of the table and, after them, the bytes of `.eh_frame`; 0 if there is no room
 */
export function placeTables(module: u32, framesSizeBytes: u32, addr: f64, entryCount: u32, dataAddr: f64): usize {
  const tableSize = <usize>entryCount * ENTRY_SIZE_BYTES;
  const size = (tableSize + framesSizeBytes + 7) & ~7;
  if (module >= <u32>MAX_TABLE_MODULES || size > MAX_TABLES_SIZE_BYTES - sizeBytes) return 0;
  const place = allocate(size);
  if (place === 0) return 0;
  sizeBytes += size;
  const at = moduleAt(module);
  store<u32>(at, <u32>(place + tableSize));
  store<u32>(at, framesSizeBytes, FRAMES_SIZE);
  store<u64>(at, <u64>addr, FRAMES_ADDR);
  store<u32>(at, <u32>place, TABLE);
  store<u32>(at, entryCount, ENTRY_COUNT);
  store<u64>(at, <u64>dataAddr, DATA_ADDR);
  return place;
}

/** Treats a module as one without tables from now on. */
export function dropTables(module: u32): void {
  if (module < <u32>MAX_TABLE_MODULES) store<u32>(moduleAt(module), 0, TABLE);
}

/** Finds the last entry of a module's table that begins at or before an address. @returns whether there is one */
export function findEntry(module: u32, svma: u64): bool {
  if (module >= <u32>MAX_TABLE_MODULES) return false;
  const at = moduleAt(module);
  const table: usize = load<u32>(at, TABLE);
  if (table === 0) return false;
  const dataAddr = load<u64>(at, DATA_ADDR);
  let low: usize = 0;
  let high: usize = load<u32>(at, ENTRY_COUNT);
  while (low < high) {
    // hot
    const middle = (low + high) >>> 1;
    if (dataAddr + <i64>load<i32>(table + middle * ENTRY_SIZE_BYTES) <= svma) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return false;
  const entry = table + (low - 1) * ENTRY_SIZE_BYTES;
  entryStart = dataAddr + <i64>load<i32>(entry);
  entryFde = dataAddr + <i64>load<i32>(entry, 4);
  frames = load<u32>(at);
  framesEnd = frames + load<u32>(at, FRAMES_SIZE);
  framesAddr = load<u64>(at, FRAMES_ADDR);
  return true;
}
