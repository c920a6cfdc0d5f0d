/**
 * Runs line number programs (DWARF 5, 6.2) into columns of rows, for src/symbols/dwarf/line-program.ts, which says what they hold.
 * What hardly any program has is left to the caller: run() stops there, and goes on when called again.
 */

import {
  DW_LNE_define_file,
  DW_LNE_end_sequence,
  DW_LNE_set_address,
  DW_LNS_advance_line,
  DW_LNS_advance_pc,
  DW_LNS_const_add_pc,
  DW_LNS_copy,
  DW_LNS_fixed_advance_pc,
  DW_LNS_set_column,
  DW_LNS_set_file,
} from '../src/symbols/dwarf/line-constants';
import { toAddress } from './addresses';
import { readU8, readU16, readU32, readU64, setByteOrder } from './bytes';
import { allocate, allocateColumn, grown } from './memory';

/** Why run() stops. */
const AT_END: i32 = 0;
/** At a sequence whose rows, from {@link firstRow} up to {@link count}, are to be put in ascending order. */
const UNORDERED: i32 = 1;
/** Behind DW_LNE_define_file, whose entry stands from {@link entryAt} up to {@link entryEnd}. */
const DEFINES_FILE: i32 = 2;

const FIRST_SEQUENCE_CAPACITY: u32 = 64;

/** By opcode: how far a special one moves; for DW_LNS_const_add_pc, that is what 255 says. */
const lineSteps: usize = memory.data(256 * 4);
const operationSteps: usize = memory.data(256 * 4);
/** By opcode, from 1 on: how many operands it has. */
export const operandCounts: usize = memory.data(256);

let unit: usize = 0;
let unitCapacity: u32 = 0;
let end: usize = 0;
let at: usize = 0;
let opcodeBase: i32 = 0;
let step: u32 = 0;
let perInstruction: u32 = 0;
let hasCodeAtZero: bool = false;

// The state machine's registers (DWARF 5, 6.2.2).
let address: f64 = 0;
let operation: u32 = 0;
let file: u32 = 1;
let line: u32 = 1;
let column: u32 = 0;

let isAscending: bool = true;
let isDead: bool = false;
let endsSequence: bool = false;
let capacity: u32 = 0;
let sequenceCapacity: u32 = 0;

/** Of the current sequence. */
export let firstRow: u32 = 0;
export let count: u32 = 0;
/** Columns, of {@link capacity} rows. */
export let addresses: usize = 0;
export let files: usize = 0;
export let lines: usize = 0;
export let columns: usize = 0;
/** Sequences as quadruples of doubles: start, end, first row, behind the last row. */
export let sequences: usize = 0;
export let sequenceCount: u32 = 0;
export let entryAt: u32 = 0;
export let entryEnd: u32 = 0;
export let isCut: bool = false;

/** Where to put the bytes of a table, its header among them. */
export function reserve(sizeBytes: u32): usize {
  if (sizeBytes > unitCapacity) {
    unitCapacity = sizeBytes + sizeBytes / 2;
    unit = allocate(unitCapacity);
  }
  return unit;
}

/** Begins a program, from `from` up to `to` in the table. {@link operandCounts} are set before. */
export function begin(
  from: u32,
  to: u32,
  base: i32,
  lineBase: i32,
  lineRange: i32,
  minimumInstructionLength: u32,
  operations: u32,
  codeAtZero: bool,
  isLittleEndian: bool,
): void {
  at = unit + from;
  end = unit + to;
  opcodeBase = base;
  step = minimumInstructionLength;
  perInstruction = operations;
  hasCodeAtZero = codeAtZero;
  setByteOrder(isLittleEndian);
  for (let opcode = 0; opcode < 256; opcode++) {
    const adjusted = opcode - base;
    // A range of 0 can only be damage; then special opcodes do not move.
    const moves = adjusted >= 0 && lineRange !== 0;
    store<i32>(lineSteps + (opcode << 2), moves ? lineBase + (adjusted % lineRange) : 0);
    store<i32>(operationSteps + (opcode << 2), moves ? adjusted / lineRange : 0);
  }
  reserveRows(to - from);
  if (sequenceCapacity === 0) growSequences();
  firstRow = count = 0;
  sequenceCount = 0;
  isCut = false;
  endsSequence = false;
  beginSequence();
}

function beginSequence(): void {
  firstRow = count;
  isAscending = true;
  isDead = !hasCodeAtZero;
  address = 0;
  operation = column = 0;
  file = line = 1;
}

/** Goes on to the end, or to what the caller has to do. */
export function run(): i32 {
  if (endsSequence) {
    endsSequence = false;
    isAscending = true;
    endSequence();
  }
  for (;;) {
    const opcode = makeRows();
    if (opcode < 0) break;
    if (opcode === 0) {
      const stop = runExtended();
      if (stop !== AT_END) return stop;
    } else runOther(opcode);
    if (isCut) break;
  }
  isCut = isCut || count > firstRow || at < end;
  return AT_END;
}

/** Runs opcodes as long as they move within a sequence or add rows to it. @returns the first other one, which has been read; −1 at the end */
function makeRows(): i32 {
  const steps = lineSteps;
  const base = opcodeBase;
  const last = end;
  let here = at;
  let place = address;
  let current = line;
  let rows = count;
  let result = -1;
  while (here < last) {
    const opcode = <i32>readU8(here++);
    let operations: u64 = 0;
    if (opcode >= base && opcode !== 0) {
      operations = load<u32>(operationSteps + (opcode << 2));
    } else if (opcode >= DW_LNS_advance_pc && opcode <= DW_LNS_set_column) {
      let byte: u32 = here < last ? readU8(here) : 0;
      here++;
      let operand: u64 = byte & 0x7f;
      let shift: u64 = 7;
      while (byte >= 0x80 && here < last) {
        byte = readU8(here++);
        if (shift < 64) operand |= (<u64>(byte & 0x7f)) << shift;
        shift += 7;
      }
      if (opcode === DW_LNS_advance_line) {
        if ((byte & 0x40) !== 0 && shift < 64) operand |= ~(<u64>0) << shift;
        current += <u32>operand;
      } else if (opcode === DW_LNS_set_file) file = <u32>operand;
      else if (opcode === DW_LNS_set_column) column = <u32>operand;
      else place = advanced(place, operand);
      continue;
    } else if (opcode === DW_LNS_const_add_pc) {
      place = advanced(place, load<u32>(operationSteps + (255 << 2)));
      continue;
    } else if (opcode !== DW_LNS_copy) {
      // Those without operands have no effect on rows.
      if (opcode !== 0 && opcode !== DW_LNS_fixed_advance_pc && load<u8>(operandCounts + opcode) === 0) continue;
      result = opcode;
      break;
    }

    if (operations !== 0) place = advanced(place, operations);
    current += load<i32>(steps + (opcode << 2));
    if (rows > firstRow && place < load<f64>(addresses + ((rows - 1) << 3))) isAscending = false;
    store<f64>(addresses + (rows << 3), place);
    store<u32>(files + (rows << 2), file);
    store<u32>(lines + (rows << 2), current);
    store<u32>(columns + (rows << 2), column);
    rows++;
  }
  at = here;
  address = place;
  line = current;
  count = rows;
  return result;
}

/** The address after so many operations, of which an instruction may hold several. */
function advanced(from: f64, operations: u64): f64 {
  if (perInstruction === 1) return from + <f64>(operations * step);
  const sum = operation + operations;
  operation = <u32>(sum % perInstruction);
  return from + <f64>((sum / perInstruction) * step);
}

/** Runs an opcode that makes no row. */
function runOther(opcode: i32): void {
  if (opcode === DW_LNS_fixed_advance_pc) {
    if (at + 2 > end) {
      isCut = true;
      return;
    }
    address += <f64>readU16(at);
    operation = 0;
    at += 2;
    return;
  }
  // One without effect on rows, or one that is not known: its operands are counted in the header.
  for (let operands = load<u8>(operandCounts + opcode); operands > 0; operands--) while (at < end && readU8(at++) >= 0x80) {}
}

function runExtended(): i32 {
  let length: u64 = 0;
  let byte: u32 = 0x80;
  for (let shift: u64 = 0; byte >= 0x80 && at < end; shift += 7) {
    byte = readU8(at++);
    if (shift < 64) length |= (<u64>(byte & 0x7f)) << shift;
  }
  if (length > <u64>(end - at)) {
    isCut = true;
    return AT_END;
  }
  if (length === 0) return AT_END;
  const opcode = <i32>readU8(at);
  const operand = at + 1;
  at += <usize>length;
  if (opcode === DW_LNE_end_sequence) {
    // Compilers write rows in order; assembly may do anything.
    if (!isAscending && !isDead) {
      endsSequence = true;
      return UNORDERED;
    }
    endSequence();
  } else if (opcode === DW_LNE_set_address) setAddress(operand, length - 1);
  else if (opcode === DW_LNE_define_file) {
    entryAt = <u32>(operand - unit);
    entryEnd = <u32>(at - unit);
    return DEFINES_FILE;
  }
  return AT_END;
}

/** Keeps a sequence of code that is there. */
function endSequence(): void {
  const start = load<f64>(addresses + (firstRow << 3));
  if (!isDead && count > firstRow && start < address) {
    if (sequenceCount === sequenceCapacity) growSequences();
    const sequence = sequences + (sequenceCount++ << 5);
    store<f64>(sequence, start);
    store<f64>(sequence, address, 8);
    store<f64>(sequence, <f64>firstRow, 16);
    store<f64>(sequence, <f64>count, 24);
  } else count = firstRow;
  beginSequence();
}

function setAddress(from: usize, sizeBytes: u64): void {
  if (sizeBytes === 8) address = toAddress(readU64(from));
  else if (sizeBytes === 4) address = <f64>readU32(from);
  else if (sizeBytes === 2) address = <f64>readU16(from);
  operation = 0;
  // Code that was thrown away is marked by where its sequence begins: what is added to a mark may be any address.
  if (count === firstRow) isDead = isDeadAt(address, sizeBytes);
}

/** Whether linkers put this address where there was code that they threw away: 0, or the two highest of all (DWARF 6, "reserved target addresses"). */
function isDeadAt(start: f64, sizeBytes: u64): bool {
  if (start === 0) return !hasCodeAtZero;
  return sizeBytes === 4 ? start >= 4294967294 : start === -1 || start === -2;
}

/** Makes room for a row for each byte: no opcode makes two. What is not written to takes no memory. */
function reserveRows(sizeBytes: u32): void {
  if (sizeBytes <= capacity) return;
  capacity = sizeBytes + sizeBytes / 2;
  addresses = allocateColumn(capacity, 8);
  files = allocateColumn(capacity, 4);
  lines = allocateColumn(capacity, 4);
  columns = allocateColumn(capacity, 4);
}

function growSequences(): void {
  const larger = sequenceCapacity === 0 ? FIRST_SEQUENCE_CAPACITY : sequenceCapacity * 2;
  sequences = grown(sequences, sequenceCount, larger, 32);
  sequenceCapacity = larger;
}
