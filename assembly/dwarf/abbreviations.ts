/** The abbreviation table of the current unit, laid out as src/dwarf/encoding/abbreviation-layout.ts says. */

import {
  ATTRIBUTE_STARTS,
  CODE_COUNT,
  FLAGS,
  FORM_SIZES,
  FORMS,
  HIGH_PC_SIZES,
  HIGH_PCS,
  IMPLICIT,
  LEAF_SIZES,
  LOW_PCS,
  NAMES,
  RANGE_LISTS,
  ROWS,
  SIBLING_BACKS,
  SIZES,
  SKIP_STARTS,
  SKIPS,
} from '../../src/dwarf/encoding/abbreviation-layout';
import { rowOf as sparseRow } from './host';
import { reserveTable } from './memory';

let table: usize = 0;

/** The table's columns. */
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
export let rows: usize = 0;
export let leafSizes: usize = 0;
export let codeCount: u32 = 0;

/** Where to put a table, which replaces the one before. */
export function placeTable(sizeBytes: u32): usize {
  table = reserveTable(sizeBytes);
  return table;
}

/** Begins to use the table that was put there. */
export function setTable(): void {
  codeCount = load<u32>(table + (CODE_COUNT << 2));
  implicit = column(IMPLICIT);
  attributeStarts = column(ATTRIBUTE_STARTS);
  sizes = column(SIZES);
  skips = column(SKIPS);
  skipStarts = column(SKIP_STARTS);
  siblingBacks = column(SIBLING_BACKS);
  lowPcs = column(LOW_PCS);
  highPcs = column(HIGH_PCS);
  rangeLists = column(RANGE_LISTS);
  rows = column(ROWS);
  names = column(NAMES);
  forms = column(FORMS);
  leafSizes = column(LEAF_SIZES);
  flags = column(FLAGS);
  highPcSizes = column(HIGH_PC_SIZES);
  formSizes = column(FORM_SIZES);
}

function column(word: i32): usize {
  return table + load<u32>(table + (word << 2));
}

/** The row of an abbreviation code, −1 for none. */
export function rowOf(code: u64): i32 {
  return code < codeCount ? load<i32>(rows + ((<usize>code) << 2)) : sparseRow(<f64>code);
}
