/** Values of attributes, as src/dwarf/encoding/forms.ts reads them. */

import {
  SIZE_BLOCK,
  SIZE_BLOCK1,
  SIZE_BLOCK2,
  SIZE_BLOCK4,
  SIZE_INDIRECT,
  SIZE_STRING,
  SIZE_ULEB,
  SIZE_UNKNOWN,
} from '../../src/dwarf/encoding/abbreviation-layout';
import {
  DW_FORM_addr,
  DW_FORM_data16,
  DW_FORM_flag_present,
  DW_FORM_implicit_const,
  DW_FORM_indirect,
  DW_FORM_sdata,
} from '../../src/dwarf/encoding/dwarf-constants';
import { ENDLESS_INDIRECTION, MAX_INDIRECTIONS, UNKNOWN_FORM, VALUE_OVERRUNS } from '../../src/dwarf/wasm/contract';
import { toAddress } from './addresses';
import { readU8, readU16, readU24, readU32, readU64 } from './bytes';
import { damaged, formSize } from './host';

export let addressSize: u32 = 8;
export let offsetSize: u32 = 4;

/** Where the next read starts, and where the readable bytes end: absolute. */
export let at: usize = 0;
let end: usize = 0;
/** The form of the last {@link readValue}: never DW_FORM_indirect. */
export let form: i32 = 0;
export let value: f64 = 0;

export function setForms(addresses: u32, offsets: u32): void {
  addressSize = addresses;
  offsetSize = offsets;
}

/** Makes the next reads start at `from`, and not go beyond `to`. */
export function readFrom(from: usize, to: usize): void {
  at = from;
  end = to;
}

/** Skips a number of bytes. @returns where they are */
function take(sizeBytes: u64): usize {
  const from = at;
  if (from > end || sizeBytes > <u64>(end - from)) damaged(VALUE_OVERRUNS, 0);
  at = from + <usize>sizeBytes;
  return from;
}

/** An unsigned LEB128 number; bits beyond 64 are left out. */
export function uleb(): u64 {
  let result: u64 = 0;
  for (let shift: u64 = 0; at < end; shift += 7) {
    const byte = load<u8>(at++);
    if (shift < 64) result |= (<u64>(byte & 0x7f)) << shift;
    if (byte < 0x80) return result;
  }
  damaged(VALUE_OVERRUNS, 0);
  return 0;
}

/** A signed LEB128 number. */
export function sleb(): i64 {
  const from = at;
  const result = uleb();
  const shift = 7 * <u64>(at - from);
  const isNegative = (load<u8>(at - 1) & 0x40) !== 0;
  return <i64>(isNegative && shift < 64 ? result | (~(<u64>0) << shift) : result);
}

/** An address of the unit's size: signed if that is 8 bytes. */
export function address(): f64 {
  return addressSize === 8 ? toAddress(readU64(take(8))) : <f64>readU32(take(4));
}

/** An offset of the unit's size. */
export function offset(): f64 {
  return offsetSize === 8 ? <f64>readU64(take(8)) : <f64>readU32(take(4));
}

/** An unsigned number of 1, 2, 3, 4 or 8 bytes. */
export function fixed(sizeBytes: i32): u64 {
  const from = take(sizeBytes);
  switch (sizeBytes) {
    case 1:
      return readU8(from);
    case 2:
      return readU16(from);
    case 3:
      return readU24(from);
    case 4:
      return readU32(from);
    default:
      return readU64(from);
  }
}

/** Skips a value whose size is in the data. @param size one of the SIZE_ constants */
export function skipSized(size: i32): void {
  switch (size) {
    case SIZE_ULEB:
      uleb();
      return;
    case SIZE_STRING:
      while (load<u8>(take(1)) !== 0) {}
      return;
    case SIZE_BLOCK1:
      take(fixed(1));
      return;
    case SIZE_BLOCK2:
      take(fixed(2));
      return;
    case SIZE_BLOCK4:
      take(fixed(4));
      return;
    case SIZE_BLOCK:
      take(uleb());
      return;
    case SIZE_INDIRECT:
      readValue(DW_FORM_indirect, 0, SIZE_INDIRECT);
      return;
    default:
      damaged(UNKNOWN_FORM, 0);
  }
}

/**
 * Reads an attribute's value into {@link form} and {@link value}: a number as it is; 1 for a flag that is present; 0 for what is not a number.
 * @param implicit the value in the abbreviation, for DW_FORM_implicit_const
 * @param size what `formSize` says about the form
 */
export function readValue(attributeForm: i32, implicit: f64, size: i32): void {
  let actual = attributeForm;
  let actualSize = size;
  for (let i = 0; actual === DW_FORM_indirect; i++) {
    if (i === MAX_INDIRECTIONS) damaged(ENDLESS_INDIRECTION, 0);
    actual = <i32>min<u64>(uleb(), 0xffff);
    actualSize = formSize(actual);
  }
  form = actual;
  if (actual === DW_FORM_implicit_const) value = implicit;
  else if (actual === DW_FORM_flag_present) value = 1;
  else if (actual === DW_FORM_addr) value = address();
  else if (actual === DW_FORM_sdata) value = <f64>sleb();
  else if (actual === DW_FORM_data16) {
    take(16);
    value = 0;
  } else if (actualSize === SIZE_ULEB) value = <f64>uleb();
  else if (actualSize === SIZE_UNKNOWN) damaged(UNKNOWN_FORM, actual);
  else if (actualSize < 0) {
    skipSized(actualSize);
    value = 0;
  } else value = <f64>fixed(actualSize);
}
