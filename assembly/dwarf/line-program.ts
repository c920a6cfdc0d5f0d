/**
 * Runs line number programs (DWARF 5, 6.2) into columns of rows, for src/dwarf/lines/line-program.ts, which says what they contain. What hardly any program has is
 * left to the caller: {@link runLineProgram} stops there, and continues when called again.
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
} from '../../src/dwarf/lines/line-constants';
import { AT_END, DEFINES_FILE, UNORDERED } from '../../src/dwarf/wasm/contract';
import { toAddress } from './addresses';
import { readU8, readU16, readU32, readU64, setByteOrder } from './bytes';
import { allocate, beginLines, grown, keepLines } from './memory';

const NEEDS_ROOM: i32 = -2;

/** Padding after a table in memory: an opcode's operand is read with it. */
const PADDING_SIZE_BYTES: u32 = 1;

/** Compilers need more bytes for a row. */
const BYTES_PER_ROW: u32 = 4;
const FIRST_SEQUENCE_CAPACITY: u32 = 64;

/** What the loop does with an opcode. */
const OTHER: i32 = 0;
/** Moves by the steps below, and adds a row. */
const ROW: i32 = 1;
/** Sets a register, moves by lines, or has no operand and no effect on rows. */
const SETS: i32 = 2;

/** By opcode: OTHER, ROW or SETS. */
const kinds: usize = memory.data(256);
/** By opcode that SETS: the bit that tells that its operand has a second byte; 0 if it has no operand. */
const continuations: usize = memory.data(256);
/** By opcode: how far a special one moves; DW_LNS_const_add_pc uses the entry of 255. */
const lineSteps: usize = memory.data(256 * 4);
const operationSteps: usize = memory.data(256 * 4);
const addressSteps: usize = memory.data(256 * 8);
/** By opcode, from 1 on: how many operands it has. */
export const operandCounts: usize = memory.data(256);

let unit: usize = 0;
let end: usize = 0;
let at: usize = 0;
let opcodeBase: i32 = 0;
let step: u32 = 0;
let perInstruction: u32 = 0;
let hasCodeAtZero: bool = false;

// The state machine's registers (DWARF 5, 6.2.2).
let address: f64 = 0;
let operation: u32 = 0;
let line: u32 = 1;
/** By opcode that SETS: the last operand. These are the registers of files and columns; the others do not matter. */
const registers: usize = memory.data(256 * 4);

let isAscending: bool = true;
let isDead: bool = false;
let endsSequence: bool = false;
let capacity: u32 = 0;
let sequenceCapacity: u32 = 0;

/** First row of the current sequence. */
export let firstRow: u32 = 0;
export let count: u32 = 0;
/** Columns with room for {@link capacity} rows. */
export let addresses: usize = 0;
export let files: usize = 0;
export let lines: usize = 0;
export let columns: usize = 0;
/** Sequences as quadruples of doubles: start, end, first row, row after the last. */
export let sequences: usize = 0;
export let sequenceCount: u32 = 0;
export let entryAt: u32 = 0;
export let entryEnd: u32 = 0;
export let isCut: bool = false;

/** Where to put the bytes of a line table, including its header. The rows of the previous one are dropped. */
export function placeLines(sizeBytes: u32): usize {
  beginLines();
  capacity = sequenceCapacity = 0;
  unit = allocate(<u64>sizeBytes + PADDING_SIZE_BYTES);
  return unit;
}

/** Begins a program, from `from` up to `to` in the table. {@link operandCounts} have to be set before. */
export function beginLineProgram(
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
    // A range of 0 is damage. Special opcodes do not move then.
    const moves = adjusted >= 0 && lineRange !== 0;
    const steps = moves ? adjusted / lineRange : 0;
    store<i32>(lineSteps + (opcode << 2), moves ? lineBase + (adjusted % lineRange) : 0);
    store<i32>(operationSteps + (opcode << 2), steps);
    store<f64>(addressSteps + (opcode << 3), <f64>(<u64>steps * step));
    const kind = kindOf(opcode);
    store<u8>(kinds + opcode, <u8>kind);
    store<u8>(continuations + opcode, kind === SETS && opcode <= DW_LNS_set_column ? 0x80 : 0);
  }
  // Before there is room for them: those of the last program, which are gone, would be kept.
  firstRow = count = sequenceCount = 0;
  reserveRows((to - from) / BYTES_PER_ROW + 1);
  growSequences();
  isCut = false;
  endsSequence = false;
  beginSequence();
}

function kindOf(opcode: i32): i32 {
  if (opcode === 0) return OTHER;
  // If an instruction holds several operations, steps depend on the position in it.
  if (opcode >= opcodeBase) return perInstruction === 1 ? ROW : OTHER;
  if (opcode === DW_LNS_copy) return ROW;
  if (opcode >= DW_LNS_advance_line && opcode <= DW_LNS_set_column) return SETS;
  const isIdle = opcode > DW_LNS_set_column && opcode !== DW_LNS_const_add_pc && opcode !== DW_LNS_fixed_advance_pc;
  return isIdle && load<u8>(operandCounts + opcode) === 0 ? SETS : OTHER;
}

function beginSequence(): void {
  firstRow = count;
  isAscending = true;
  isDead = !hasCodeAtZero;
  address = 0;
  operation = 0;
  line = 1;
  store<u32>(registers + (DW_LNS_set_file << 2), 1);
  store<u32>(registers + (DW_LNS_set_column << 2), 0);
}

/**
 * Continues to the end, or until the caller has to do something: sort the rows from {@link firstRow} up to {@link count} (UNORDERED), or read the entry from
 * {@link entryAt} up to {@link entryEnd} (DEFINES_FILE).
 */
export function runLineProgram(): i32 {
  if (endsSequence) {
    endsSequence = false;
    isAscending = true;
    endSequence();
  }
  for (;;) {
    reserveRows(count + 1);
    const opcode = makeRows();
    if (opcode === NEEDS_ROOM) continue;
    if (opcode < 0) break;
    if (opcode === 0) {
      const stop = runExtended();
      if (stop !== AT_END) return stop;
    } else runOther(opcode);
    if (isCut) break;
  }
  isCut = isCut || count > firstRow || at < end;
  keepLines();
  return AT_END;
}

/**
 * Runs opcodes as long as they move within a sequence or add rows to it. The next opcode cannot be predicted, and each branch on it takes longer than the
 * opcode's work, so tables are used to distinguish opcodes as far as possible.
 * @returns the first other opcode, which has been read; −1 at the end; NEEDS_ROOM before an opcode that adds a row if there is no room for it
 */
function makeRows(): i32 {
  const last = end;
  const most = capacity;
  let here = at;
  let place = address;
  let current = line;
  let row = count;
  let before = row > firstRow ? load<f64>(addresses + ((row - 1) << 3)) : -Infinity;
  let result = -1;
  while (here < last) {
    const opcode = <i32>readU8(here);
    const kind = <i32>load<u8>(kinds + opcode);
    if (kind === SETS) {
      // What follows the end does not matter: no row follows.
      const operand = load<u8>(here, 1);
      const continuation = load<u8>(continuations + opcode);
      if ((operand & continuation) === 0) {
        store<u32>(registers + (opcode << 2), operand);
        current += opcode === DW_LNS_advance_line ? ((<i32>operand) << 25) >> 25 : 0;
        here += 1 + (continuation >>> 7);
        continue;
      }
    } else if (kind === ROW) {
      if (row === most) {
        result = NEEDS_ROOM;
        break;
      }
      place += load<f64>(addressSteps + (opcode << 3));
      current += load<i32>(lineSteps + (opcode << 2));
      if (place < before) isAscending = false;
      before = place;
      store<f64>(addresses + (row << 3), place);
      store<u32>(files + (row << 2), load<u32>(registers + (DW_LNS_set_file << 2)));
      store<u32>(lines + (row << 2), current);
      store<u32>(columns + (row << 2), load<u32>(registers + (DW_LNS_set_column << 2)));
      row++;
      here++;
      continue;
    }
    result = opcode;
    here++;
    break;
  }
  at = here;
  address = place;
  line = current;
  count = row;
  return result;
}

/** The address after a number of operations, of which an instruction may hold several. */
function advanced(from: f64, operations: u64): f64 {
  if (perInstruction === 1) return from + <f64>(operations * step);
  const sum = operation + operations;
  operation = <u32>(sum % perInstruction);
  return from + <f64>((sum / perInstruction) * step);
}

/** Runs an opcode that {@link makeRows} does not, or one of its opcodes with a longer operand. */
function runOther(opcode: i32): void {
  if (opcode >= opcodeBase) {
    address = advanced(address, load<u32>(operationSteps + (opcode << 2)));
    line += load<i32>(lineSteps + (opcode << 2));
    addRow();
  } else if (opcode === DW_LNS_advance_pc) address = advanced(address, uleb());
  else if (opcode === DW_LNS_advance_line) line += <u32>sleb();
  else if (opcode === DW_LNS_set_file || opcode === DW_LNS_set_column) store<u32>(registers + (opcode << 2), <u32>uleb());
  else if (opcode === DW_LNS_const_add_pc) address = advanced(address, load<u32>(operationSteps + (255 << 2)));
  else if (opcode === DW_LNS_fixed_advance_pc) advanceFixed();
  // An opcode without effect on rows, or an unknown one: the header has the count of its operands.
  else for (let operands = load<u8>(operandCounts + opcode); operands > 0; operands--) uleb();
}

function addRow(): void {
  reserveRows(count + 1);
  if (count > firstRow && address < load<f64>(addresses + ((count - 1) << 3))) isAscending = false;
  store<f64>(addresses + (count << 3), address);
  store<u32>(files + (count << 2), load<u32>(registers + (DW_LNS_set_file << 2)));
  store<u32>(lines + (count << 2), line);
  store<u32>(columns + (count << 2), load<u32>(registers + (DW_LNS_set_column << 2)));
  count++;
}

function advanceFixed(): void {
  if (at + 2 > end) {
    isCut = true;
    return;
  }
  address += <f64>readU16(at);
  operation = 0;
  at += 2;
}

/** An unsigned LEB128 number, which may end where the program does; bits beyond 64 are left out. */
function uleb(): u64 {
  let result: u64 = 0;
  for (let shift: u64 = 0; at < end; shift += 7) {
    const byte = readU8(at++);
    if (shift < 64) result |= (<u64>(byte & 0x7f)) << shift;
    if (byte < 0x80) break;
  }
  return result;
}

function sleb(): i64 {
  const from = at;
  const result = uleb();
  const shift = 7 * <u64>(at - from);
  const isNegative = at > from && (readU8(at - 1) & 0x40) !== 0;
  return <i64>(isNegative && shift < 64 ? result | (~(<u64>0) << shift) : result);
}

function runExtended(): i32 {
  const length = uleb();
  if (length > <u64>(end - at)) {
    isCut = true;
    return AT_END;
  }
  if (length === 0) return AT_END;
  const opcode = <i32>readU8(at);
  const operand = at + 1;
  at += <usize>length;
  if (opcode === DW_LNE_end_sequence) {
    // Compilers write rows in order. Assembly may do anything.
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

/** Keeps a sequence if its code is in the program. */
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
  // Discarded code is marked by where its sequence begins: later addresses are offsets from the mark, and may be anything.
  if (count === firstRow) isDead = isDeadAt(address, sizeBytes);
}

/** Whether linkers put this address in place of that of discarded code: 0, or the two highest of all (DWARF 6, "reserved target addresses"). */
function isDeadAt(start: f64, sizeBytes: u64): bool {
  if (start === 0) return !hasCodeAtZero;
  return sizeBytes === 4 ? start >= 4294967294 : start === -1 || start === -2;
}

/** Makes room for at least this many rows. Existing ones are kept. */
function reserveRows(rows: u32): void {
  if (rows <= capacity) return;
  const larger = max(rows, 2 * capacity);
  addresses = grown(addresses, count, larger, 8);
  files = grown(files, count, larger, 4);
  lines = grown(lines, count, larger, 4);
  columns = grown(columns, count, larger, 4);
  capacity = larger;
}

function growSequences(): void {
  const larger = sequenceCapacity === 0 ? FIRST_SEQUENCE_CAPACITY : sequenceCapacity * 2;
  sequences = grown(sequences, sequenceCount, larger, 32);
  sequenceCapacity = larger;
}
