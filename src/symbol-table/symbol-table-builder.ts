import { grown } from '../base/tables/growable.ts';
import { NameBytes } from './name-bytes.ts';
import { type CollectedSymbols, SymbolPlacement, type SymbolRank } from './symbol-placement.ts';
import { RANK_GLOBAL } from './symbol-rank.ts';
import { type SymbolColumns, SymbolTable } from './symbol-table.ts';

/** Symbols as simpleperf, JITs and Go list them, in the order of their file. Each column has one element per symbol. */
export interface ListedSymbols {
  readonly starts: ArrayLike<number>;
  /** In bytes; 0 if unknown. */
  readonly sizes: ArrayLike<number>;
  /** Where the name is in {@link names}, in bytes. */
  readonly nameOffsets: ArrayLike<number>;
  readonly nameLengths: ArrayLike<number>;
  readonly names: Uint8Array;
}

/** The columns of a table of listed symbols, all of which count as global. @param shift is added to their addresses */
export function columnsOfListed(listed: ListedSymbols, shift = 0): SymbolColumns {
  const builder = new SymbolTableBuilder(listed.starts.length);
  builder.addListed(listed, 0);
  return builder.columns(listed.names, shift);
}

/**
 * Collects symbols in the order of their file and makes a {@link SymbolTable} of them, which has the name that perf would choose for each address.
 *
 * Observed: perf 6.1 first gives each symbol of size 0 an end: the start of the next symbol in (address, file) order, if that differs from its own. Then it
 * chooses among the names of one address, in this order of preference: one that has a size, is not weak, is global, has fewer leading underscores, is longer,
 * comes first in the file. For the last three, names are compared demangled if they are shown demangled; this is left to the table, since few of its names are
 * asked for. If symbols with different starts overlap, perf's choice depends on the shape of its tree: see {@link SymbolTableBuilder.copySearch}. Without it, the
 * symbol with the nearest start is found, and a label without a size inside a function that has one, and that is shown, counts as part of that function (V8's
 * builtins have many of them).
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
  /** Where the symbols of {@link addSecond} begin. */
  #secondFrom = Number.POSITIVE_INFINITY;
  #improves = false;
  #copiesSearch = false;
  #lateFrom = Number.POSITIVE_INFINITY;

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

  /** Adds symbols that are already in columns. */
  addColumns({ starts, sizes, nameOffsets, nameLengths, ranks }: CollectedSymbols): void {
    const from = this.#count;
    this.#count += starts.length;
    this.#starts = grown(this.#starts, this.#count);
    this.#sizes = grown(this.#sizes, this.#count);
    this.#nameOffsets = grown(this.#nameOffsets, this.#count);
    this.#nameLengths = grown(this.#nameLengths, this.#count);
    this.#ranks = grown(this.#ranks, this.#count);
    this.#starts.set(starts, from);
    this.#sizes.set(sizes, from);
    this.#nameOffsets.set(nameOffsets, from);
    this.#nameLengths.set(nameLengths, from);
    this.#ranks.set(ranks, from);
  }

  /**
   * Adds the symbols of a second table, whose names begin at `namesAt` in the bytes given to {@link build}. Nothing may be added after them, except after
   * {@link copySearch}.
   *
   * Observed: perf 6.1 gives ends to the symbols of the first table, and then to those of the second one, before it chooses among all.
   */
  addSecond(other: SymbolTableBuilder, namesAt: number): void {
    this.#secondFrom = this.#count;
    const symbols = other.#symbols();
    this.addColumns({ ...symbols, nameOffsets: symbols.nameOffsets.map((offset) => offset + namesAt) });
  }

  /** Adds listed symbols, all as global, whose names begin at `namesAt` in the bytes given to {@link build}. */
  addListed({ starts, sizes, nameOffsets, nameLengths }: ListedSymbols, namesAt: number): void {
    for (let i = 0; i < starts.length; i++) this.add(starts[i], sizes[i], nameOffsets[i] + namesAt, nameLengths[i], RANK_GLOBAL);
  }

  /**
   * Chooses better than perf, which may show a label instead of a function: of the symbols at an address, one of the first table is preferred to one of the
   * second, and one with a size to one without.
   */
  improve(): void {
    this.#improves = true;
  }

  /**
   * Has the table find what perf finds where symbols overlap. Symbols from `lateFrom` on, also those that are added later, are found, too, but keep no other from
   * being chosen, and do not end it.
   *
   * Observed: perf 6.1 adds symbols to a red-black tree in the order of the file. Then, by address, it removes those that it does not choose. At last it adds
   * the entries of the PLT. An address belongs to the first symbol on the way to it that covers it.
   */
  copySearch(lateFrom: number): void {
    this.#copiesSearch = true;
    this.#lateFrom = lateFrom;
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
   * @param demangles whether names are compared demangled; perf does not demangle those of kernels
   */
  build(names: NameBytes | Uint8Array, shift = 0, demangles = false): SymbolTable {
    return new SymbolTable(this.columns(names, shift, demangles));
  }

  /** The columns of the table that {@link build} makes. */
  columns(names: NameBytes | Uint8Array, shift = 0, demangles = false): SymbolColumns {
    const rules = {
      names: names instanceof NameBytes ? names : new NameBytes(names),
      shift,
      demangles,
      unsizedEnds: this.#unsizedEnds,
      secondFrom: this.#secondFrom,
      improves: this.#improves,
      copiesSearch: this.#copiesSearch,
      lateFrom: this.#lateFrom,
    };
    return new SymbolPlacement(this.#symbols(), rules).columns;
  }

  #symbols(): CollectedSymbols {
    return {
      starts: this.#starts.subarray(0, this.#count),
      sizes: this.#sizes.subarray(0, this.#count),
      nameOffsets: this.#nameOffsets.subarray(0, this.#count),
      nameLengths: this.#nameLengths.subarray(0, this.#count),
      ranks: this.#ranks.subarray(0, this.#count),
    };
  }
}
