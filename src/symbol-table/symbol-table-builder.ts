import { ascendingOrder } from '../base/ascending-order.ts';
import { grown } from '../base/growable.ts';
import { type SymbolColumns, SymbolTable } from './symbol-table.ts';

/** How strongly an alias claims an address: perf prefers names that are not weak, then global ones. */
export type SymbolRank = 0 | 1 | 2;
export const RANK_WEAK: SymbolRank = 0;
export const RANK_LOCAL: SymbolRank = 1;
export const RANK_GLOBAL: SymbolRank = 2;

const UNDERSCORE = 0x5f;
/**
 * L and c, the first characters of mangled names of Java (`Ljava/lang/Object;`) and OCaml (`camlList__`). Others begin
 * with an underscore.
 */
const JAVA_START = 0x4c;
const OCAML_START = 0x63;
/** C and D. */
const CONSTRUCTOR = 0x43;
const DESTRUCTOR = 0x44;
/**
 * How many names of one address are demangled to choose among them. Node's binary has up to 130. Where there are more,
 * as after identical code folding, the first ones are.
 */
const MAX_ALIASES = 256;

const PAGE_SIZE_BYTES = 4096;

/**
 * The size of a symbol of unknown size that no other symbol follows: it extends to the end of its page, and one page
 * more. Observed: perf 6.1.
 */
export function lastSymbolSize(start: number): number {
  return Math.ceil(start / PAGE_SIZE_BYTES) * PAGE_SIZE_BYTES + PAGE_SIZE_BYTES - start;
}

/** Symbols as simpleperf, JITs and Go list them, in the order of their file. Each column has one element per symbol. */
export interface ListedSymbols {
  readonly starts: ArrayLike<number>;
  /** In bytes; 0 where it is unknown. */
  readonly sizes: ArrayLike<number>;
  /** Where the name is in {@link names}, in bytes. */
  readonly nameOffsets: ArrayLike<number>;
  readonly nameLengths: ArrayLike<number>;
  readonly names: Uint8Array;
}

/** The columns of a table while its symbols are placed, in the order of their addresses. */
class PlacedSymbols {
  count = 0;
  /** The greatest end of all symbols of known size that start before. */
  coveredUpTo = Number.NEGATIVE_INFINITY;
  /** The first of the ends of symbols of unknown size that are not passed yet. */
  nextEnd = 0;
  /** See {@link SymbolColumns.aliases}. */
  readonly aliases = new Map<number, number[]>();
  readonly #starts: Float64Array;
  readonly #ends: Float64Array;
  readonly #nameOffsets: Uint32Array;
  readonly #nameLengths: Uint32Array;
  readonly #shift: number;

  /** @param capacity how many symbols there are at most */
  constructor(capacity: number, shift: number) {
    this.#starts = new Float64Array(capacity);
    this.#ends = new Float64Array(capacity);
    this.#nameOffsets = new Uint32Array(capacity);
    this.#nameLengths = new Uint32Array(capacity);
    this.#shift = shift;
  }

  add(start: number, sizeBytes: number, nameOffset: number, nameLength: number): void {
    const index = this.count++;
    this.#starts[index] = start + this.#shift;
    this.#ends[index] = start + sizeBytes + this.#shift;
    this.#nameOffsets[index] = nameOffset;
    this.#nameLengths[index] = nameLength;
  }

  columns(names: Uint8Array): SymbolColumns {
    const { count, aliases } = this;
    return {
      starts: this.#starts.subarray(0, count),
      ends: this.#ends.subarray(0, count),
      nameOffsets: this.#nameOffsets.subarray(0, count),
      nameLengths: this.#nameLengths.subarray(0, count),
      names,
      ...(aliases.size > 0 && { aliases }),
    };
  }
}

/** The columns of a table of listed symbols, which all count as global. @param shift is added to their addresses */
export function columnsOfListed(listed: ListedSymbols, shift = 0): SymbolColumns {
  const builder = new SymbolTableBuilder(listed.starts.length);
  builder.addListed(listed, 0);
  return builder.columns(listed.names, shift);
}

/**
 * Collects symbols in the order of their file and makes a {@link SymbolTable} of them, which has for each address the
 * name that perf would choose.
 *
 * Observed: perf 6.1 first gives each symbol of size 0 an end: the start of the next symbol in (address, file) order,
 * if that differs from its own. Then it chooses among the names of one address, in this order of preference: one that
 * has a size, is not weak, is global, has fewer leading underscores, is longer, comes first in the file. The last three
 * are compared demangled if names are shown demangled; that is left to the table, since few of its names are asked for.
 * Where symbols with different starts overlap, perf's choice follows from the shape of its tree, which is not
 * reproduced here. A label without a size inside a function that has one counts as part of that function (V8's builtins
 * have many of them).
 */
export class SymbolTableBuilder {
  #starts: Float64Array;
  #sizes: Float64Array;
  #nameOffsets: Uint32Array;
  #nameLengths: Uint32Array;
  #ranks: Uint8Array;
  #count = 0;
  /** Ascending. */
  #unsizedEnds: Float64Array = new Float64Array();

  /** @param capacity number of symbols to allocate memory for at first; never an unchecked count of a file */
  constructor(capacity = 1024) {
    this.#starts = new Float64Array(capacity);
    this.#sizes = new Float64Array(capacity);
    this.#nameOffsets = new Uint32Array(capacity);
    this.#nameLengths = new Uint32Array(capacity);
    this.#ranks = new Uint8Array(capacity);
  }

  /** Number of symbols added. */
  get count(): number {
    return this.#count;
  }

  /**
   * Adds a symbol. `sizeBytes` 0 means unknown; the name is at `nameOffset` in the bytes that are later given to
   * {@link build}.
   */
  add(start: number, sizeBytes: number, nameOffset: number, nameLength: number, rank: SymbolRank): void {
    const index = this.#count++;
    if (index === this.#starts.length) {
      this.#starts = grown(this.#starts, index + 1);
      this.#sizes = grown(this.#sizes, index + 1);
      this.#nameOffsets = grown(this.#nameOffsets, index + 1);
      this.#nameLengths = grown(this.#nameLengths, index + 1);
      this.#ranks = grown(this.#ranks, index + 1);
    }
    this.#starts[index] = start;
    this.#sizes[index] = sizeBytes;
    this.#nameOffsets[index] = nameOffset;
    this.#nameLengths[index] = nameLength;
    this.#ranks[index] = rank;
  }

  /** Adds the symbols of another builder, whose names begin at `namesAt` in the bytes given to {@link build}. */
  addAll(other: SymbolTableBuilder, namesAt: number): void {
    for (let i = 0; i < other.#count; i++) {
      this.add(other.#starts[i], other.#sizes[i], other.#nameOffsets[i] + namesAt, other.#nameLengths[i], other.#ranks[i] as SymbolRank);
    }
  }

  /** Adds listed symbols, all as global, whose names begin at `namesAt` in the bytes given to {@link build}. */
  addListed({ starts, sizes, nameOffsets, nameLengths }: ListedSymbols, namesAt: number): void {
    for (let i = 0; i < starts.length; i++) this.add(starts[i], sizes[i], nameOffsets[i] + namesAt, nameLengths[i], RANK_GLOBAL);
  }

  /**
   * Sets addresses at which symbols of unknown size end, even if no other symbol starts there.
   * @param ends ascending
   */
  endUnsized(ends: Float64Array): void {
    this.#unsizedEnds = ends;
  }

  /**
   * The table of all symbols added so far, each moved by `shift`.
   * @param names the bytes that hold their names
   * @param demangles whether names are compared demangled; perf does not demangle those of kernels
   */
  build(names: Uint8Array, shift = 0, demangles = false): SymbolTable {
    return new SymbolTable(this.columns(names, shift, demangles));
  }

  /** The columns of the table that {@link build} makes. */
  columns(names: Uint8Array, shift = 0, demangles = false): SymbolColumns {
    const count = this.#count;
    const keys = this.#starts;
    const sizes = this.#sizes;
    const order = ascendingOrder(keys.subarray(0, count));
    const placed = new PlacedSymbols(count, shift);
    // hot: one address at a time; most have one symbol, whose size is known
    for (let from = 0; from < count; ) {
      const row = order[from];
      const start = keys[row];
      const sizeBytes = sizes[row];
      if (sizeBytes > 0 && (from + 1 === count || keys[order[from + 1]] !== start)) {
        placed.coveredUpTo = Math.max(placed.coveredUpTo, start + sizeBytes);
        placed.add(start, sizeBytes, this.#nameOffsets[row], this.#nameLengths[row]);
        from++;
      } else {
        from = this.#place(placed, order, from, names, demangles);
      }
    }
    return placed.columns(names);
  }

  /** Places the symbol that is shown of those at one address, which begin at `from` in `order`. @returns where they end */
  #place(placed: PlacedSymbols, order: Uint32Array, from: number, names: Uint8Array, demangles: boolean): number {
    const keys = this.#starts;
    const unsizedEnds = this.#unsizedEnds;
    const start = keys[order[from]];
    let to = from + 1;
    while (to < order.length && keys[order[to]] === start) to++;
    const knownSize = this.#largestSize(order, from, to);
    if (knownSize === 0 && start < placed.coveredUpTo) return to;
    placed.coveredUpTo = Math.max(placed.coveredUpTo, start + knownSize);
    while (placed.nextEnd < unsizedEnds.length && unsizedEnds[placed.nextEnd] <= start) placed.nextEnd++;
    const untilEnd = placed.nextEnd < unsizedEnds.length ? unsizedEnds[placed.nextEnd] - start : Number.POSITIVE_INFINITY;
    const unsizedSize = Math.min(untilEnd, to < order.length ? keys[order[to]] - start : lastSymbolSize(start));
    const best = this.#bestOf(order, from, to, unsizedSize, names);
    const tied = demangles && to - from > 1 ? this.#tied(order, from, to, best, names) : undefined;
    if (tied !== undefined) placed.aliases.set(placed.count, tied);
    placed.add(start, this.#sizeOf(best, order[to - 1], unsizedSize), this.#nameOffsets[best], this.#nameLengths[best]);
    return to;
  }

  #largestSize(order: Uint32Array, from: number, to: number): number {
    // hot
    let largest = 0;
    for (let i = from; i < to; i++) if (this.#sizes[order[i]] > largest) largest = this.#sizes[order[i]];
    return largest;
  }

  /**
   * The row with the name that perf would choose among [from, to) of `order`, which have one address.
   * @param unsizedSize see {@link #sizeOf}
   */
  #bestOf(order: Uint32Array, from: number, to: number, unsizedSize: number, names: Uint8Array): number {
    const last = order[to - 1];
    let best = order[from];
    for (let i = from + 1; i < to; i++) {
      if (this.#isBetter(order[i], this.#sizeOf(order[i], last, unsizedSize), best, this.#sizeOf(best, last, unsizedSize), names)) best = order[i];
    }
    return best;
  }

  /**
   * A symbol's size. Among symbols of one address without a size, the last one has `unsizedSize`, and the others are
   * empty.
   */
  #sizeOf(row: number, last: number, unsizedSize: number): number {
    return this.#sizes[row] || (row === last ? unsizedSize : 0);
  }

  /**
   * The names of one address that are as good as the best one, in the form of {@link SymbolColumns.aliases}; undefined
   * where demangling them makes no difference.
   */
  #tied(order: Uint32Array, from: number, end: number, best: number, names: Uint8Array): number[] | undefined {
    const last = Math.min(end, from + MAX_ALIASES);
    let isMangled = false;
    let differ = false;
    // hot: each constructor and destructor has two or three names
    for (let i = from; i < last; i++) {
      if (!this.#isTied(order[i], best, i === end - 1)) continue;
      isMangled ||= mayBeMangled(names[this.#nameOffsets[order[i]]]);
      differ ||= order[i] !== best && !this.#areVariants(order[i], best, names);
    }
    if (!isMangled || !differ) return undefined;
    const tied: number[] = [];
    for (let i = from; i < last; i++) if (this.#isTied(order[i], best, i === end - 1)) tied.push(this.#nameOffsets[order[i]], this.#nameLengths[order[i]]);
    return tied;
  }

  /** Whether two symbols of one address differ only in their names. The last one of an address always has a size. */
  #isTied(row: number, best: number, isLast: boolean): boolean {
    return this.#ranks[row] === this.#ranks[best] && (this.#sizes[row] > 0 || isLast);
  }

  /**
   * Whether two names differ only in the kind of a constructor or destructor, which is not shown (Itanium C++ ABI,
   * 5.1.4.3).
   */
  #areVariants(a: number, b: number, names: Uint8Array): boolean {
    const length = this.#nameLengths[a];
    if (length !== this.#nameLengths[b]) return false;
    const atA = this.#nameOffsets[a];
    const atB = this.#nameOffsets[b];
    let differences = 0;
    for (let i = 0; i < length; i++) {
      if (names[atA + i] === names[atB + i]) continue;
      const before = names[atA + i - 1];
      if (i === 0 || ++differences > 1 || (before !== CONSTRUCTOR && before !== DESTRUCTOR)) return false;
    }
    return true;
  }

  #isBetter(a: number, sizeA: number, b: number, sizeB: number, names: Uint8Array): boolean {
    if (sizeA > 0 !== sizeB > 0) return sizeA > 0;
    if (this.#ranks[a] !== this.#ranks[b]) return this.#ranks[a] > this.#ranks[b];
    const underscores = this.#leadingUnderscores(a, names) - this.#leadingUnderscores(b, names);
    if (underscores !== 0) return underscores < 0;
    return this.#nameLengths[a] > this.#nameLengths[b];
  }

  #leadingUnderscores(symbol: number, names: Uint8Array): number {
    const from = this.#nameOffsets[symbol];
    let count = 0;
    while (count < this.#nameLengths[symbol] && names[from + count] === UNDERSCORE) count++;
    return count;
  }
}

/** @param first the first character of a name */
function mayBeMangled(first: number): boolean {
  return first === UNDERSCORE || first === JAVA_START || first === OCAML_START;
}
