import { ascendingOrder } from '../../base/ascending-order.ts';
import { grown } from '../../base/growable.ts';
import { HexNumber } from '../../base/hex-digits.ts';
import type { SymbolTable } from '../../symbol-table/symbol-table.ts';
import { lastSymbolSize, RANK_GLOBAL, RANK_LOCAL, RANK_WEAK, type SymbolRank, SymbolTableBuilder } from '../../symbol-table/symbol-table-builder.ts';
import { canonicalModuleName } from './kernel-modules.ts';

const NEWLINE = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;
const DOLLAR = 0x24;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const UPPER_W = 0x57;
const LOWER_T = 0x74;
const LOWER_W = 0x77;
const LOWER_CASE_BIT = 0x20;

/** The types of symbols that perf keeps, in either case: text, weak, data, BSS. Observed: perf 6.1. */
const KEPT_TYPES = new Set(['t', 'w', 'd', 'b'].map((letter) => letter.charCodeAt(0)));
const LATIN1 = new TextDecoder('latin1');
/** The kernel image among the groups of symbols. */
const IMAGE = 0;

/** Reads the lines of a list, and keeps those that may name code, in its order. */
class KallsymsLines {
  count = 0;
  starts: Float64Array;
  nameOffsets: Uint32Array;
  nameLengths: Uint32Array;
  ranks: Uint8Array;
  /** Values of {@link groupIndexes}. */
  groups: Uint32Array;
  /** By what the module column says; empty for the kernel image. */
  readonly groupIndexes = new Map([['', IMAGE]]);
  /** Functions whose address is zero. */
  hiddenCount = 0;
  hasSymbols = false;
  /** Whether any address is not zero. */
  showsAddresses = false;
  readonly #bytes: Uint8Array;
  readonly #address = new HexNumber();
  /** The module column of the last line that has one, and its group: mostly the next line has the same. */
  #module = new Uint8Array();
  #moduleGroup = IMAGE;

  constructor(bytes: Uint8Array) {
    const capacity = Math.min(bytes.length >>> 5, 1 << 20) + 1;
    this.starts = new Float64Array(capacity);
    this.nameOffsets = new Uint32Array(capacity);
    this.nameLengths = new Uint32Array(capacity);
    this.ranks = new Uint8Array(capacity);
    this.groups = new Uint32Array(capacity);
    this.#bytes = bytes;
    // hot
    for (let at = 0; at < bytes.length; ) at = this.#readLine(at);
  }

  /** Reads the line at `from`. Lines that are not of the form are skipped. @returns where the next one begins */
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
    // Arm's mapping symbols start with a dollar; perf keeps none that do.
    if (!KEPT_TYPES.has(lowerType) || this.#bytes[nameAt] === DOLLAR) return;
    if (!isZero) this.#add(signed, type, nameAt, nameEnd, this.#groupAt(nameEnd, lineEnd));
    // Data may be at 0: variables that each CPU has for itself are counted from there.
    else if (lowerType === LOWER_T || lowerType === LOWER_W) this.hiddenCount++;
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

  #add(start: number, type: number, nameAt: number, nameEnd: number, group: number): void {
    const index = this.count++;
    if (index === this.starts.length) {
      this.starts = grown(this.starts, this.count);
      this.nameOffsets = grown(this.nameOffsets, this.count);
      this.nameLengths = grown(this.nameLengths, this.count);
      this.ranks = grown(this.ranks, this.count);
      this.groups = grown(this.groups, this.count);
    }
    this.starts[index] = start;
    this.nameOffsets[index] = nameAt;
    this.nameLengths[index] = nameEnd - nameAt;
    this.ranks[index] = type === UPPER_W ? RANK_WEAK : type & LOWER_CASE_BIT ? RANK_LOCAL : RANK_GLOBAL;
    this.groups[index] = group;
  }
}

/** The symbols of a group, each address moved by `shift`. */
interface MovedTable {
  readonly shift: number;
  readonly table: SymbolTable | undefined;
}

/**
 * The kernel's own symbol list, `/proc/kallsyms` or a copy of it: one line per symbol, `address type name`, and for
 * code outside the kernel image a tab and `[module]`; a module's real name, or `[bpf]`, `[__builtin__ftrace]` and the
 * like. A `System.map` is of the same form. Addresses are run-time addresses, as signed doubles.
 *
 * A symbol runs to the next one in the order of addresses, whatever that belongs to; the kernel image's last one before
 * a module's runs to the end of its page and one page more. Observed: perf 6.1.
 */
export class Kallsyms {
  readonly #bytes: Uint8Array;
  readonly #lines: KallsymsLines;
  /** By group, the table that was asked for last. */
  readonly #tables = new Map<number, MovedTable>();
  #byGroup: { readonly rows: Uint32Array; readonly ends: Uint32Array } | undefined;
  #sizes: Float64Array | undefined;

  /** Reads the whole list. `bytes` is kept. Lines that are not of the form are skipped. */
  static parse(bytes: Uint8Array): Kallsyms {
    return new Kallsyms(bytes, new KallsymsLines(bytes));
  }

  private constructor(bytes: Uint8Array, lines: KallsymsLines) {
    this.#bytes = bytes;
    this.#lines = lines;
  }

  /**
   * Functions whose addresses are zero: what the kernel shows to readers without privilege (kptr_restrict). They are
   * left out.
   */
  get hiddenCount(): number {
    return this.#lines.hiddenCount;
  }

  /** Whether no address is shown at all. */
  get isHidden(): boolean {
    return this.#lines.hasSymbols && !this.#lines.showsAddresses;
  }

  /** Names in the module column, without brackets. */
  get modules(): string[] {
    return [...this.#lines.groupIndexes.keys()].filter((name) => name !== '');
  }

  /** The kernel image's symbols, each address moved by `shift`; undefined when there are none. */
  kernel(shift: number): SymbolTable | undefined {
    return this.#table('', shift);
  }

  /**
   * The symbols whose module column says `name`, each address moved by `shift`; undefined when there are none. `-`
   * counts as `_`.
   */
  module(name: string, shift = 0): SymbolTable | undefined {
    return this.#table(canonicalModuleName(name), shift);
  }

  /** Run-time address of the first kernel symbol called `name`, whatever its type; undefined when there is none. */
  addressOf(name: string): number | undefined {
    const needle = new TextEncoder().encode(name);
    const bytes = this.#bytes;
    let space = -1;
    for (let from = 0; from < bytes.length; ) {
      const newline = bytes.indexOf(NEWLINE, from);
      const end = newline < 0 ? bytes.length : newline;
      // The next space may be lines away: it is searched for once.
      if (space < from) space = bytes.indexOf(SPACE, from);
      if (space < 0) return undefined;
      const nameAt = space + 3;
      const nameEnd = nameAt + needle.length;
      if (nameEnd <= end && equals(bytes, nameAt, nameEnd, needle) && (nameEnd === end || bytes[nameEnd] <= SPACE)) return addressAt(bytes, from);
      from = end + 1;
    }
    return undefined;
  }

  #table(name: string, shift: number): SymbolTable | undefined {
    const group = this.#lines.groupIndexes.get(name);
    if (group === undefined) return undefined;
    let moved = this.#tables.get(group);
    if (moved?.shift !== shift) {
      this.#byGroup ??= rowsByGroup(this.#lines);
      this.#sizes ??= sizesOf(this.#lines);
      const { rows, ends } = this.#byGroup;
      moved = { shift, table: this.#build(rows.subarray(group === 0 ? 0 : ends[group - 1], ends[group]), this.#sizes, shift) };
      this.#tables.set(group, moved);
    }
    return moved.table;
  }

  #build(rows: Uint32Array, sizes: Float64Array, shift: number): SymbolTable | undefined {
    if (rows.length === 0) return undefined;
    const { starts, nameOffsets, nameLengths, ranks } = this.#lines;
    const [from, to] = [rows[0], rows[rows.length - 1] + 1];
    // As the kernel lists them. They are many, and few are asked for.
    if (to - from === rows.length) {
      const of = <Column extends Float64Array | Uint32Array | Uint8Array>(column: Column): Column => column.subarray(from, to) as Column;
      const symbols = { starts: of(starts), sizes: of(sizes), nameOffsets: of(nameOffsets), nameLengths: of(nameLengths), ranks: of(ranks) };
      return SymbolTableBuilder.over(symbols).build(this.#bytes, shift);
    }
    const builder = new SymbolTableBuilder(rows.length);
    for (const row of rows) builder.add(starts[row], sizes[row], nameOffsets[row], nameLengths[row], ranks[row] as SymbolRank);
    return builder.build(this.#bytes, shift);
  }
}

/** Rows of all groups one after the other, each group's in the order of the list, and where each group's end. */
function rowsByGroup({ count, groups, groupIndexes }: KallsymsLines): { rows: Uint32Array; ends: Uint32Array } {
  const rows = new Uint32Array(count);
  const ends = new Uint32Array(groupIndexes.size);
  if (groupIndexes.size === 1) {
    for (let row = 0; row < count; row++) rows[row] = row;
    ends[IMAGE] = count;
    return { rows, ends };
  }
  // hot
  for (let row = 0; row < count; row++) ends[groups[row]]++;
  for (let group = 1; group < ends.length; group++) ends[group] += ends[group - 1];
  const free = ends.slice();
  for (let row = count - 1; row >= 0; row--) rows[--free[groups[row]]] = row;
  return { rows, ends };
}

/**
 * The sizes of symbols, which follow from the whole list; 0 for a symbol with the address of the next one, and for the
 * last of all.
 */
function sizesOf({ count, starts, groups }: KallsymsLines): Float64Array {
  const sizes = new Float64Array(count);
  const order = ascendingOrder(starts.subarray(0, count));
  // hot
  for (let i = 0; i + 1 < count; i++) {
    const row = order[i];
    const next = order[i + 1];
    // The lower half, where variables that each CPU has for itself are counted from 0, comes before the upper half, not
    // after it.
    const isLast = starts[row] < 0 && starts[next] >= 0;
    const isImageEnd = groups[row] === IMAGE && groups[next] !== IMAGE;
    sizes[row] = isLast || isImageEnd ? lastSymbolSize(starts[row]) : starts[next] - starts[row];
  }
  return sizes;
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

function equals(bytes: Uint8Array, from: number, to: number, other: Uint8Array): boolean {
  if (to - from !== other.length || to > bytes.length) return false;
  for (let i = 0; i < other.length; i++) if (bytes[from + i] !== other[i]) return false;
  return true;
}

function addressAt(bytes: Uint8Array, from: number): number {
  const address = new HexNumber();
  address.read(bytes, from);
  return address.signed;
}
