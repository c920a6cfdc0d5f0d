import type { ByteView } from '../../bytes/byte-view.ts';
import { grown } from '../../intern/growable.ts';
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

/** Runs line number programs; keeps the memory that they need from one to the next. */
export class LineProgramRunner {
  #addresses = new Float64Array(FIRST_CAPACITY);
  #files = new Uint32Array(FIRST_CAPACITY);
  #lines = new Uint32Array(FIRST_CAPACITY);
  #columns = new Uint32Array(FIRST_CAPACITY);
  readonly #hasCodeAtZero: boolean;
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
    const { lineBase, lineRange, opcodeBase, standardOpcodeLengths, minimumInstructionLength: step, endOffset: end } = header;
    const perInstruction = header.maximumOperationsPerInstruction;
    const bytes = unit.bytes.subarray(0, end);
    const lineSteps = new Int32Array(256);
    const operationSteps = new Int32Array(256);
    for (let opcode = opcodeBase; opcode < 256; opcode++) {
      // A range of 0 can only be damage; then special opcodes do not move.
      lineSteps[opcode] = lineRange === 0 ? 0 : lineBase + ((opcode - opcodeBase) % lineRange);
      operationSteps[opcode] = lineRange === 0 ? 0 : Math.floor((opcode - opcodeBase) / lineRange);
    }

    const sequences: number[] = [];
    let addresses = this.#addresses;
    let files = this.#files;
    let lines = this.#lines;
    let columns = this.#columns;
    let count = 0;
    let firstRow = 0;
    let isAscending = true;
    let isDead = this.#isDead(0, 8);

    let at = header.programOffset;
    let address = 0;
    let operation = 0;
    let file = 1;
    let line = 1;
    let column = 0;
    // hot
    while (at < end) {
      const opcode = bytes[at++];
      let operations = 0;
      let isRow = false;
      if (opcode >= opcodeBase && opcode !== 0) {
        operations = operationSteps[opcode];
        line += lineSteps[opcode];
        isRow = true;
      } else if (opcode >= DW_LNS_advance_pc && opcode <= DW_LNS_set_column) {
        let byte = bytes[at++];
        let operand = byte & 0x7f;
        let scale = 128;
        while (byte >= 0x80 && at < end) {
          byte = bytes[at++];
          if ((byte & 0x7f) !== 0) operand += (byte & 0x7f) * scale;
          scale *= 128;
        }
        if (opcode === DW_LNS_advance_pc) operations = operand;
        else if (opcode === DW_LNS_set_file) file = operand;
        else if (opcode === DW_LNS_set_column) column = operand;
        else if (opcode === DW_LNS_advance_line) line += (byte & 0x40) !== 0 ? operand - scale : operand;
      } else if (opcode === DW_LNS_copy) {
        isRow = true;
      } else if (opcode === DW_LNS_const_add_pc) {
        operations = operationSteps[255];
      } else if (opcode === DW_LNS_fixed_advance_pc) {
        if (at + 2 > end) break;
        address += unit.u16(at);
        operation = 0;
        at += 2;
      } else if (opcode === 0) {
        let length = 0;
        for (let byte = 0x80, scale = 1; byte >= 0x80 && at < end; scale *= 128) {
          byte = bytes[at++];
          if ((byte & 0x7f) !== 0) length += (byte & 0x7f) * scale;
        }
        const next = at + length;
        if (next > end) break;
        if (length === 0) continue;
        const extended = bytes[at++];
        if (extended === DW_LNE_end_sequence) {
          if (!isDead && count > firstRow) {
            // Compilers write rows in order; assembly may do anything.
            if (!isAscending) sortRows(addresses, files, lines, columns, firstRow, count);
            if (addresses[firstRow] < address) sequences.push(addresses[firstRow], address, firstRow, count);
            else count = firstRow;
          } else {
            count = firstRow;
          }
          firstRow = count;
          isAscending = true;
          isDead = this.#isDead(0, 8);
          address = operation = column = 0;
          file = line = 1;
        } else if (extended === DW_LNE_set_address) {
          const size = length - 1;
          if (size === 8) address = unit.i64(at);
          else if (size === 4) address = unit.u32(at);
          else if (size === 2) address = unit.u16(at);
          operation = 0;
          // Code that was thrown away is marked by where its sequence begins: what is added to a mark may be any address.
          if (count === firstRow) isDead = this.#isDead(address, size);
        } else if (extended === DW_LNE_define_file) {
          readFileEntry(new LineCursor(unit, at, next), header.files);
        }
        at = next;
      } else if (opcode > DW_LNS_set_column) {
        // One without effect on rows, or one that is not known: its operands are counted in the header.
        for (let operands = standardOpcodeLengths[opcode - 1]; operands > 0; operands--) while (at < end && bytes[at++] >= 0x80);
      }

      if (operations !== 0) {
        if (perInstruction === 1) {
          address += operations * step;
        } else {
          const sum = operation + operations;
          address += step * Math.floor(sum / perInstruction);
          operation = sum % perInstruction;
        }
      }
      if (!isRow) continue;
      if (count === addresses.length) {
        addresses = grown(addresses, count + 1);
        files = grown(files, count + 1);
        lines = grown(lines, count + 1);
        columns = grown(columns, count + 1);
      }
      if (count > firstRow && address < addresses[count - 1]) isAscending = false;
      addresses[count] = address;
      files[count] = file;
      lines[count] = line;
      columns[count++] = column;
    }

    if (addresses.length <= MAX_KEPT_CAPACITY) {
      this.#addresses = addresses;
      this.#files = files;
      this.#lines = lines;
      this.#columns = columns;
    }
    this.#current = {
      addresses: addresses.subarray(0, firstRow),
      files: files.subarray(0, firstRow),
      lines: lines.subarray(0, firstRow),
      columns: columns.subarray(0, firstRow),
      sequences: sortedSequences(sequences),
      isCut: count > firstRow || at < end,
    };
    return this.#current;
  }

  /** Whether linkers put this address where there was code that they threw away: 0, or the two highest of all (DWARF 6, "reserved target addresses"). */
  #isDead(address: number, sizeBytes: number): boolean {
    if (address === 0) return !this.#hasCodeAtZero;
    return sizeBytes === 4 ? address >= 0xffff_fffe : address === -1 || address === -2;
  }
}

/** Puts the rows from `first` to `end` in order of addresses; those of one address stay as they are. */
function sortRows(addresses: Float64Array, files: Uint32Array, lines: Uint32Array, columns: Uint32Array, first: number, end: number): void {
  const order = Array.from({ length: end - first }, (_, i) => first + i).sort((a, b) => addresses[a] - addresses[b]);
  for (const column of [addresses, files, lines, columns]) {
    const values = order.map((row) => column[row]);
    column.set(values, first);
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
