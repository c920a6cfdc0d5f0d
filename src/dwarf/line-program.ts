import { addressOf } from '../base/addresses.ts';
import { ascendingOrder } from '../base/ascending-order.ts';
import type { ByteView } from '../base/byte-view.ts';
import { PerfconvError } from '../base/errors.ts';
import { LineCursor } from './line-cursor.ts';
import type { LineHeader } from './line-header.ts';
import { readFileEntry } from './line-header.ts';
import { instantiate, type WasmGlobal, type WasmMemory } from './wasm/instantiate.ts';
import { CODE } from './wasm/line-program-code.ts';

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

/** Memory that is kept for the next table: few need more. */
const MAX_KEPT_SIZE_BYTES = 32 << 20;
/** WebAssembly can have no more at once. No compiler's tables come near. */
const MAX_TABLE_SIZE_BYTES = 1 << 29;

/** Why {@link LineMachine.run} stopped. */
const UNORDERED = 1;
const DEFINES_FILE = 2;

/** Exports of assembly/line-program.ts, which says what they are. Places are byte offsets in the memory. */
interface LineMachine {
  readonly memory: WasmMemory;
  readonly operandCounts: WasmGlobal;
  readonly firstRow: WasmGlobal;
  readonly count: WasmGlobal;
  readonly addresses: WasmGlobal;
  readonly files: WasmGlobal;
  readonly lines: WasmGlobal;
  readonly columns: WasmGlobal;
  readonly sequences: WasmGlobal;
  readonly sequenceCount: WasmGlobal;
  readonly entryAt: WasmGlobal;
  readonly entryEnd: WasmGlobal;
  readonly isCut: WasmGlobal;
  reserve(sizeBytes: number): number;
  begin(
    from: number,
    to: number,
    opcodeBase: number,
    lineBase: number,
    lineRange: number,
    minimumInstructionLength: number,
    maximumOperationsPerInstruction: number,
    hasCodeAtZero: boolean,
    isLittleEndian: boolean,
  ): void;
  run(): number;
}

/**
 * Runs line number programs (DWARF 5, 6.2); keeps the memory that they need from one to the next. The state machine is WebAssembly:
 * it is fast from the first table on, and a look-up is mostly over before an engine has made JavaScript as fast.
 */
export class LineProgramRunner {
  readonly #hasCodeAtZero: boolean;
  #machine: LineMachine | undefined;
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
   * @throws PerfconvError `damaged` for a table of an impossible size
   */
  run(unit: ByteView, header: LineHeader): LineRows {
    if (unit.length > MAX_TABLE_SIZE_BYTES) throw new PerfconvError('damaged', `a table of ${unit.length} bytes`, { record: '.debug_line' });
    const machine = this.#idleMachine();
    // Its rows are overwritten from here on, whatever comes of the program.
    this.#current = undefined;
    this.#begin(machine, unit, header);
    for (let stop = machine.run(); stop !== 0; stop = machine.run()) {
      if (stop === UNORDERED) sortRows(columnsOf(machine, machine.firstRow.value, machine.count.value));
      else if (stop === DEFINES_FILE) readFileEntry(new LineCursor(unit, machine.entryAt.value, machine.entryEnd.value), header.files);
    }
    const { memory, sequences, sequenceCount, firstRow, isCut } = machine;
    const rows = {
      ...columnsOf(machine, 0, firstRow.value),
      sequences: sortedSequences(new Float64Array(memory.buffer, sequences.value, 4 * sequenceCount.value)),
      isCut: isCut.value !== 0,
    };
    this.#current = rows;
    return rows;
  }

  #idleMachine(): LineMachine {
    if (this.#machine !== undefined && this.#machine.memory.buffer.byteLength <= MAX_KEPT_SIZE_BYTES) return this.#machine;
    this.#machine = instantiate<LineMachine>(CODE, { addressOf });
    return this.#machine;
  }

  #begin(machine: LineMachine, unit: ByteView, header: LineHeader): void {
    const { programOffset, endOffset, opcodeBase, lineBase, lineRange, minimumInstructionLength, maximumOperationsPerInstruction } = header;
    const place = machine.reserve(unit.length);
    new Uint8Array(machine.memory.buffer, place).set(unit.bytes);
    new Uint8Array(machine.memory.buffer, machine.operandCounts.value + 1).set(header.standardOpcodeLengths);
    machine.begin(
      programOffset,
      endOffset,
      opcodeBase,
      lineBase,
      lineRange,
      minimumInstructionLength,
      maximumOperationsPerInstruction,
      this.#hasCodeAtZero,
      unit.littleEndian,
    );
  }
}

type RowColumns = Pick<LineRows, 'addresses' | 'files' | 'lines' | 'columns'>;

/** Rows from `from` up to `to`, where they stand. */
function columnsOf({ memory: { buffer }, addresses, files, lines, columns }: LineMachine, from: number, to: number): RowColumns {
  const count = to - from;
  return {
    addresses: new Float64Array(buffer, addresses.value + 8 * from, count),
    files: new Uint32Array(buffer, files.value + 4 * from, count),
    lines: new Uint32Array(buffer, lines.value + 4 * from, count),
    columns: new Uint32Array(buffer, columns.value + 4 * from, count),
  };
}

/** Puts rows in order of addresses; those of one address stay as they are. */
function sortRows({ addresses, files, lines, columns }: RowColumns): void {
  const order = ascendingOrder(addresses);
  for (const column of [addresses, files, lines, columns]) {
    const values = column.slice();
    for (const [i, row] of order.entries()) column[i] = values[row];
  }
}

/** From quadruples: start, end, first row, behind the last row. */
function sortedSequences(found: Float64Array): LineSequences {
  const count = found.length / 4;
  const ends = new Float64Array(count);
  for (let i = 0; i < count; i++) ends[i] = found[4 * i + 1];
  const order = ascendingOrder(ends);
  const sequences = { starts: new Float64Array(count), ends, firstRows: new Uint32Array(count), endRows: new Uint32Array(count) };
  for (let i = 0; i < count; i++) {
    const at = 4 * order[i];
    sequences.starts[i] = found[at];
    ends[i] = found[at + 1];
    sequences.firstRows[i] = found[at + 2];
    sequences.endRows[i] = found[at + 3];
  }
  return sequences;
}
