import { hexDigit } from '../../bytes/hex-digits.ts';
import { ascendingOrder } from '../../intern/ascending-order.ts';
import { grown } from '../../intern/growable.ts';
import { type SymbolColumns, SymbolTable } from '../table/symbol-table.ts';
import { latestOfEach } from './latest-ranges.ts';

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BLANK = 0x20;
const TAB = 0x09;
const ZERO = 0x30;
const LOWER_X = 0x78;

/** The functions that a JIT listed, by address. */
export interface PerfMap {
  readonly table: SymbolTable;
  /** Lines that are no entries. */
  readonly damagedLines: number;
}

/**
 * Reads a JIT's `/tmp/perf-PID.map`: a line for each function, `START SIZE name`, the numbers hexadecimal with or without `0x`.
 * Source: perf's documentation (jit-interface.txt). Addresses are those of the process.
 *
 * Memory is used again, so that entries may overlap: what was written later covers what was written before, which keeps the rest. perf 6.1
 * shows one of them, which one follows from the shape of its tree (observed); where nothing overlaps, the two are the same but for names
 * of less than three characters, which perf leaves out. An entry of size 0 has no code and names nothing, as with perf.
 *
 * @param bytes of the whole file; kept. A last line without an end is an entry, too: the process may still be writing
 */
export function parsePerfMap(bytes: Uint8Array): PerfMap {
  const entries = new Entries();
  for (let position = 0; position < bytes.length; ) {
    // hot
    const newline = bytes.indexOf(NEWLINE, position);
    const end = newline < 0 ? bytes.length : newline;
    entries.take(bytes, position, end);
    position = end + 1;
  }
  const { count, starts, ends, nameOffsets, nameLengths, damagedLines } = entries;
  const { rangeStarts, rangeOwners } = latestOfEach(starts.subarray(0, count), ends.subarray(0, count));
  const order = ascendingOrder(starts.subarray(0, count));
  const places = new Int32Array(count);
  order.forEach((entry, place) => {
    places[entry] = place;
  });
  const columns = {
    starts: Float64Array.from(order, (entry) => starts[entry]),
    ends: Float64Array.from(order, (entry) => ends[entry]),
    nameOffsets: Uint32Array.from(order, (entry) => nameOffsets[entry]),
    nameLengths: Uint32Array.from(order, (entry) => nameLengths[entry]),
    names: bytes,
  };
  return {
    table: new LatestSymbolTable(
      columns,
      rangeStarts,
      rangeOwners.map((entry) => (entry < 0 ? -1 : places[entry])),
    ),
    damagedLines,
  };
}

/** Symbols of which the one that was told last is found where several overlap. */
class LatestSymbolTable extends SymbolTable {
  /** Where ranges begin, ascending, and the symbol that each belongs to; -1 for none. */
  readonly #rangeStarts: Float64Array;
  readonly #rangeSymbols: Int32Array;

  constructor(columns: SymbolColumns, rangeStarts: Float64Array, rangeSymbols: Int32Array) {
    super(columns);
    this.#rangeStarts = rangeStarts;
    this.#rangeSymbols = rangeSymbols;
  }

  override find(address: number): number {
    let low = 0;
    let high = this.#rangeStarts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#rangeStarts[middle] <= address) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? -1 : this.#rangeSymbols[low - 1];
  }
}

/** The entries of a map in the order of the file. */
class Entries {
  count = 0;
  damagedLines = 0;
  starts = new Float64Array(1024);
  ends = new Float64Array(1024);
  nameOffsets = new Uint32Array(1024);
  nameLengths = new Uint32Array(1024);
  /** Where {@link #hex} has read up to. */
  #position = 0;

  /** Takes the line in [from, end). */
  take(bytes: Uint8Array, from: number, end: number): void {
    // hot
    const start = this.#hex(bytes, from, end);
    const size = start < 0 ? -1 : this.#hex(bytes, this.#position, end);
    const name = this.#position + 1;
    let nameEnd = end;
    while (nameEnd > name && bytes[nameEnd - 1] === CARRIAGE_RETURN) nameEnd--;
    // A blank parts the name from the size; further ones are part of it.
    if (size < 0 || nameEnd <= name || !isBlank(bytes[name - 1]) || !Number.isSafeInteger(start + size)) {
      if (nameEnd > from) this.damagedLines++;
      return;
    }
    if (size > 0) this.#add(start, size, name, nameEnd - name);
  }

  #add(start: number, size: number, nameOffset: number, nameLength: number): void {
    const index = this.count++;
    this.starts = grown(this.starts, index + 1);
    this.ends = grown(this.ends, index + 1);
    this.nameOffsets = grown(this.nameOffsets, index + 1);
    this.nameLengths = grown(this.nameLengths, index + 1);
    this.starts[index] = start;
    this.ends[index] = start + size;
    this.nameOffsets[index] = nameOffset;
    this.nameLengths[index] = nameLength;
  }

  /** A number behind blanks; -1 when there is none. */
  #hex(bytes: Uint8Array, from: number, end: number): number {
    let at = from;
    while (at < end && isBlank(bytes[at])) at++;
    if (bytes[at] === ZERO && (bytes[at + 1] | 0x20) === LOWER_X) at += 2;
    const first = at;
    let value = 0;
    for (; at < end; at++) {
      const digit = hexDigit(bytes[at]);
      if (digit < 0) break;
      value = value * 16 + digit;
    }
    this.#position = at;
    return at === first ? -1 : value;
  }
}

function isBlank(byte: number): boolean {
  return byte === BLANK || byte === TAB;
}
