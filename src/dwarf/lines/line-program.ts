import type { ByteView } from '../../base/bytes/byte-view.ts';
import { numbersIn, putNumbers } from '../../base/bytes/little-endian.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { ascendingOrder } from '../../base/tables/ascending-order.ts';
import type { HeldRows, WasmInstance } from '../encoding/wasm-instance.ts';
import { AT_END, DEFINES_FILE, UNORDERED } from '../wasm/contract.ts';
import type { WasmExports } from '../wasm/module.ts';
import { LineCursor } from './line-cursor.ts';
import type { LineHeader } from './line-header.ts';
import { readFileEntry } from './line-header.ts';

/**
 * The rows of a line table, as columns. Those of one sequence are neighbors, in ascending order of addresses. They are in the instance's memory until it runs
 * another program.
 */
export class LineRows implements HeldRows {
  addresses = new Float64Array();
  /** Indexes that the program uses. */
  files = new Uint32Array();
  /** 1-based; 0 for code that belongs to no line. */
  lines = new Uint32Array();
  /** 1-based; 0 if it is unknown, or means the line's left edge. */
  columns = new Uint32Array();
  /** Ascending by {@link LineSequences.ends}. */
  readonly sequences: LineSequences;
  /** Whether the program ends inside a sequence, which is then left out. */
  readonly isCut: boolean;
  readonly #count: number;
  /** Undefined once the rows are gone. */
  #wasm: WasmInstance | undefined;

  /** @param wasm has run the program */
  constructor(wasm: WasmInstance) {
    const { memory, sequences, sequenceCount, firstRow, isCut } = wasm.exports;
    this.#wasm = wasm;
    this.#count = firstRow.value;
    this.sequences = sortedSequences(numbersIn(Float64Array, memory.buffer, sequences.value, 4 * sequenceCount.value));
    this.isCut = isCut.value !== 0;
    this.#show(wasm);
  }

  /** Whether the rows are still there. To be asked before each use: the columns are views, which are renewed if memory has grown. */
  ensureCurrent(): boolean {
    if (this.#wasm === undefined) return false;
    if (this.addresses.length !== this.#count) this.#show(this.#wasm);
    return true;
  }

  drop(): void {
    this.#wasm = undefined;
    this.addresses = new Float64Array();
    this.files = new Uint32Array();
    this.lines = new Uint32Array();
    this.columns = new Uint32Array();
  }

  #show(wasm: WasmInstance): void {
    const { addresses, files, lines, columns } = columnsOf(wasm.exports, 0, this.#count);
    this.addresses = addresses;
    this.files = files;
    this.lines = lines;
    this.columns = columns;
  }
}

/** Sequences of rows (DWARF 5, 6.2.5): each describes contiguous code. */
export interface LineSequences {
  readonly starts: Float64Array;
  /** The first address after the sequence. */
  readonly ends: Float64Array;
  readonly firstRows: Uint32Array;
  /** After the last row. DW_LNE_end_sequence does not count as a row. */
  readonly endRows: Uint32Array;
}

/** WebAssembly can hold no larger one. No compiler's tables come near this. */
const MAX_TABLE_SIZE_BYTES = 1 << 29;

/**
 * Runs a line number program (DWARF 5, 6.2). Empty sequences are left out, and those for code that the linker discarded. Files that the program defines are
 * added to the header's.
 * @param unit the bytes that the header was read from
 * @param hasCodeAtZero as in `DebugSections`
 * @throws PerfconvError `damaged` for a table of an impossible size
 */
export function runLineProgram(wasm: WasmInstance, unit: ByteView, header: LineHeader, hasCodeAtZero: boolean): LineRows {
  if (unit.length > MAX_TABLE_SIZE_BYTES) throw new PerfconvError('damaged', `a table of ${unit.length} bytes is too large`, { record: '.debug_line' });
  const { exports } = wasm;
  // From here on, the rows are overwritten, even if the program fails.
  wasm.setRows(undefined);
  wasm.put(exports.placeLines(unit.length), unit.bytes);
  wasm.put(exports.operandCounts.value + 1, header.standardOpcodeLengths);
  exports.beginLineProgram(
    header.programOffset,
    header.endOffset,
    header.opcodeBase,
    header.lineBase,
    header.lineRange,
    header.minimumInstructionLength,
    header.maximumOperationsPerInstruction,
    hasCodeAtZero,
    unit.littleEndian,
  );
  for (let stop = exports.runLineProgram(); stop !== AT_END; stop = exports.runLineProgram()) {
    if (stop === UNORDERED) sortRows(exports, exports.firstRow.value, exports.lineCount.value);
    else if (stop === DEFINES_FILE) readFileEntry(new LineCursor(unit, exports.entryAt.value, exports.entryEnd.value), header.files);
  }
  const rows = new LineRows(wasm);
  wasm.setRows(rows);
  return rows;
}

type RowColumns = Pick<LineRows, 'addresses' | 'files' | 'lines' | 'columns'>;

/** Where a row is in the memory of each column. */
function placesOf({ lineAddresses, lineFiles, lineNumbers, lineColumns }: WasmExports, row: number): Readonly<Record<keyof RowColumns, number>> {
  return {
    addresses: lineAddresses.value + 8 * row,
    files: lineFiles.value + 4 * row,
    lines: lineNumbers.value + 4 * row,
    columns: lineColumns.value + 4 * row,
  };
}

/** The rows from `from` up to `to`, as {@link numbersIn} gives them. */
function columnsOf(exports: WasmExports, from: number, to: number): RowColumns {
  const { buffer } = exports.memory;
  const places = placesOf(exports, from);
  const count = to - from;
  return {
    addresses: numbersIn(Float64Array, buffer, places.addresses, count),
    files: numbersIn(Uint32Array, buffer, places.files, count),
    lines: numbersIn(Uint32Array, buffer, places.lines, count),
    columns: numbersIn(Uint32Array, buffer, places.columns, count),
  };
}

/** Sorts rows by address. Rows of the same address keep their order. */
function sortRows(exports: WasmExports, from: number, to: number): void {
  const places = placesOf(exports, from);
  const rows = columnsOf(exports, from, to);
  const order = ascendingOrder(rows.addresses);
  for (const name of ['addresses', 'files', 'lines', 'columns'] as const) {
    const column = rows[name];
    const sorted = column.map((_, i) => column[order[i]]);
    putNumbers(exports.memory.buffer, places[name], sorted);
  }
}

/** @param found quadruples: start, end, first row, row after the last */
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
