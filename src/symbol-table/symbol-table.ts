import { firstAbove } from '../base/tables/first-above.ts';
import { decodeText } from '../base/text/text.ts';
import { AliasChoice } from './best-alias.ts';
import type { NameBytes } from './name-bytes.ts';

/** Names of templates can have tens of kilobytes. Longer ones are cut. */
const MAX_NAME_SIZE_BYTES = 1 << 16;

/** The columns of a {@link SymbolTable}, one element per symbol, sorted by `starts`. */
export interface SymbolColumns {
  /** First address of each, ascending, without repetitions. */
  readonly starts: Float64Array;
  /** First address after each; NaN until {@link place} has found it. */
  readonly ends: Float64Array;
  /** Where the name is in `names`, in bytes. */
  readonly nameOffsets: Uint32Array;
  readonly nameLengths: Uint32Array;
  readonly names: NameBytes;
  /** By index: names to compare demangled in order to choose one, as pairs of offset and length in the order of the file. */
  readonly aliases?: ReadonlyMap<number, readonly number[]>;
  /** For each symbol, the greatest end of those before it, and of itself if its size is known; or a greater address. Absent with {@link search}. */
  readonly reaches?: Float64Array;
  /** Puts what is known about a symbol whose end is NaN into the other columns. */
  readonly place?: (index: number) => void;
  /** Finds the symbol for an address; −1 for none. Absent: of those that cover it, the one with the nearest start. */
  readonly search?: (address: number) => number;
}

/**
 * The symbols of one DSO by address. Names are decoded when they are asked for.
 *
 * Addresses are doubles in the address space that perf uses for the DSO: offsets in the file for files that processes
 * map, run-time addresses (signed, and therefore negative) for the kernel.
 */
export class SymbolTable {
  readonly #columns: SymbolColumns;
  /**
   * For each symbol, the nearest one before it that ends later, or −1. Made for the first address that the nearest symbol does not cover.
   */
  #enclosing: Int32Array | undefined;
  /** The symbol whose name was asked for last: the next address is usually in the same function. */
  #named = -1;
  #lastName = '';
  readonly #aliasChoice = new AliasChoice();

  constructor(columns: SymbolColumns) {
    this.#columns = columns;
  }

  /** Number of symbols. */
  get size(): number {
    return this.#columns.starts.length;
  }

  /** Index of the symbol that covers `address`; if several do, the one with the nearest start; −1 if none does. */
  find(address: number): number {
    const { starts, ends, reaches, search } = this.#columns;
    if (search !== undefined) return search(address);
    let index = firstAbove(starts, address, 0, starts.length) - 1;
    if (index < 0 || address < this.end(index)) return index;
    if (reaches !== undefined && address >= reaches[index]) return -1;
    this.#enclosing ??= this.#enclosingSymbols();
    while (index >= 0 && address >= ends[index]) index = this.#enclosing[index];
    return index;
  }

  /** First address of symbol `index`. */
  start(index: number): number {
    return this.#columns.starts[index];
  }

  /** First address after symbol `index`. */
  end(index: number): number {
    const { ends, place } = this.#columns;
    if (Number.isNaN(ends[index])) place?.(index);
    return ends[index];
  }

  /** Name of symbol `index`, as it is in the file (mangled). */
  name(index: number): string {
    if (index === this.#named) return this.#lastName;
    const { ends, nameOffsets, nameLengths, aliases, place } = this.#columns;
    if (Number.isNaN(ends[index])) place?.(index);
    const tied = aliases?.get(index);
    this.#lastName = tied === undefined ? this.#text(nameOffsets[index], nameLengths[index]) : this.#best(tied);
    this.#named = index;
    return this.#lastName;
  }

  #best(tied: readonly number[]): string {
    const names: string[] = [];
    for (let i = 0; i < tied.length; i += 2) names.push(this.#text(tied[i], tied[i + 1]));
    return this.#aliasChoice.best(names);
  }

  #text(offset: number, length: number): string {
    return decodeText(this.#columns.names.slice(offset, Math.min(length, MAX_NAME_SIZE_BYTES)));
  }

  #enclosingSymbols(): Int32Array {
    // hot
    const { size } = this;
    const enclosing = new Int32Array(size);
    for (let i = 0; i < size; i++) {
      const end = this.end(i);
      let outer = i - 1;
      while (outer >= 0 && this.#columns.ends[outer] <= end) outer = enclosing[outer];
      enclosing[i] = outer;
    }
    return enclosing;
  }
}
