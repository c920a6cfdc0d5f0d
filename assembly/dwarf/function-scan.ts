/** One pass over the DIEs of a unit that finds the functions at wanted addresses, for src/dwarf/functions/function-scan.ts, which describes the result. */

import { HAS_CHILDREN, IS_CODELESS, IS_FUNCTION, IS_INLINED, IS_SUBPROGRAM, IS_UNREADABLE } from '../../src/dwarf/encoding/abbreviation-layout';
import { NO_ABBREVIATION, OVERRUNS_UNIT, SCAN_CODE, SCAN_FUNCTIONS, UNKNOWN_FORM } from '../../src/dwarf/wasm/contract';
import { codeCount, flags, leafSizes, rowOf, rows, siblingBacks, sizes, skipStarts, skips } from './abbreviations';
import { readU32 } from './bytes';
import { at as readerAt, readFrom, skipSized, uleb } from './forms';
import { add, beginClaims, checkClaims, claim, functionCount } from './function-claims';
import { hasList, high, isEmpty, low, readExtent } from './function-extent';
import { damaged } from './host';
import { allocate, beginScan, grown } from './memory';
import { ends, isLive, count as rangeCount, starts } from './unit-addresses';

/** For how many nested functions there is room at first. */
const FIRST_CAPACITY: u32 = 256;
/** Padding after a unit in memory: more than is read at once. */
const PADDING_SIZE_BYTES: u32 = 16;

/** Results of visiting a DIE. */
const GO_ON: i32 = 0;
const IS_END: i32 = 1;
const LACKS_ADDRESSES: i32 = 2;

/** Whether a function covers wanted addresses. */
const HOLDS_NONE: i32 = 0;
const HOLDS_SOME: i32 = 1;
const IS_UNKNOWN: i32 = 2;

/** Functions around the current DIE that cover wanted addresses, outermost first. */
export let open: usize = 0;
export let openCount: u32 = 0;
/** The depths of these functions. */
let openDepths: usize = 0;
let openCapacity: u32 = 0;
/** The depth of the innermost of them; −1 for none. */
let innermostDepth: i32 = -1;

/** Where the unit is, and where it ends. */
export let unit: usize = 0;
export let end: usize = 0;
let at: usize = 0;
let scope: i32 = 0;
let isPartial: bool = false;
let depth: i32 = 0;
/** Depth of a function without wanted addresses inside an open one; −1 for none. Functions inlined into it are not looked at. */
let skippedDepth: i32 = -1;
/** Depth of the outermost subprogram around the current DIE; −1 for none. */
let functionDepth: i32 = -1;

/** Whether parts of the unit that hardly ever have code were left out. */
export let hasSkipped: bool = false;

/** Where to put the bytes of a unit. What the previous scan has found is dropped. */
export function placeUnit(sizeBytes: u32): usize {
  beginScan();
  openCapacity = 0;
  unit = allocate(<u64>sizeBytes + PADDING_SIZE_BYTES);
  end = unit + sizeBytes;
  return unit;
}

/**
 * Begins a scan of the unit, with the table and the wanted addresses that were put there.
 * @param dieAt where the unit's root DIE is
 * @param partial whether functions may have code outside of their extents
 */
export function beginFunctions(dieAt: u32, scanScope: i32, partial: bool): void {
  at = unit + dieAt;
  scope = scanScope;
  isPartial = partial;
  depth = 0;
  openCount = 0;
  innermostDepth = -1;
  skippedDepth = -1;
  functionDepth = -1;
  hasSkipped = false;
  beginClaims(<u32>(end - unit), partial);
}

/** Scans to the end. @returns false if addresses have to be loaded first: the next call then continues */
export function scan(): bool {
  let result = GO_ON;
  while (result === GO_ON && at < end) {
    result = visit(at);
    if (result === GO_ON) at = skipLeaves(at, end);
  }
  if (at > end) damaged(OVERRUNS_UNIT, at - unit);
  return result !== LACKS_ADDRESSES;
}

/** Where in the unit the scan is. */
export function scanPosition(): u32 {
  return <u32>(at - unit);
}

/** Sets where another walk over the unit is. */
export function setPosition(place: usize): void {
  at = place;
}

/** Skips DIEs that are of no interest. @returns where the next other one is, or the first DIE from `last` on */
export function skipLeaves(from: usize, last: usize): usize {
  // Only codes of up to two bytes are handled. What follows the end does not matter.
  const codes = codeCount;
  const bytes = leafSizes;
  let here = from;
  while (here < last) {
    const byte: u32 = load<u8>(here);
    const code = byte < 0x80 ? byte : (byte & 0x7f) | ((<u32>load<u8>(here, 1)) << 7);
    const size: u32 = code < codes ? load<u16>(bytes + (code << 1)) : 0;
    // Codes may be padded.
    if (size === 0 || (byte >= 0x80 && code < 0x80)) break;
    here += size;
  }
  return here;
}

function visit(die: usize): i32 {
  let code: u64 = load<u8>(die);
  let here = die + 1;
  if (code > 0x7f) {
    readFrom(die, end);
    code = uleb();
    here = readerAt;
  }
  if (code === 0) {
    at = here;
    return leave();
  }
  const row = code < codeCount ? load<i32>(rows + ((<usize>code) << 2)) : rowOf(code);
  if (row < 0) damaged(NO_ABBREVIATION, <f64>code);
  const flag: u32 = load<u8>(flags + row);
  const isOfInterest = (flag & (IS_FUNCTION | IS_INLINED)) !== 0;
  const holds = isOfInterest ? claimExtent(row, die, here, (flag & IS_FUNCTION) !== 0) : HOLDS_NONE;
  if (holds === IS_UNKNOWN) return LACKS_ADDRESSES;

  const size = load<i32>(sizes + (row << 2));
  here = size >= 0 ? here + size : skipAttributes(row, here);
  at = here;
  if ((flag & HAS_CHILDREN) === 0) return depth === 0 ? IS_END : GO_ON;
  if (((flag & IS_CODELESS) !== 0 || (isOfInterest && holds === HOLDS_NONE)) && skipChildren(row, flag)) return GO_ON;
  if (isOfInterest) enter(holds);
  if ((flag & IS_SUBPROGRAM) !== 0 && functionDepth < 0) functionDepth = depth;
  depth++;
  return GO_ON;
}

/** Ends a list of children. */
function leave(): i32 {
  depth--;
  if (skippedDepth === depth) skippedDepth = -1;
  if (functionDepth === depth) functionDepth = -1;
  if (innermostDepth === depth) close();
  return depth <= 0 ? IS_END : GO_ON;
}

/** Enters a function whose children follow. */
function enter(holds: i32): void {
  if (holds !== HOLDS_SOME) {
    if (mayHoldWanted()) skippedDepth = depth;
    return;
  }
  if (openCount === openCapacity) growOpen();
  store<i32>(open + (openCount << 2), functionCount - 1);
  store<i32>(openDepths + (openCount << 2), depth);
  openCount++;
  innermostDepth = depth;
}

/** Leaves the innermost open function. */
function close(): void {
  openCount--;
  innermostDepth = openCount === 0 ? -1 : load<i32>(openDepths + ((openCount - 1) << 2));
}

function growOpen(): void {
  const larger = openCapacity === 0 ? FIRST_CAPACITY : 2 * openCapacity;
  open = grown(open, openCount, larger, 4);
  openDepths = grown(openDepths, openCount, larger, 4);
  openCapacity = larger;
}

/** Whether functions that are inlined here may cover wanted addresses. */
function mayHoldWanted(): bool {
  return skippedDepth < innermostDepth;
}

/** Claims the wanted addresses that a function covers. */
function claimExtent(row: u32, die: usize, attributes: usize, isFunction: bool): i32 {
  if (!isFunction && !mayHoldWanted()) return HOLDS_NONE;
  if (!readExtent(row, attributes, end)) return IS_UNKNOWN;
  const dieAt = <u32>(die - unit);
  const known = functionCount;
  const parent = isFunction || openCount === 0 ? -1 : load<i32>(open + ((openCount - 1) << 2));
  if (hasList) for (let i: u32 = 0; i < rangeCount; i++) claim(load<f64>(starts + (i << 3)), load<f64>(ends + (i << 3)), dieAt, parent);
  else if (isLive(low, high)) claim(low, high, dieAt, parent);
  if (functionCount === known && (isFunction ? isPartial && !isEmpty() : isPartial || isEmpty())) add(dieAt, parent);
  checkClaims();
  return functionCount > known ? HOLDS_SOME : HOLDS_NONE;
}

/** Continues after the children of the DIE whose attributes end here, if it says where they end and the scope leaves them out. */
function skipChildren(row: u32, flag: u32): bool {
  // SCAN_FUNCTIONS only leaves out types that are not inside functions.
  const isLeftOut = scope === SCAN_CODE || (scope === SCAN_FUNCTIONS && (flag & IS_SUBPROGRAM) === 0 && functionDepth < 0);
  const back = load<i32>(siblingBacks + (row << 2));
  if (!isLeftOut || back === 0 || at > end) return false;
  const sibling = unit + readU32(at - back);
  if (sibling < at || sibling >= end) return false;
  at = sibling;
  hasSkipped = true;
  return true;
}

/** Where attributes end that do not all have a fixed size. */
export function skipAttributes(row: u32, from: usize): usize {
  if ((load<u8>(flags + row) & IS_UNREADABLE) !== 0) damaged(UNKNOWN_FORM, 0);
  const last = load<u32>(skipStarts + (row << 2), 4);
  let here = from;
  for (let i = load<u32>(skipStarts + (row << 2)); i < last; i++) {
    const skip = load<i32>(skips + (i << 2));
    if (skip >= 0) {
      here += skip;
      // Nothing beyond the end is read, and the sum may be anywhere.
      if (here > end) break;
    } else {
      readFrom(here, end);
      skipSized(skip);
      here = readerAt;
    }
  }
  return here;
}
