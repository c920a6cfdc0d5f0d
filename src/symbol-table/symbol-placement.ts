import { ascendingOrder } from '../base/tables/ascending-order.ts';
import { firstAbove } from '../base/tables/first-above.ts';
import type { NameBytes } from './name-bytes.ts';
import { SearchTree } from './search-tree.ts';
import type { RANK_GLOBAL, RANK_LOCAL, RANK_WEAK } from './symbol-rank.ts';
import type { SymbolColumns } from './symbol-table.ts';

/** A value of symbol-rank.ts. */
export type SymbolRank = typeof RANK_WEAK | typeof RANK_LOCAL | typeof RANK_GLOBAL;

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
 * How many names of one address are demangled to choose among them. Node's binary has up to 130. If there are more, as after identical code folding, only the
 * first ones are.
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

/** Symbols in the order of their file. Each column has one element per symbol. */
export interface CollectedSymbols {
  readonly starts: Float64Array;
  /** In bytes; 0 if unknown. */
  readonly sizes: Float64Array;
  readonly nameOffsets: Uint32Array;
  readonly nameLengths: Uint32Array;
  /** Values of {@link SymbolRank}. */
  readonly ranks: Uint8Array;
}

/** How symbols are placed. */
export interface PlacementRules {
  readonly names: NameBytes;
  /** What is added to their addresses. */
  readonly shift: number;
  /** Whether names are compared demangled. */
  readonly demangles: boolean;
  /** Addresses at which symbols of unknown size end, ascending. */
  readonly unsizedEnds: Float64Array;
  /** The row from which on symbols are those of a second table; Infinity for none. */
  readonly secondFrom: number;
  /** Whether to choose as {@link SymbolTableBuilder.improve} says, instead of as perf does. */
  readonly improves: boolean;
  /** Whether to find symbols as {@link SymbolTableBuilder.copySearch} says. */
  readonly copiesSearch: boolean;
  /** The row from which on symbols are those of {@link SymbolTableBuilder.copySearch}. */
  readonly lateFrom: number;
}

/** Symbols as perf searches them. */
interface SearchedSymbols {
  readonly tree: SearchTree;
  /** By row: the index of its address in the columns. */
  readonly indexOf: Uint32Array;
}

/**
 * Places symbols by address, by the rules of {@link SymbolTableBuilder}. For all of them, only the start is found. Which of several at one address is shown,
 * and where that ends, is found when it is asked for: a file has thousands of symbols, and a recording shows some dozens.
 */
export class SymbolPlacement {
  readonly #symbols: CollectedSymbols;
  readonly #names: NameBytes;
  readonly #rules: PlacementRules;
  /** The symbols by address. */
  readonly #order: Uint32Array;
  /** For each address that is kept, the position of its first symbol in the order. */
  readonly #firsts: Uint32Array;
  readonly #ends: Float64Array;
  readonly #nameOffsets: Uint32Array;
  readonly #nameLengths: Uint32Array;
  readonly #aliases = new Map<number, readonly number[]>();
  /** Made for the first address that is looked up. */
  #found: SearchedSymbols | undefined;
  readonly columns: SymbolColumns;

  constructor(symbols: CollectedSymbols, rules: PlacementRules) {
    this.#symbols = symbols;
    this.#names = rules.names;
    this.#rules = rules;
    const { starts: keys, sizes } = symbols;
    const total = keys.length;
    const order = ascendingOrder(keys);
    this.#order = order;
    const starts = new Float64Array(total);
    const firsts = new Uint32Array(total);
    // perf's tree alone decides what is found in it.
    const reaches = rules.copiesSearch ? undefined : new Float64Array(total);
    let count = 0;
    /** The greatest end of all symbols of known size that start earlier. */
    let coveredUpTo = Number.NEGATIVE_INFINITY;
    // hot: this is all that is done for each symbol
    for (let from = 0; from < total; ) {
      const start = keys[order[from]];
      let largest = 0;
      let to = from;
      do {
        const size = sizes[order[to++]];
        if (size > largest) largest = size;
      } while (to < total && keys[order[to]] === start && order[to] < rules.lateFrom);
      if (reaches === undefined || largest > 0 || start >= coveredUpTo) {
        if (reaches !== undefined) {
          if (start + largest > coveredUpTo && (largest === 0 || !this.#showsUnsized(from, to))) coveredUpTo = start + largest;
          reaches[count] = coveredUpTo + rules.shift;
        }
        starts[count] = start + rules.shift;
        firsts[count++] = from;
      }
      from = to;
    }
    this.#firsts = firsts.subarray(0, count);
    this.#ends = new Float64Array(count).fill(Number.NaN);
    this.#nameOffsets = new Uint32Array(count);
    this.#nameLengths = new Uint32Array(count);
    this.columns = {
      starts: starts.subarray(0, count),
      ends: this.#ends,
      nameOffsets: this.#nameOffsets,
      nameLengths: this.#nameLengths,
      names: rules.names,
      aliases: this.#aliases,
      place: (index) => this.#place(index),
      ...(reaches === undefined ? { search: (address: number) => this.#search(address) } : { reaches: reaches.subarray(0, count) }),
    };
  }

  /** The index of the symbol that perf finds for an address; −1 for none. */
  #search(address: number): number {
    this.#found ??= this.#makeTree();
    const { indexOf, tree } = this.#found;
    const symbol = tree.find(address - this.#rules.shift, (row) => {
      const index = indexOf[row];
      if (Number.isNaN(this.#ends[index])) this.#place(index);
      return this.#ends[index] - this.#rules.shift;
    });
    return symbol < 0 ? -1 : indexOf[symbol];
  }

  #makeTree(): SearchedSymbols {
    const { starts } = this.#symbols;
    const firsts = this.#firsts;
    const order = this.#order;
    const total = starts.length;
    const lateFrom = Math.min(this.#rules.lateFrom, total);
    const indexOf = new Uint32Array(total);
    const tree = new SearchTree(starts);
    for (let row = 0; row < lateFrom; row++) tree.insert(row);
    for (let index = 0; index < firsts.length; index++) {
      const from = firsts[index];
      const to = index + 1 < firsts.length ? firsts[index + 1] : total;
      let best = from;
      for (let at = from + 1; at < to; at++) {
        const isBetter = this.#isBetter(at, best, to);
        tree.remove(order[isBetter ? best : at]);
        if (isBetter) best = at;
      }
      indexOf[order[best]] = index;
    }
    for (let row = lateFrom; row < total; row++) tree.insert(row);
    return { indexOf, tree };
  }

  /** Whether, of the symbols at [from, to) of the order, which have the same address, one of unknown size is shown. */
  #showsUnsized(from: number, to: number): boolean {
    const { sizes } = this.#symbols;
    return !this.#rules.improves && sizes[this.#bestOf(from, to)] === 0;
  }

  /** Finds which of the symbols at one address is shown. */
  #place(index: number): void {
    const order = this.#order;
    const { starts, sizes, nameOffsets, nameLengths } = this.#symbols;
    const { unsizedEnds, secondFrom, lateFrom, improves, demangles, shift } = this.#rules;
    const from = this.#firsts[index];
    const start = starts[order[from]];
    let to = from + 1;
    while (to < order.length && starts[order[to]] === start && order[to] < lateFrom) to++;
    let next = to;
    while (next < order.length && order[next] >= lateFrom) next++;
    const nextEnd = firstAbove(unsizedEnds, start, 0, unsizedEnds.length);
    const untilEnd = nextEnd < unsizedEnds.length ? unsizedEnds[nextEnd] - start : Number.POSITIVE_INFINITY;
    const unsizedSize = Math.min(untilEnd, next < order.length ? starts[order[next]] - start : lastSymbolSize(start));
    // Rows of the same address are in ascending order.
    if (improves && order[from] < secondFrom) while (order[to - 1] >= secondFrom) to--;
    const best = this.#bestOf(from, to);
    const tied = demangles && to - from > 1 ? this.#tied(from, to, best) : undefined;
    if (tied !== undefined) this.#aliases.set(index, tied);
    this.#ends[index] = start + (sizes[best] || (best >= lateFrom ? 0 : unsizedSize)) + shift;
    this.#nameOffsets[index] = nameOffsets[best];
    this.#nameLengths[index] = nameLengths[best];
  }

  /** The row with the best name among those at [from, to) of the order, which have the same address. It has an end. */
  #bestOf(from: number, to: number): number {
    let best = from;
    for (let at = from + 1; at < to; at++) if (this.#isBetter(at, best, to)) best = at;
    return this.#order[best];
  }

  /**
   * Whether a symbol has an end when one of its address is chosen. All symbols of that address are before `to` in the order. Of those without a size, perf 6.1
   * has given an end to the last one of each table.
   */
  #hasEnd(at: number, to: number): boolean {
    const order = this.#order;
    const { secondFrom } = this.#rules;
    return this.#symbols.sizes[order[at]] > 0 || at + 1 === to || (order[at] < secondFrom && order[at + 1] >= secondFrom);
  }

  /**
   * The names of one address that are as good as the best one, in the form of {@link SymbolColumns.aliases}; undefined if demangling them makes no difference.
   */
  #tied(from: number, end: number, best: number): number[] | undefined {
    const order = this.#order;
    const { nameOffsets, nameLengths } = this.#symbols;
    const last = Math.min(end, from + MAX_ALIASES);
    let isMangled = false;
    let differ = false;
    for (let i = from; i < last; i++) {
      if (!this.#isTied(i, end, best)) continue;
      isMangled ||= mayBeMangled(this.#names.byteAt(nameOffsets[order[i]]));
      differ ||= order[i] !== best && !this.#areVariants(order[i], best);
    }
    if (!isMangled || !differ) return undefined;
    const tied: number[] = [];
    for (let i = from; i < last; i++) if (this.#isTied(i, end, best)) tied.push(nameOffsets[order[i]], nameLengths[order[i]]);
    return tied;
  }

  /** Whether the symbol at a position of the order, with all others of its address before `to`, differs from the best one only in its name. */
  #isTied(at: number, to: number, best: number): boolean {
    const { ranks, sizes } = this.#symbols;
    const row = this.#order[at];
    if (ranks[row] !== ranks[best] || (this.#rules.improves && sizes[row] > 0 !== sizes[best] > 0)) return false;
    return this.#hasEnd(at, to);
  }

  /**
   * Whether two names differ only in the kind of a constructor or destructor, which is not shown (Itanium C++ ABI,
   * 5.1.4.3).
   */
  #areVariants(a: number, b: number): boolean {
    const { nameOffsets, nameLengths } = this.#symbols;
    const length = nameLengths[a];
    if (length !== nameLengths[b]) return false;
    const nameA = this.#names.slice(nameOffsets[a], length);
    const nameB = this.#names.slice(nameOffsets[b], length);
    let differences = 0;
    for (let i = 0; i < length; i++) {
      if (nameA[i] === nameB[i]) continue;
      const before = nameA[i - 1];
      if (i === 0 || ++differences > 1 || (before !== CONSTRUCTOR && before !== DESTRUCTOR)) return false;
    }
    return true;
  }

  /**
   * Whether the symbol at one position of the order is better than that at another. Both have the same address, and all symbols of that address are before
   * `to`.
   */
  #isBetter(at: number, than: number, to: number): boolean {
    const { ranks, sizes, nameLengths } = this.#symbols;
    const a = this.#order[at];
    const b = this.#order[than];
    if (this.#rules.improves && sizes[a] > 0 !== sizes[b] > 0) return sizes[a] > 0;
    const hasEnd = this.#hasEnd(at, to);
    if (hasEnd !== this.#hasEnd(than, to)) return hasEnd;
    if (ranks[a] !== ranks[b]) return ranks[a] > ranks[b];
    const underscores = this.#leadingUnderscores(a) - this.#leadingUnderscores(b);
    if (underscores !== 0) return underscores < 0;
    return nameLengths[a] > nameLengths[b];
  }

  #leadingUnderscores(symbol: number): number {
    const { nameOffsets, nameLengths } = this.#symbols;
    const name = this.#names.slice(nameOffsets[symbol], nameLengths[symbol]);
    let count = 0;
    while (name[count] === UNDERSCORE) count++;
    return count;
  }
}

/** @param first the first character of a name */
function mayBeMangled(first: number | undefined): boolean {
  return first === UNDERSCORE || first === JAVA_START || first === OCAML_START;
}
