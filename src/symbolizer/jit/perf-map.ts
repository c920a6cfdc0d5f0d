import { hexDigit } from '../../base/bytes/hex-digits.ts';
import type { ByteSource } from '../../base/streams/byte-source.ts';
import { ascendingOrder } from '../../base/tables/ascending-order.ts';
import { firstAbove } from '../../base/tables/first-above.ts';
import { grown } from '../../base/tables/growable.ts';
import { NameBytes } from '../../symbol-table/name-bytes.ts';
import { type SymbolColumns, SymbolTable } from '../../symbol-table/symbol-table.ts';
import { latestOfEach } from './latest-ranges.ts';

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BLANK = 0x20;
const TAB = 0x09;
const ZERO = 0x30;
const LOWER_X = 0x78;

/** How much of a file is in memory at a time: more than any line has. */
const WINDOW_BYTES = 1 << 18;
/** The longest maps known have some 100 MB. */
const MAX_READ_BYTES = 1 << 30;
/** Holes are read as zeros, which takes as long as other bytes. */
const MAX_ZERO_BYTES = 1 << 26;
/** The most functions that are kept, and bytes of their names: some 200 MB of memory. */
const MAX_ENTRIES = 1 << 21;
const MAX_NAMES_BYTES = 1 << 27;
/** Longer names are cut, as a `SymbolTable` shows them. */
const MAX_NAME_BYTES = 1 << 16;
/** The share of memory that must be free after covered entries were dropped. If there is less, reading ends. */
const FREED_SHARE = 1 / 4;

/** The functions that a JIT listed, by address. */
export interface PerfMap {
  readonly table: SymbolTable;
  /** Lines that are not entries. */
  readonly damagedLines: number;
  /** Which part of the file was not read, in words; empty if all was read. */
  readonly leftOut: string;
}

/**
 * Reads a JIT's `/tmp/perf-PID.map`: a line for each function, `START SIZE name`, the numbers hexadecimal with or
 * without `0x`. Source: perf's documentation (jit-interface.txt). Addresses are those of the process.
 *
 * JITs reuse memory, so entries may overlap: a later entry covers an earlier one, which keeps the rest of its range. perf 6.1 shows one of them, depending on
 * the shape of its tree (observed). If nothing overlaps, the results are the same except for names of less than three characters, which perf leaves out. An
 * entry of size 0 has no code and names nothing, as with perf.
 *
 * Memory follows the number of functions that have code, whatever the size of the file. A last line without an end is
 * an entry, too: the process may still be writing.
 * @throws PerfconvError `io`
 */
export async function readPerfMap(source: ByteSource): Promise<PerfMap> {
  const entries = new Entries();
  const window = new Uint8Array(Math.min(WINDOW_BYTES, (source.sizeBytes ?? WINDOW_BYTES) + 1));
  let leftOut = '';
  /** Bytes of a line that is not yet whole, at the window's start. */
  let pending = 0;
  let zeroBytes = 0;
  let isInLongLine = false;
  for (let position = 0; leftOut === ''; ) {
    const count = await source.readAt(position, window.subarray(pending));
    position += count;
    let end = pending + count;
    if (isZero(window, pending, end)) {
      // A hole ends the line before it, and another begins after it.
      zeroBytes += count;
      end = pending;
    }
    const lastNewline = end === pending ? -1 : window.subarray(0, end).lastIndexOf(NEWLINE);
    // The rest of a line that fills the window is skipped.
    const isCut = lastNewline < 0 && end === window.length;
    const isWhole = end === pending || isCut;
    const lines = isWhole ? end : lastNewline + 1;
    const from = isInLongLine ? (lastNewline < 0 ? lines : window.indexOf(NEWLINE) + 1) : 0;
    entries.readAll(window, from, lines);
    if (lines > 0) isInLongLine = isCut;
    window.copyWithin(0, lines, end);
    pending = end - lines;
    if (count === 0) break;
    if (entries.isFull) leftOut = `only its first ${entries.count} functions that have code are used`;
    else if (zeroBytes > MAX_ZERO_BYTES) leftOut = `what follows ${MAX_ZERO_BYTES} bytes of zeros is not read`;
    else if (position >= MAX_READ_BYTES) leftOut = `only its first ${MAX_READ_BYTES} bytes are read`;
  }
  return { table: entries.table(), damagedLines: entries.damagedLines, leftOut };
}

function isZero(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] !== 0) return false;
  return true;
}

/** Symbols that may overlap: the one listed last is found. */
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
    const after = firstAbove(this.#rangeStarts, address, 0, this.#rangeStarts.length);
    return after === 0 ? -1 : this.#rangeSymbols[after - 1];
  }
}

/** The entries of a map in the order of the file. */
class Entries {
  count = 0;
  damagedLines = 0;
  /** Whether no more entries can be kept. */
  isFull = false;
  #starts = new Float64Array(1024);
  #ends = new Float64Array(1024);
  #nameOffsets = new Uint32Array(1024);
  #nameLengths = new Uint32Array(1024);
  /** The names one after the other. */
  #names = new Uint8Array(1 << 14);
  #namesBytes = 0;
  /** Where {@link #hex} has read up to. */
  #position = 0;

  /** Reads the lines in [from, to). */
  readAll(bytes: Uint8Array, from: number, to: number): void {
    // hot
    for (let position = from; position < to && !this.isFull; ) {
      const newline = bytes.indexOf(NEWLINE, position);
      const end = newline < 0 || newline > to ? to : newline;
      this.#read(bytes, position, end);
      position = end + 1;
    }
  }

  table(): SymbolTable {
    const { count } = this;
    const [starts, ends] = [this.#starts.subarray(0, count), this.#ends.subarray(0, count)];
    const { rangeStarts, rangeOwners } = latestOfEach(starts, ends);
    const order = ascendingOrder(starts);
    const places = new Int32Array(count);
    for (let place = 0; place < count; place++) places[order[place]] = place;
    const columns = {
      starts: Float64Array.from(order, (entry) => starts[entry]),
      ends: Float64Array.from(order, (entry) => ends[entry]),
      nameOffsets: Uint32Array.from(order, (entry) => this.#nameOffsets[entry]),
      nameLengths: Uint32Array.from(order, (entry) => this.#nameLengths[entry]),
      names: new NameBytes(this.#names.subarray(0, this.#namesBytes)),
    };
    return new LatestSymbolTable(
      columns,
      rangeStarts,
      rangeOwners.map((entry) => (entry < 0 ? -1 : places[entry])),
    );
  }

  #read(bytes: Uint8Array, lineStart: number, lineEnd: number): void {
    // hot
    let from = lineStart;
    let end = lineEnd;
    while (from < end && bytes[from] === 0) from++;
    while (end > from && (bytes[end - 1] === 0 || bytes[end - 1] === CARRIAGE_RETURN)) end--;
    const start = this.#hex(bytes, from, end);
    const size = start < 0 ? -1 : this.#hex(bytes, this.#position, end);
    const name = this.#position + 1;
    // One blank separates the name from the size; further ones are part of the name.
    if (size < 0 || end <= name || !isBlank(bytes[name - 1]) || !Number.isSafeInteger(start + size)) {
      if (end > from) this.damagedLines++;
      return;
    }
    if (size > 0) this.#add(start, size, bytes, name, Math.min(end - name, MAX_NAME_BYTES));
  }

  #add(start: number, size: number, bytes: Uint8Array, name: number, nameLength: number): void {
    // hot
    if (this.count === MAX_ENTRIES || this.#namesBytes + nameLength > MAX_NAMES_BYTES) this.#dropCovered();
    if (this.isFull) return;
    const index = this.count++;
    this.#starts = grown(this.#starts, index + 1);
    this.#ends = grown(this.#ends, index + 1);
    this.#nameOffsets = grown(this.#nameOffsets, index + 1);
    this.#nameLengths = grown(this.#nameLengths, index + 1);
    this.#names = grown(this.#names, this.#namesBytes + nameLength);
    this.#starts[index] = start;
    this.#ends[index] = start + size;
    this.#nameOffsets[index] = this.#namesBytes;
    this.#nameLengths[index] = nameLength;
    for (let i = 0; i < nameLength; i++) this.#names[this.#namesBytes + i] = bytes[name + i];
    this.#namesBytes += nameLength;
  }

  /** Drops entries that later ones cover completely: JITs list functions again when they move them. */
  #dropCovered(): void {
    const { rangeOwners } = latestOfEach(this.#starts.subarray(0, this.count), this.#ends.subarray(0, this.count));
    const hasCode = new Uint8Array(this.count);
    for (const entry of rangeOwners) if (entry >= 0) hasCode[entry] = 1;
    let kept = 0;
    let namesBytes = 0;
    for (let entry = 0; entry < this.count; entry++) {
      if (hasCode[entry] === 0) continue;
      const [offset, length] = [this.#nameOffsets[entry], this.#nameLengths[entry]];
      this.#names.copyWithin(namesBytes, offset, offset + length);
      this.#starts[kept] = this.#starts[entry];
      this.#ends[kept] = this.#ends[entry];
      this.#nameOffsets[kept] = namesBytes;
      this.#nameLengths[kept++] = length;
      namesBytes += length;
    }
    this.count = kept;
    this.#namesBytes = namesBytes;
    this.isFull = kept > (1 - FREED_SHARE) * MAX_ENTRIES || namesBytes > (1 - FREED_SHARE) * MAX_NAMES_BYTES;
  }

  /** Reads a number after blanks; −1 if there is none. */
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
