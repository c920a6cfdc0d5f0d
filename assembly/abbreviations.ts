/** The abbreviation table of the current unit, as src/symbols/dwarf/abbreviations.ts lays it out: columns by row, behind a list of where each starts. */

import { rowOf as sparseRow } from './host';

let capacity: u32 = 0;
let table: usize = 0;

export let flags: usize = 0;
export let sizes: usize = 0;
export let skipStarts: usize = 0;
export let skips: usize = 0;
export let siblingBacks: usize = 0;
export let lowPcs: usize = 0;
export let highPcs: usize = 0;
export let highPcSizes: usize = 0;
export let rangeLists: usize = 0;
export let attributeStarts: usize = 0;
export let names: usize = 0;
export let forms: usize = 0;
export let implicit: usize = 0;
export let formSizes: usize = 0;
/** Rows by code, −1 for none; {@link codeCount} of them. */
export let dense: usize = 0;
export let leafSizes: usize = 0;
export let codeCount: u32 = 0;

/** Where to put the bytes of a table. */
export function reserveTable(sizeBytes: u32): usize {
  if (sizeBytes > capacity) {
    capacity = sizeBytes + sizeBytes / 2;
    table = heap.alloc(capacity);
  }
  return table;
}

/** Begins with the table that was put there. */
export function setTable(): void {
  codeCount = load<u32>(table);
  implicit = column(1);
  attributeStarts = column(2);
  sizes = column(3);
  skips = column(4);
  skipStarts = column(5);
  siblingBacks = column(6);
  lowPcs = column(7);
  highPcs = column(8);
  rangeLists = column(9);
  dense = column(10);
  names = column(11);
  forms = column(12);
  leafSizes = column(13);
  flags = column(14);
  highPcSizes = column(15);
  formSizes = column(16);
}

function column(number: u32): usize {
  return table + load<u32>(table + (number << 2));
}

/** The row of an abbreviation code, −1 for none. */
export function rowOf(code: u64): i32 {
  return code < codeCount ? load<i32>(dense + ((<usize>code) << 2)) : sparseRow(<f64>code);
}
