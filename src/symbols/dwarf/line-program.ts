import type { ByteView } from '../../bytes/byte-view.ts';
import { ascendingOrder } from '../../intern/ascending-order.ts';
import { grown } from '../../intern/growable.ts';
import {
  DW_LNE_define_file,
  DW_LNE_end_sequence,
  DW_LNE_set_address,
  DW_LNS_advance_pc,
  DW_LNS_const_add_pc,
  DW_LNS_copy,
  DW_LNS_fixed_advance_pc,
  DW_LNS_set_column,
  DW_LNS_set_file,
} from './line-constants.ts';
import { LineCursor } from './line-cursor.ts';
import type { LineHeader } from './line-header.ts';
import { readFileEntry } from './line-header.ts';

/**
 * The rows of a line table, as columns. Those of one sequence are neighbours, in ascending order of addresses. The memory is the
 * runner's, and holds them until it runs another program.
 */
export interface LineRows {
  readonly addresses: Float64Array;
  /** Indexes as the program has them. */
  readonly files: Uint32Array;
  /** 1-based; 0 where the code belongs to no line. */
  readonly lines: Uint32Array;
  /** 1-based; 0 where it is unknown or the line's left edge is meant. */
  readonly columns: Uint32Array;
  /** Ascending by {@link LineSequences.ends}. */
  readonly sequences: LineSequences;
  /** Whether the program ends within a sequence, which then is left out. */
  readonly isCut: boolean;
}

/** Sequences of rows (DWARF 5, 6.2.5): each describes code without gaps. */
export interface LineSequences {
  readonly starts: Float64Array;
  /** The first address behind the sequence. */
  readonly ends: Float64Array;
  readonly firstRows: Uint32Array;
  /** Behind the last row. The row of DW_LNE_end_sequence is none. */
  readonly endRows: Uint32Array;
}

const FIRST_CAPACITY = 4096;
/** More rows than this are in few tables: memory for them is not kept. */
const MAX_KEPT_CAPACITY = 1 << 20;

/** Memory for rows, and how many there are. */
class RowColumns {
  addresses = new Float64Array(FIRST_CAPACITY);
  files = new Uint32Array(FIRST_CAPACITY);
  lines = new Uint32Array(FIRST_CAPACITY);
  columns = new Uint32Array(FIRST_CAPACITY);
  count = 0;

  /** Makes room for one more row at least. */
  grow(): void {
    this.addresses = grown(this.addresses, this.count + 1);
    this.files = grown(this.files, this.count + 1);
    this.lines = grown(this.lines, this.count + 1);
    this.columns = grown(this.columns, this.count + 1);
  }
}

/** Runs line number programs; keeps the memory that they need from one to the next. */
export class LineProgramRunner {
  readonly #hasCodeAtZero: boolean;
  #rows = new RowColumns();
  #current: LineRows | undefined;

  /** @param hasCodeAtZero as in `DebugSections` */
  constructor(hasCodeAtZero: boolean) {
    this.#hasCodeAtZero = hasCodeAtZero;
  }

  /** Whether the rows are those of the last program that was run. */
  holds(rows: LineRows | undefined): rows is LineRows {
    return rows !== undefined && rows === this.#current;
  }

  /**
   * Runs a program. Sequences of code that the linker threw away are left out, as are empty ones.
   * Files that the program defines are added to the header's.
   * @param unit the bytes that the header was read from
   */
  run(unit: ByteView, header: LineHeader): LineRows {
    if (this.#rows.addresses.length > MAX_KEPT_CAPACITY) this.#rows = new RowColumns();
    this.#rows.count = 0;
    this.#current = new LineProgram(unit, header, this.#rows, this.#hasCodeAtZero).run();
    return this.#current;
  }
}

/** What {@link LineProgram} comes to a stop at, beside opcodes. */
const AT_END = -1;
const NEEDS_ROOM = -2;

/**
 * One run of a line number program (DWARF 5, 6.2). What makes rows is one small loop, and everything else stands outside of it: engines
 * compile a large loop for long, and anew when they come to a rare opcode for the first time.
 */
class LineProgram {
  readonly #unit: ByteView;
  readonly #header: LineHeader;
  readonly #bytes: Uint8Array;
  readonly #rows: RowColumns;
  readonly #hasCodeAtZero: boolean;
  readonly #sequences: number[] = [];
  /** By special opcode. */
  readonly #lineSteps = new Int32Array(256);
  readonly #operationSteps = new Int32Array(256);
  /** By opcode: whether one that the loop does not know has no operands, and so no effect on rows. */
  readonly #isIdle = new Uint8Array(256);
  #at: number;
  /** The state machine's registers (DWARF 5, 6.2.2). */
  #address = 0;
  #operation = 0;
  #file = 1;
  #line = 1;
  #column = 0;
  /** Of the current sequence. */
  #firstRow = 0;
  #isAscending = true;
  #isDead: boolean;

  constructor(unit: ByteView, header: LineHeader, rows: RowColumns, hasCodeAtZero: boolean) {
    const { lineBase, lineRange, opcodeBase, standardOpcodeLengths } = header;
    this.#unit = unit;
    this.#header = header;
    this.#bytes = unit.bytes.subarray(0, header.endOffset);
    this.#rows = rows;
    this.#hasCodeAtZero = hasCodeAtZero;
    this.#at = header.programOffset;
    this.#isDead = this.#isDeadAt(0, 8);
    for (let opcode = opcodeBase; opcode < 256; opcode++) {
      // A range of 0 can only be damage; then special opcodes do not move.
      this.#lineSteps[opcode] = lineRange === 0 ? 0 : lineBase + ((opcode - opcodeBase) % lineRange);
      this.#operationSteps[opcode] = lineRange === 0 ? 0 : Math.floor((opcode - opcodeBase) / lineRange);
    }
    for (let opcode = DW_LNS_set_column + 1; opcode < opcodeBase; opcode++) {
      this.#isIdle[opcode] = opcode !== DW_LNS_fixed_advance_pc && standardOpcodeLengths[opcode - 1] === 0 ? 1 : 0;
    }
  }

  run(): LineRows {
    for (let opcode = this.#makeRows(); opcode !== AT_END; opcode = this.#makeRows()) {
      if (opcode === NEEDS_ROOM) this.#rows.grow();
      else if (!this.#runOther(opcode)) break;
    }
    const { addresses, files, lines, columns, count } = this.#rows;
    const firstRow = this.#firstRow;
    return {
      addresses: addresses.subarray(0, firstRow),
      files: files.subarray(0, firstRow),
      lines: lines.subarray(0, firstRow),
      columns: columns.subarray(0, firstRow),
      sequences: sortedSequences(this.#sequences),
      isCut: count > firstRow || this.#at < this.#bytes.length,
    };
  }

  /**
   * Runs opcodes as long as they move within a sequence or add rows to it.
   * @returns the first other opcode, which has been read; AT_END; NEEDS_ROOM before one that adds a row
   */
  #makeRows(): number {
    const bytes = this.#bytes;
    const end = bytes.length;
    const lineSteps = this.#lineSteps;
    const operationSteps = this.#operationSteps;
    const isIdle = this.#isIdle;
    const { opcodeBase, minimumInstructionLength: step, maximumOperationsPerInstruction: perInstruction } = this.#header;
    const { addresses, files, lines, columns } = this.#rows;
    const firstRow = this.#firstRow;
    let { count } = this.#rows;
    let at = this.#at;
    let address = this.#address;
    let line = this.#line;
    let result = AT_END;
    // hot
    while (at < end) {
      const opcode = bytes[at];
      let operations = 0;
      let isRow = false;
      if (opcode >= opcodeBase && opcode !== 0) {
        operations = operationSteps[opcode];
        isRow = true;
      } else if (opcode >= DW_LNS_advance_pc && opcode <= DW_LNS_set_column) {
        let byte = at + 1 < end ? bytes[at + 1] : 0;
        at += 2;
        let operand = byte & 0x7f;
        let scale = 128;
        while (byte >= 0x80 && at < end) {
          byte = bytes[at++];
          if ((byte & 0x7f) !== 0) operand += (byte & 0x7f) * scale;
          scale *= 128;
        }
        if (opcode === DW_LNS_advance_pc) operations = operand;
        else if (opcode === DW_LNS_set_file) this.#file = operand;
        else if (opcode === DW_LNS_set_column) this.#column = operand;
        else line += (byte & 0x40) !== 0 ? operand - scale : operand;
      } else if (opcode === DW_LNS_copy) {
        isRow = true;
      } else if (opcode === DW_LNS_const_add_pc) {
        operations = operationSteps[255];
        at++;
      } else {
        at++;
        if (isIdle[opcode] === 1) continue;
        result = opcode;
        break;
      }

      if (isRow && count === addresses.length) {
        result = NEEDS_ROOM;
        break;
      }
      if (operations !== 0) address = perInstruction === 1 ? address + operations * step : this.#advanced(address, operations);
      if (!isRow) continue;
      line += lineSteps[opcode];
      at++;
      if (count > firstRow && address < addresses[count - 1]) this.#isAscending = false;
      addresses[count] = address;
      files[count] = this.#file;
      lines[count] = line;
      columns[count++] = this.#column;
    }
    this.#at = at;
    this.#address = address;
    this.#line = line;
    this.#rows.count = count;
    return result;
  }

  /** The address after so many operations, where an instruction may hold several. */
  #advanced(address: number, operations: number): number {
    const { minimumInstructionLength: step, maximumOperationsPerInstruction: perInstruction } = this.#header;
    const sum = this.#operation + operations;
    this.#operation = sum % perInstruction;
    return address + step * Math.floor(sum / perInstruction);
  }

  /** Runs an opcode that makes no row. @returns false where the program is cut */
  #runOther(opcode: number): boolean {
    if (opcode === 0) return this.#runExtended();
    const bytes = this.#bytes;
    if (opcode === DW_LNS_fixed_advance_pc) {
      if (this.#at + 2 > bytes.length) return false;
      this.#address += this.#unit.u16(this.#at);
      this.#operation = 0;
      this.#at += 2;
      return true;
    }
    // One without effect on rows, or one that is not known: its operands are counted in the header.
    let at = this.#at;
    for (let operands = this.#header.standardOpcodeLengths[opcode - 1]; operands > 0; operands--) while (at < bytes.length && bytes[at++] >= 0x80);
    this.#at = at;
    return true;
  }

  #runExtended(): boolean {
    const bytes = this.#bytes;
    const end = bytes.length;
    let at = this.#at;
    let length = 0;
    for (let byte = 0x80, scale = 1; byte >= 0x80 && at < end; scale *= 128) {
      byte = bytes[at++];
      if ((byte & 0x7f) !== 0) length += (byte & 0x7f) * scale;
    }
    this.#at = at;
    const next = at + length;
    if (next > end) return false;
    if (length === 0) return true;
    const extended = bytes[at++];
    if (extended === DW_LNE_end_sequence) this.#endSequence();
    else if (extended === DW_LNE_set_address) this.#setAddress(at, length - 1);
    else if (extended === DW_LNE_define_file) readFileEntry(new LineCursor(this.#unit, at, next), this.#header.files);
    this.#at = next;
    return true;
  }

  #endSequence(): void {
    const rows = this.#rows;
    const firstRow = this.#firstRow;
    const { addresses } = rows;
    let isKept = !this.#isDead && rows.count > firstRow;
    if (isKept) {
      // Compilers write rows in order; assembly may do anything.
      if (!this.#isAscending) sortRows(rows, firstRow);
      isKept = addresses[firstRow] < this.#address;
    }
    if (isKept) this.#sequences.push(addresses[firstRow], this.#address, firstRow, rows.count);
    else rows.count = firstRow;
    this.#firstRow = rows.count;
    this.#isAscending = true;
    this.#isDead = this.#isDeadAt(0, 8);
    this.#address = this.#operation = this.#column = 0;
    this.#file = this.#line = 1;
  }

  #setAddress(at: number, sizeBytes: number): void {
    const unit = this.#unit;
    if (sizeBytes === 8) this.#address = unit.i64(at);
    else if (sizeBytes === 4) this.#address = unit.u32(at);
    else if (sizeBytes === 2) this.#address = unit.u16(at);
    this.#operation = 0;
    // Code that was thrown away is marked by where its sequence begins: what is added to a mark may be any address.
    if (this.#rows.count === this.#firstRow) this.#isDead = this.#isDeadAt(this.#address, sizeBytes);
  }

  /** Whether linkers put this address where there was code that they threw away: 0, or the two highest of all (DWARF 6, "reserved target addresses"). */
  #isDeadAt(address: number, sizeBytes: number): boolean {
    if (address === 0) return !this.#hasCodeAtZero;
    return sizeBytes === 4 ? address >= 0xffff_fffe : address === -1 || address === -2;
  }
}

/** Puts the rows from `first` on in order of addresses; those of one address stay as they are. */
function sortRows({ addresses, files, lines, columns, count }: RowColumns, first: number): void {
  const order = ascendingOrder(addresses.subarray(first, count));
  for (const column of [addresses, files, lines, columns]) {
    const values = column.slice(first, count);
    for (const [i, row] of order.entries()) column[first + i] = values[row];
  }
}

/** From quadruples: start, end, first row, behind the last row. */
function sortedSequences(found: readonly number[]): LineSequences {
  const count = found.length / 4;
  // Most programs have one, or have them in order.
  const order = Array.from({ length: count }, (_, i) => 4 * i).sort((a, b) => found[a + 1] - found[b + 1]);
  const sequences = { starts: new Float64Array(count), ends: new Float64Array(count), firstRows: new Uint32Array(count), endRows: new Uint32Array(count) };
  for (let i = 0; i < count; i++) {
    sequences.starts[i] = found[order[i]];
    sequences.ends[i] = found[order[i] + 1];
    sequences.firstRows[i] = found[order[i] + 2];
    sequences.endRows[i] = found[order[i] + 3];
  }
  return sequences;
}
