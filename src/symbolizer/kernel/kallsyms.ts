import { HexNumber } from '../../base/bytes/hex-digits.ts';
import { canonicalModuleName } from '../../base/names/module-names.ts';
import { ascendingOrder } from '../../base/tables/ascending-order.ts';
import { lastSymbolSize, type SymbolRank } from '../../symbol-table/symbol-placement.ts';
import { RANK_GLOBAL, RANK_LOCAL, RANK_WEAK } from '../../symbol-table/symbol-rank.ts';
import { SymbolTable } from '../../symbol-table/symbol-table.ts';
import { SymbolTableBuilder } from '../../symbol-table/symbol-table-builder.ts';
import { equals, IMAGE, KallsymsLines } from './kallsyms-lines.ts';
import { ListedImage } from './listed-image.ts';
import { PlainLines } from './plain-lines.ts';

const NEWLINE = 0x0a;
const SPACE = 0x20;
const UPPER_W = 0x57;
const LOWER_CASE_BIT = 0x20;
/** Below this size, reading the lines takes less time than starting WebAssembly. */
const LONG_SIZE_BYTES = 1 << 16;

/** The symbols of a group, each address moved by `shift`. */
interface MovedTable {
  readonly shift: number;
  readonly table: SymbolTable | undefined;
}

/**
 * The kernel's own symbol list, `/proc/kallsyms` or a copy of it: one line per symbol, `address type name`, and for code outside the kernel image a tab and
 * `[module]`; a module's real name, or `[bpf]`, `[__builtin__ftrace]` and the like. A `System.map` has the same form. Addresses are run-time addresses, as
 * signed doubles.
 *
 * A symbol runs to the next one by address, whatever that belongs to; the kernel image's last one before a module's runs to the end of its page and one page
 * more. Observed: perf 6.1.
 */
export class Kallsyms {
  readonly #bytes: Uint8Array;
  readonly #lines: KallsymsLines;
  /** By group, the table that was asked for last. */
  readonly #tables = new Map<number, MovedTable>();
  readonly #image: ListedImage | undefined;
  #byGroup: { readonly rows: Uint32Array; readonly ends: Uint32Array } | undefined;
  #sizes: Float64Array | undefined;

  /** Reads the whole list. `bytes` is kept. Lines of another form are skipped. */
  static parse(bytes: Uint8Array): Kallsyms {
    return new Kallsyms(bytes, new KallsymsLines(bytes, bytes.length < LONG_SIZE_BYTES ? undefined : PlainLines.over(bytes)));
  }

  private constructor(bytes: Uint8Array, lines: KallsymsLines) {
    this.#bytes = bytes;
    this.#lines = lines;
    this.#image = ListedImage.of(lines, bytes);
  }

  /** How many functions have address zero, which the kernel shows to readers without privilege (kptr_restrict). They are left out. */
  get hiddenCount(): number {
    return this.#lines.hiddenCount;
  }

  /** Whether no address is shown at all. */
  get isHidden(): boolean {
    return this.#lines.hasSymbols && !this.#lines.showsAddresses;
  }

  /** Whether another list has the same bytes. */
  isSameText(other: Kallsyms): boolean {
    return equals(this.#bytes, 0, this.#bytes.length, other.#bytes);
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
      // The next space may be many lines away, so it is searched for only once.
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
      const isListedImage = group === IMAGE && this.#image !== undefined;
      moved = { shift, table: isListedImage ? new SymbolTable(this.#image.columns(shift)) : this.#build(group, shift) };
      this.#tables.set(group, moved);
    }
    return moved.table;
  }

  #build(group: number, shift: number): SymbolTable | undefined {
    const { starts, nameOffsets, nameLengths } = this.#lines;
    this.#byGroup ??= rowsByGroup(this.#lines, this.#image === undefined ? 0 : this.#lines.imageEnd);
    const { rows, ends } = this.#byGroup;
    const own = rows.subarray(group === 0 ? 0 : ends[group - 1], ends[group]);
    if (own.length === 0) return undefined;
    this.#sizes ??= sizesOf(this.#lines, rows, this.#image?.firstRows ?? []);
    const builder = new SymbolTableBuilder(own.length);
    for (const row of own) builder.add(starts[row], this.#sizes[row], nameOffsets[row], nameLengths[row], this.#rankOf(row));
    return builder.build(this.#bytes, shift);
  }

  /** The type is a letter before the name. */
  #rankOf(row: number): SymbolRank {
    const type = this.#bytes[this.#lines.nameOffsets[row] - 2];
    if (type === UPPER_W) return RANK_WEAK;
    return type & LOWER_CASE_BIT ? RANK_LOCAL : RANK_GLOBAL;
  }
}

/** Rows of all groups from `first` on, one group after the other, each in the order of the list, and where each group's rows end. */
function rowsByGroup({ count, groups, groupIndexes }: KallsymsLines, first: number): { rows: Uint32Array; ends: Uint32Array } {
  const rows = new Uint32Array(count - first);
  const ends = new Uint32Array(groupIndexes.size);
  // hot
  for (let row = first; row < count; row++) ends[groups[row]]++;
  for (let group = 1; group < ends.length; group++) ends[group] += ends[group - 1];
  const free = ends.slice();
  for (let row = count - 1; row >= first; row--) rows[--free[groups[row]]] = row;
  return { rows, ends };
}

/**
 * By row, the sizes of the symbols in some rows, which follow from the addresses of all; 0 for a symbol with the address of the next one, and for the last one.
 * @param others rows that tell where all other symbols begin
 */
function sizesOf({ count, starts, groups }: KallsymsLines, rows: Uint32Array, others: readonly number[]): Float64Array {
  const sizes = new Float64Array(count);
  const inList = new Uint32Array(rows.length + others.length);
  inList.set(rows);
  inList.set(others, rows.length);
  inList.sort();
  const keys = new Float64Array(inList.length);
  for (let i = 0; i < keys.length; i++) keys[i] = starts[inList[i]];
  const order = ascendingOrder(keys);
  // hot
  for (let i = 0; i + 1 < order.length; i++) {
    const row = inList[order[i]];
    const next = inList[order[i + 1]];
    // The lower half of the address space, where the addresses of per-CPU variables start at 0, comes before the upper half, not after it.
    const isLast = starts[row] < 0 && starts[next] >= 0;
    const isImageEnd = groups[row] === IMAGE && groups[next] !== IMAGE;
    sizes[row] = isLast || isImageEnd ? lastSymbolSize(starts[row]) : starts[next] - starts[row];
  }
  return sizes;
}

function addressAt(bytes: Uint8Array, from: number): number {
  const address = new HexNumber();
  address.read(bytes, from);
  return address.signed;
}
