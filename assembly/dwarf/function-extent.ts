/** Where the code of the function that was read last is (DWARF 5, 2.17). */

import { isAddressForm } from '../../src/dwarf/encoding/code-ranges';
import { DW_AT_high_pc, DW_AT_low_pc, DW_AT_ranges, DW_FORM_sec_offset } from '../../src/dwarf/encoding/dwarf-constants';
import { attributeStarts, formSizes, forms, highPcSizes, highPcs, implicit, lowPcs, names, rangeLists } from './abbreviations';
import { toAddress } from './addresses';
import { readU32, readU64 } from './bytes';
import { addressSize, form, offsetSize, readFrom, readValue, value } from './forms';
import { addressOf, count, missing, readRanges } from './unit-addresses';

/** The code if it is one range: from `low` up to `high`. It need not be a live range. */
export let low: f64 = 0;
export let high: f64 = 0;
/** Whether the code is instead the ranges of the list that was read last. */
export let hasList: bool = false;

/** Whether the code has no address at all. */
export function isEmpty(): bool {
  return hasList ? count === 0 : !(low < high);
}

/** Reads the extent of a DIE of `row`, whose attributes start at `from`, in a unit that ends at `end`. @returns false if addresses have to be loaded first */
export function readExtent(row: u32, from: usize, end: usize): bool {
  const lowAt = load<i32>(lowPcs + (row << 2));
  const highAt = load<i32>(highPcs + (row << 2));
  if (lowAt >= 0 && highAt >= 0 && from + max(lowAt, highAt) + 8 <= end) {
    low = addressSize === 8 ? toAddress(readU64(from + lowAt)) : <f64>readU32(from + lowAt);
    high = low + (load<u8>(highPcSizes + row) === 8 ? <f64>readU64(from + highAt) : <f64>readU32(from + highAt));
    hasList = false;
    return true;
  }
  const listAt = load<i32>(rangeLists + (row << 2));
  if (listAt < 0 || from + listAt + offsetSize > end) return readAttributes(row, from, end);
  hasList = true;
  return readRanges(DW_FORM_sec_offset, offsetSize === 8 ? <f64>readU64(from + listAt) : <f64>readU32(from + listAt));
}

function readAttributes(row: u32, from: usize, end: usize): bool {
  const last = load<u32>(attributeStarts + (row << 2), 4);
  let first = NaN;
  let behind = NaN;
  let isDistance = false;
  hasList = false;
  readFrom(from, end);
  for (let i = load<u32>(attributeStarts + (row << 2)); i < last; i++) {
    readValue(load<u16>(forms + (i << 1)), load<f64>(implicit + (i << 3)), load<i8>(formSizes + i));
    const name: i32 = load<u16>(names + (i << 1));
    if (name === DW_AT_low_pc) first = addressOf(form, value);
    else if (name === DW_AT_high_pc) {
      isDistance = !isAddressForm(form);
      behind = isDistance ? value : addressOf(form, value);
    } else if (name === DW_AT_ranges) {
      hasList = true;
      // If there is also a low_pc, it is where the function is entered.
      return readRanges(form, value);
    }
    if (missing >= 0) return false;
  }
  low = first;
  high = isDistance ? first + behind : behind;
  return true;
}
