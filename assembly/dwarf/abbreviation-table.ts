/** Reads abbreviation tables (DWARF 5, 7.5.3), and computes what a pass over DIEs needs for each row: see src/dwarf/encoding/abbreviation-layout.ts. */

import {
  ATTRIBUTE_COUNT,
  ATTRIBUTE_STARTS,
  CODE_COUNT,
  CODES,
  FLAGS,
  FORM_SIZES,
  FORMS,
  HAS_CHILDREN,
  HAS_RANGES,
  HEADER_WORDS,
  HIGH_PC_SIZES,
  HIGH_PCS,
  IMPLICIT,
  IS_CODELESS,
  IS_CUT,
  IS_ENDLESS,
  IS_FUNCTION,
  IS_INLINED,
  IS_SUBPROGRAM,
  IS_UNREADABLE,
  LEAF_SIZES,
  LOW_PCS,
  MAX_ABBREVIATIONS,
  NAMES,
  PARSED,
  RANGE_LISTS,
  ROW_COUNT,
  ROWS,
  SIBLING_BACKS,
  SIZE_UNKNOWN,
  SIZES,
  SKIP_STARTS,
  SKIPS,
  TAGS,
} from '../../src/dwarf/encoding/abbreviation-layout';
import {
  DW_AT_high_pc,
  DW_AT_low_pc,
  DW_AT_ranges,
  DW_AT_sibling,
  DW_FORM_addr,
  DW_FORM_addrx4,
  DW_FORM_data4,
  DW_FORM_data8,
  DW_FORM_implicit_const,
  DW_FORM_ref4,
  DW_FORM_sec_offset,
  DW_TAG_array_type,
  DW_TAG_class_type,
  DW_TAG_enumeration_type,
  DW_TAG_inlined_subroutine,
  DW_TAG_interface_type,
  DW_TAG_structure_type,
  DW_TAG_subprogram,
  DW_TAG_subroutine_type,
  DW_TAG_union_type,
} from '../../src/dwarf/encoding/dwarf-constants';
import { formSize } from './host';
import { allocate, beginScratch, grown } from './memory';

/** No compiler gives a DIE more attributes. With more, each DIE of a hostile file could take any time. */
const MAX_ATTRIBUTES: u32 = 256;
/** With up to this many codes per abbreviation, codes are looked up in a column: compilers count from 1. */
const MAX_SPARSENESS: u32 = 4;
const MAX_LEAF_CODE: u32 = 0x3fff;
/** Stands for names, forms and tags that do not fit into 16 bits: unknown ones. */
const OTHER: u64 = 0xffff;
/** The standard's forms are below this, vendors' are not. */
const FIRST_VENDOR_FORM: i32 = DW_FORM_addrx4 + 1;

/** The result of `formSize` for each of the standard's forms. */
export const sizesOfForms: usize = memory.data(64);

let bytes: usize = 0;
let at: usize = 0;
let end: usize = 0;
let overran: bool = false;

// The table as it is in the section.
let rowCount: u32 = 0;
let rowCapacity: u32 = 0;
let codes: usize = 0;
let tags: usize = 0;
let children: usize = 0;
let starts: usize = 0;
let attributeCount: u32 = 0;
let attributeCapacity: u32 = 0;
let names: usize = 0;
let forms: usize = 0;
let implicit: usize = 0;

/** The table when laid out: where it is, and how many bytes it has. */
export let block: usize = 0;
export let blockSizeBytes: u32 = 0;
/** How many bytes the table has in the section. */
export let tableSizeBytes: u32 = 0;

/** Where to put the bytes of a table. These and the results are there until `endScratch`. */
export function placeTableBytes(sizeBytes: u32): usize {
  beginScratch();
  rowCapacity = attributeCapacity = 0;
  bytes = allocate(sizeBytes);
  end = bytes + sizeBytes;
  return bytes;
}

/**
 * Parses the table that was put there.
 * @param isAll whether it may end where its bytes do
 * @param onlyCode the code of the abbreviation after which to stop; 0 for none
 * @returns PARSED, IS_CUT or IS_ENDLESS
 */
export function parseTable(isAll: bool, onlyCode: f64): i32 {
  at = bytes;
  overran = false;
  rowCount = attributeCount = 0;
  while (at < end && rowCount < <u32>MAX_ABBREVIATIONS) {
    const code = uleb();
    if (overran) return IS_CUT;
    if (code === 0) return layOut();
    parseRow(code);
    if (overran) return IS_CUT;
    if (<f64>code === onlyCode) return layOut();
  }
  if (rowCount === <u32>MAX_ABBREVIATIONS) return IS_ENDLESS;
  return isAll ? layOut() : IS_CUT;
}

/** An unsigned LEB128 number; bits beyond 64 are left out. */
function uleb(): u64 {
  let result: u64 = 0;
  for (let shift: u64 = 0; at < end; shift += 7) {
    const byte = load<u8>(at++);
    if (shift < 64) result |= (<u64>(byte & 0x7f)) << shift;
    if (byte < 0x80) return result;
  }
  overran = true;
  return 0;
}

function sleb(): i64 {
  const from = at;
  const result = uleb();
  if (overran) return 0;
  const shift = 7 * <u64>(at - from);
  const isNegative = (load<u8>(at - 1) & 0x40) !== 0;
  return <i64>(isNegative && shift < 64 ? result | (~(<u64>0) << shift) : result);
}

function parseRow(code: u64): void {
  if (rowCount === rowCapacity) growRows();
  store<u64>(codes + (rowCount << 3), code);
  store<u16>(tags + (rowCount << 1), <u16>min(uleb(), OTHER));
  let flags: i32 = at < end && load<u8>(at) !== 0 ? HAS_CHILDREN : 0;
  if (at === end) overran = true;
  at++;
  store<u32>(starts + (rowCount << 2), attributeCount);
  const most = attributeCount + MAX_ATTRIBUTES;
  while (!overran) {
    const name = uleb();
    const form = uleb();
    const value = form === DW_FORM_implicit_const ? sleb() : 0;
    if (name === 0 && form === 0) break;
    if (attributeCount === most) {
      flags |= IS_UNREADABLE;
      continue;
    }
    if (attributeCount === attributeCapacity) growAttributes();
    store<u16>(names + (attributeCount << 1), <u16>min(name, OTHER));
    store<u16>(forms + (attributeCount << 1), <u16>min(form, OTHER));
    store<f64>(implicit + (attributeCount << 3), <f64>value);
    attributeCount++;
  }
  store<u8>(children + rowCount, <u8>flags);
  rowCount++;
}

function growRows(): void {
  const larger = rowCapacity === 0 ? 256 : 2 * rowCapacity;
  codes = grown(codes, rowCount, larger, 8);
  tags = grown(tags, rowCount, larger, 2);
  children = grown(children, rowCount, larger, 1);
  starts = grown(starts, rowCount, larger, 4);
  rowCapacity = larger;
}

function growAttributes(): void {
  const larger = attributeCapacity === 0 ? 2048 : 2 * attributeCapacity;
  names = grown(names, attributeCount, larger, 2);
  forms = grown(forms, attributeCount, larger, 2);
  implicit = grown(implicit, attributeCount, larger, 8);
  attributeCapacity = larger;
}

/** Lays out the table that was parsed. */
function layOut(): i32 {
  tableSizeBytes = <u32>(at - bytes);
  let maxCode: u64 = 0;
  for (let row: u32 = 0; row < rowCount; row++) maxCode = max(maxCode, load<u64>(codes + (row << 3)));
  const isDense = maxCode <= <u64>(MAX_SPARSENESS * rowCount + 64);
  const codeCount: u32 = isDense ? <u32>maxCode + 1 : 0;

  // There are at most two skips per variable attribute, itself and a fixed run before it, and a final run per row.
  const mostBytes: u32 = 4 * HEADER_WORDS + 40 * rowCount + 21 * attributeCount + 6 * codeCount + 4 * (2 * attributeCount + rowCount) + 16;
  block = allocate(mostBytes);
  store<u32>(block + (ROW_COUNT << 2), rowCount);
  store<u32>(block + (ATTRIBUTE_COUNT << 2), attributeCount);
  store<u32>(block + (CODE_COUNT << 2), codeCount);
  blockSizeBytes = 4 * HEADER_WORDS;
  const implicits = column(IMPLICIT, 8 * attributeCount);
  const sparse = column(CODES, isDense ? 0 : 8 * rowCount);
  const attributeStarts = column(ATTRIBUTE_STARTS, 4 * (rowCount + 1));
  column(SIZES, 4 * rowCount);
  const skipStarts = column(SKIP_STARTS, 4 * (rowCount + 1));
  column(SIBLING_BACKS, 4 * rowCount);
  column(LOW_PCS, 4 * rowCount);
  column(HIGH_PCS, 4 * rowCount);
  column(RANGE_LISTS, 4 * rowCount);
  const rows = column(ROWS, 4 * codeCount);
  memory.copy(column(TAGS, 2 * rowCount), tags, 2 * rowCount);
  memory.copy(column(NAMES, 2 * attributeCount), names, 2 * attributeCount);
  memory.copy(column(FORMS, 2 * attributeCount), forms, 2 * attributeCount);
  const leafSizes = column(LEAF_SIZES, 2 * codeCount);
  memory.copy(column(FLAGS, rowCount), children, rowCount);
  column(HIGH_PC_SIZES, rowCount);
  column(FORM_SIZES, attributeCount);
  blockSizeBytes = (blockSizeBytes + 3) & ~3;
  const skips = column(SKIPS, 0);

  memory.copy(implicits, implicit, 8 * attributeCount);
  memory.copy(attributeStarts, starts, 4 * rowCount);
  store<u32>(attributeStarts + (rowCount << 2), attributeCount);
  let hasRanges = false;
  for (let i: u32 = 0; i < attributeCount; i++) if (load<u16>(names + (i << 1)) === DW_AT_ranges) hasRanges = true;
  store<u32>(block + (HAS_RANGES << 2), hasRanges ? 1 : 0);

  let skip = skips;
  for (let row: u32 = 0; row < rowCount; row++) {
    store<u32>(skipStarts + (row << 2), <u32>((skip - skips) >>> 2));
    skip = compileRow(row, skip);
  }
  store<u32>(skipStarts + (rowCount << 2), <u32>((skip - skips) >>> 2));
  blockSizeBytes = <u32>(skip - block);

  if (!isDense) {
    for (let row: u32 = 0; row < rowCount; row++) store<f64>(sparse + (row << 3), <f64>load<u64>(codes + (row << 3)));
    return PARSED;
  }
  memory.fill(rows, 0xff, 4 * codeCount);
  // If two rows have the same code, the first one counts.
  for (let row = <i32>rowCount - 1; row >= 0; row--) store<i32>(rows + ((<u32>load<u64>(codes + (row << 3))) << 2), row);
  for (let code: u32 = 0; code < codeCount; code++) store<u16>(leafSizes + (code << 1), leafSize(code, load<i32>(rows + (code << 2))));
  return PARSED;
}

/** Puts a column at the end of the table. @returns where it is */
function column(word: i32, sizeBytes: u32): usize {
  store<u32>(block + (word << 2), blockSizeBytes);
  const place = block + blockSizeBytes;
  blockSizeBytes += sizeBytes;
  return place;
}

function placeOf(word: i32): usize {
  return block + load<u32>(block + (word << 2));
}

/** Computes what the columns say about a row. @param skips where its skips go @returns where they end */
function compileRow(row: u32, skips: usize): usize {
  const formSizes = placeOf(FORM_SIZES);
  const last = load<u32>(placeOf(ATTRIBUTE_STARTS) + (row << 2), 4);
  let flags = <i32>load<u8>(children + row);
  let skip = skips;
  let run: i32 = 0;
  let isFixed = true;
  let hasExtent = false;
  let siblingBack: i32 = 0;
  let lowPc: i32 = -1;
  let highPc: i32 = -1;
  let highPcSize: i32 = 0;
  let rangeList: i32 = -1;
  for (let i = load<u32>(starts + (row << 2)); i < last; i++) {
    const name = <i32>load<u16>(names + (i << 1));
    const form = <i32>load<u16>(forms + (i << 1));
    const size = form < FIRST_VENDOR_FORM ? <i32>load<i8>(sizesOfForms + form) : formSize(form);
    store<i8>(formSizes + i, <i8>size);
    if (size < 0) {
      if (size === SIZE_UNKNOWN) flags |= IS_UNREADABLE;
      isFixed = false;
      siblingBack = 0;
      if (run > 0) {
        store<i32>(skip, run);
        skip += 4;
      }
      store<i32>(skip, size);
      skip += 4;
      run = 0;
    }
    if (name === DW_AT_low_pc) {
      hasExtent = true;
      if (isFixed && form === DW_FORM_addr) lowPc = run;
    } else if (name === DW_AT_high_pc) {
      if (isFixed && (form === DW_FORM_data4 || form === DW_FORM_data8)) {
        highPc = run;
        highPcSize = size;
      }
    } else if (name === DW_AT_ranges) {
      hasExtent = true;
      if (isFixed && form === DW_FORM_sec_offset) rangeList = run;
    }
    if (size < 0) continue;
    run += size;
    if (siblingBack > 0) siblingBack += size;
    if (name === DW_AT_sibling && form === DW_FORM_ref4) siblingBack = size;
  }
  if (!isFixed && run > 0) {
    store<i32>(skip, run);
    skip += 4;
  }
  const tag = <i32>load<u16>(tags + (row << 1));
  if (tag === DW_TAG_subprogram) flags |= hasExtent ? IS_SUBPROGRAM | IS_FUNCTION : IS_SUBPROGRAM | IS_CODELESS;
  else if (tag === DW_TAG_inlined_subroutine && hasExtent) flags |= IS_INLINED;
  else if (isType(tag)) flags |= IS_CODELESS;
  store<u8>(placeOf(FLAGS) + row, <u8>flags);
  store<i32>(placeOf(SIZES) + (row << 2), isFixed && (flags & IS_UNREADABLE) === 0 ? run : -1);
  store<i32>(placeOf(SIBLING_BACKS) + (row << 2), siblingBack);
  store<i32>(placeOf(LOW_PCS) + (row << 2), lowPc);
  store<i32>(placeOf(HIGH_PCS) + (row << 2), highPc);
  store<u8>(placeOf(HIGH_PC_SIZES) + row, <u8>highPcSize);
  store<i32>(placeOf(RANGE_LISTS) + (row << 2), rangeList);
  return skip;
}

function isType(tag: i32): bool {
  return (
    tag === DW_TAG_array_type ||
    tag === DW_TAG_class_type ||
    tag === DW_TAG_enumeration_type ||
    tag === DW_TAG_interface_type ||
    tag === DW_TAG_structure_type ||
    tag === DW_TAG_subroutine_type ||
    tag === DW_TAG_union_type
  );
}

function leafSize(code: u32, row: i32): u16 {
  if (row < 0 || (load<u8>(placeOf(FLAGS) + row) & (HAS_CHILDREN | IS_FUNCTION | IS_INLINED)) !== 0) return 0;
  const attributes = load<i32>(placeOf(SIZES) + (row << 2));
  const size = attributes + (code < 0x80 ? 1 : 2);
  // Codes of three bytes are rare.
  return attributes >= 0 && code <= MAX_LEAF_CODE && size <= 0xffff ? <u16>size : 0;
}
