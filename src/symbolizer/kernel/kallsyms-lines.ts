import { HexNumber } from '../../base/bytes/hex-digits.ts';
import { canonicalModuleName } from '../../base/names/module-names.ts';
import { grown } from '../../base/tables/growable.ts';
import type { PlainLines } from './plain-lines.ts';

const NEWLINE = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;
const DOLLAR = 0x24;
const DOT = 0x2e;
const UPPER_L = 0x4c;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const LOWER_T = 0x74;
const LOWER_W = 0x77;
const LOWER_CASE_BIT = 0x20;

/** The types of symbols that perf keeps, in either case: text, weak, data, BSS. Observed: perf 6.1. */
const KEPT_TYPES = new Set(['t', 'w', 'd', 'b'].map((letter) => letter.charCodeAt(0)));
/** Compared with reading this many lines here, a futile call of WebAssembly takes no time. */
const MAX_OWN_LINES = 64;
const LATIN1 = new TextDecoder('latin1');
/** The kernel image among the groups of symbols. */
export const IMAGE = 0;

/**
 * Reads the lines of a list, and keeps those that may name code, in its order. If adjacent lines of one group have the same address, only the last is kept:
 * each symbol runs to the next one, so the others are empty, and perf prefers one that has a size. Observed: perf 6.1.
 */
export class KallsymsLines {
  count = 0;
  starts: Float64Array;
  nameOffsets: Uint32Array;
  nameLengths: Uint32Array;
  /** Values of {@link groupIndexes}. */
  groups: Uint32Array;
  /** By module column; empty for the kernel image. */
  readonly groupIndexes = new Map([['', IMAGE]]);
  /** The first row that is not the image's, −1 if all are; and where the image's rows end. */
  firstOther = -1;
  imageEnd = 0;
  /** The first two rows of the image whose addresses are below that of the row before. */
  readonly descents: number[] = [];
  /** Functions whose address is zero. */
  hiddenCount = 0;
  hasSymbols = false;
  /** Whether any address is not zero. */
  showsAddresses = false;
  readonly #bytes: Uint8Array;
  #plain: PlainLines | undefined;
  readonly #address = new HexNumber();
  /** The last module column that was read, and its group: the next line mostly has the same. */
  #module = new Uint8Array();
  #moduleGroup = IMAGE;
  /** The group of the lines that {@link PlainLines} reads. */
  #plainGroup = IMAGE;

  /** @param plain reads most lines; without it, all are read here */
  constructor(bytes: Uint8Array, plain: PlainLines | undefined) {
    const capacity = Math.min(bytes.length >>> 5, 1 << 20) + 1;
    this.starts = new Float64Array(capacity);
    this.nameOffsets = new Uint32Array(capacity);
    this.nameLengths = new Uint32Array(capacity);
    this.groups = new Uint32Array(capacity);
    this.#bytes = bytes;
    this.#plain = plain;
    plain?.setTail(Uint8Array.of(NEWLINE));
    /** How many lines to read here before trying again whether the next ones are plain: more each time they are not. */
    let ownLines = 1;
    // hot
    for (let at = 0; at < bytes.length; ) {
      if (plain !== undefined) {
        const next = this.#readPlain(plain, at);
        ownLines = next > at ? 1 : Math.min(2 * ownLines, MAX_OWN_LINES);
        at = next;
      }
      for (let left = ownLines; left > 0 && at < bytes.length; left--) at = this.#readLine(at);
    }
    // This object may be kept for long, and no longer needs the memory of PlainLines.
    this.#plain = undefined;
  }

  /** Reads the plain lines of one group that begin at `from`. @returns where the next line begins */
  #readPlain(plain: PlainLines, from: number): number {
    const group = this.#plainGroup;
    // A module's symbols are in the order of its file, not of addresses.
    const least = group === IMAGE ? this.#lastStart() : Number.NEGATIVE_INFINITY;
    const next = plain.read(from, least);
    if (next > from) {
      this.hasSymbols = true;
      this.showsAddresses = true;
    }
    const { count } = plain;
    if (count === 0) return next;
    const row = this.#rowFor(plain.starts[0], group, count);
    this.starts.set(plain.starts.subarray(0, count), row);
    this.nameOffsets.set(plain.nameOffsets.subarray(0, count), row);
    this.nameLengths.set(plain.nameLengths.subarray(0, count), row);
    // Columns begin as zeros.
    if (group !== IMAGE) this.groups.fill(group, row, this.count);
    return next;
  }

  /** Reads the line at `from`. Lines of another form are skipped. @returns where the next one begins */
  #readLine(from: number): number {
    const bytes = this.#bytes;
    const end = bytes.length;
    const at = this.#address.read(bytes, from);
    const nameAt = at + 3;
    const isSymbol = this.#address.digits > 0 && nameAt < end && bytes[at] === SPACE && bytes[at + 2] === SPACE;
    let nameEnd = nameAt;
    if (isSymbol) while (nameEnd < end && bytes[nameEnd] > SPACE) nameEnd++;
    let lineEnd = isSymbol ? nameEnd : at;
    while (lineEnd < end && bytes[lineEnd] !== NEWLINE) lineEnd++;
    if (isSymbol && nameEnd > nameAt) this.#meet(bytes[at + 1], nameAt, nameEnd, lineEnd);
    return lineEnd + 1;
  }

  /** Keeps a symbol whose address was read, if it may name code. */
  #meet(type: number, nameAt: number, nameEnd: number, lineEnd: number): void {
    const { hi, lo, signed } = this.#address;
    const isZero = (hi | lo) === 0;
    this.hasSymbols = true;
    if (!isZero) this.showsAddresses = true;
    const lowerType = type | LOWER_CASE_BIT;
    if (!KEPT_TYPES.has(lowerType) || this.#isLabel(nameAt)) return;
    if (!isZero) this.#add(signed, nameAt, nameEnd, lineEnd);
    // Data may be at 0: the addresses of per-CPU variables start there.
    else if (lowerType === LOWER_T || lowerType === LOWER_W) this.hiddenCount++;
  }

  /**
   * Whether a symbol names no function: Arm's mapping symbols start with a dollar, and perf keeps none that do; local labels of the assembler start with `.L`,
   * and the kernel's own traces leave them out. Half of the symbols of RISC-V's modules are such labels.
   */
  #isLabel(nameAt: number): boolean {
    const bytes = this.#bytes;
    return bytes[nameAt] === DOLLAR || (bytes[nameAt] === DOT && bytes[nameAt + 1] === UPPER_L);
  }

  #add(start: number, nameAt: number, nameEnd: number, lineEnd: number): void {
    const group = this.#groupAt(nameEnd, lineEnd);
    const row = this.#rowFor(start, group, 1);
    this.starts[row] = start;
    this.nameOffsets[row] = nameAt;
    this.nameLengths[row] = nameEnd - nameAt;
    this.groups[row] = group;
    // The next lines mostly end in the same way.
    this.#plain?.setTail(this.#bytes.subarray(nameEnd, lineEnd + 1));
    this.#plainGroup = group;
  }

  /** The group of the line whose module column is between `nameEnd` and `lineEnd`, if it has one. */
  #groupAt(nameEnd: number, lineEnd: number): number {
    const bytes = this.#bytes;
    let open = nameEnd;
    while (open < lineEnd && (bytes[open] === TAB || bytes[open] === SPACE)) open++;
    if (bytes[open] !== OPEN || bytes[lineEnd - 1] !== CLOSE) return IMAGE;
    if (!equals(bytes, open + 1, lineEnd - 1, this.#module)) {
      this.#module = bytes.slice(open + 1, lineEnd - 1);
      this.#moduleGroup = groupOf(this.groupIndexes, LATIN1.decode(this.#module));
    }
    return this.#moduleGroup;
  }

  /** Makes room for further rows of a group. @param start address of the first @returns where they go: the first may replace the last row */
  #rowFor(start: number, group: number, count: number): number {
    const last = this.count - 1;
    const isOfLast = last >= 0 && this.groups[last] === group;
    const row = isOfLast && this.starts[last] === start ? last : this.count;
    if (group === IMAGE) {
      if (isOfLast && start < this.starts[last] && this.descents.length < 2) this.descents.push(row);
      this.imageEnd = row + count;
    } else if (this.firstOther < 0) this.firstOther = row;
    this.count = row + count;
    if (this.count > this.starts.length) {
      this.starts = grown(this.starts, this.count);
      this.nameOffsets = grown(this.nameOffsets, this.count);
      this.nameLengths = grown(this.nameLengths, this.count);
      this.groups = grown(this.groups, this.count);
    }
    return row;
  }

  #lastStart(): number {
    return this.count === 0 ? -Number.MAX_VALUE : this.starts[this.count - 1];
  }
}

function groupOf(groupIndexes: Map<string, number>, name: string): number {
  const key = canonicalModuleName(name);
  let group = groupIndexes.get(key);
  if (group === undefined) {
    group = groupIndexes.size;
    groupIndexes.set(key, group);
  }
  return group;
}

/** Whether the bytes from `from` up to `to` are `other`. */
export function equals(bytes: Uint8Array, from: number, to: number, other: Uint8Array): boolean {
  if (to - from !== other.length || to > bytes.length) return false;
  for (let i = 0; i < other.length; i++) if (bytes[from + i] !== other[i]) return false;
  return true;
}
