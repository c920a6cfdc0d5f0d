import { grown } from '../intern/growable.ts';
import { RedBlackTree } from './red-black-tree.ts';
import { SymbolTable } from './symbol-table.ts';

/** How strongly an alias claims an address: perf takes a non-weak name first, then a global one. */
export type SymbolRank = 0 | 1 | 2;
export const RANK_WEAK: SymbolRank = 0;
export const RANK_LOCAL: SymbolRank = 1;
export const RANK_GLOBAL: SymbolRank = 2;

const UNDERSCORE = 0x5f;
/** What perf lets a last symbol of unknown size run on for, past the next multiple of it. */
const PAGE_SIZE_BYTES = 4096;

/**
 * Collects symbols in the order of their file and makes a {@link SymbolTable} of them, as perf would.
 *
 * Observed: perf 6.1 first gives each symbol of size 0 an end, the start of the next symbol in (address, file) order
 * if that differs from its own, and only then chooses among the names of one address: the one with a size,
 * the non-weak, the global, the one with fewer leading underscores, the longer, the earlier in the file.
 */
export class SymbolTableBuilder {
  #starts: Float64Array;
  #sizes: Float64Array;
  #nameOffsets: Uint32Array;
  #nameLengths: Uint32Array;
  #ranks: Uint8Array;
  #count = 0;

  /** `capacity`: symbols to make room for at first; never taken from an unchecked count. */
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

  /** Adds a symbol. `sizeBytes` 0 means unknown; the name's place is in the bytes later given to {@link build}. */
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

  /** The table of all symbols added so far, each moved by `shift`; where symbols overlap the nearest start wins. */
  build(names: Uint8Array, shift = 0): SymbolTable {
    const { kept, ends } = this.#choose(this.#count, names);
    const { length } = kept;
    const starts = new Float64Array(length);
    const lasts = new Float64Array(length);
    for (let i = 0; i < length; i++) {
      starts[i] = this.#starts[kept[i]] + shift;
      lasts[i] = ends[kept[i]] + shift;
    }
    return this.#table(names, kept, starts, starts, lasts);
  }

  /**
   * The table with which a lookup answers as perf's does where symbols overlap. Observed: perf 6.1 keeps symbols in a red-black tree by start,
   * in the order of the file, takes the losing aliases out and then adds PLT entries, which therefore do not bound
   * others; and a descent does not come back. So which of two overlapping symbols is found depends on the shape of the tree.
   *
   * @param firstPlt index of the first PLT entry added
   */
  buildLikePerf(names: Uint8Array, firstPlt: number): SymbolTable {
    const { kept, losers, ends } = this.#choose(firstPlt, names);
    for (let row = firstPlt; row < this.#count; row++) ends[row] = this.#starts[row] + this.#sizes[row];
    if (firstPlt === this.#count && !this.#overlap(kept, ends)) return this.build(names);
    const tree = new RedBlackTree(this.#starts.subarray(0, this.#count));
    for (let row = 0; row < firstPlt; row++) tree.insert(row);
    for (const row of losers) tree.remove(row);
    for (let row = firstPlt; row < this.#count; row++) tree.insert(row);
    const rows = new Uint32Array(this.#count);
    const firsts = new Float64Array(this.#count);
    const lasts = new Float64Array(this.#count);
    let length = 0;
    tree.visit(ends, (row, first, end) => {
      rows[length] = row;
      firsts[length] = first;
      lasts[length] = end;
      length++;
    });
    const starts = Float64Array.from(rows.subarray(0, length), (row) => this.#starts[row]);
    return this.#table(names, rows.subarray(0, length), starts, firsts.slice(0, length), lasts.slice(0, length));
  }

  /** Gives the first `count` symbols their ends and finds the best of each address, ascending, and the others in the order in which they lose. */
  #choose(count: number, names: Uint8Array): { kept: Uint32Array; losers: Uint32Array; ends: Float64Array } {
    const order = ascendingOrder(this.#starts.subarray(0, count));
    const ends = new Float64Array(this.#count);
    const kept = new Uint32Array(count);
    const losers = new Uint32Array(count);
    let keptCount = 0;
    let loserCount = 0;
    for (let i = 0; i < count; ) {
      const start = this.#starts[order[i]];
      let best = -1;
      for (; i < count && this.#starts[order[i]] === start; i++) {
        const row = order[i];
        ends[row] = start + (this.#sizes[row] || this.#sizeUpTo(start, i + 1 < count ? order[i + 1] : -1));
        const isBetter = best < 0 || this.#isBetter(row, ends[row] - start, best, ends[best] - start, names);
        if (best >= 0) losers[loserCount++] = isBetter ? best : row;
        if (isBetter) best = row;
      }
      kept[keptCount++] = best;
    }
    return { kept: kept.subarray(0, keptCount), losers: losers.subarray(0, loserCount), ends };
  }

  #overlap(rows: Uint32Array, ends: Float64Array): boolean {
    for (let i = 1; i < rows.length; i++) if (ends[rows[i - 1]] > this.#starts[rows[i]]) return true;
    return false;
  }

  #table(names: Uint8Array, rows: Uint32Array, starts: Float64Array, firsts: Float64Array, ends: Float64Array): SymbolTable {
    const nameOffsets = new Uint32Array(rows.length);
    const nameLengths = new Uint32Array(rows.length);
    for (let i = 0; i < rows.length; i++) {
      nameOffsets[i] = this.#nameOffsets[rows[i]];
      nameLengths[i] = this.#nameLengths[rows[i]];
    }
    return new SymbolTable({ starts, firsts, ends, nameOffsets, nameLengths, names });
  }

  #sizeUpTo(start: number, next: number): number {
    if (next >= 0) return this.#starts[next] - start;
    return Math.ceil(start / PAGE_SIZE_BYTES) * PAGE_SIZE_BYTES + PAGE_SIZE_BYTES - start;
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

/** Indexes of `keys` in ascending order of the keys; equal keys keep their order. */
function ascendingOrder(keys: Float64Array): Uint32Array {
  const count = keys.length;
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  let sorted = true;
  for (let i = 0; i < count; i++) {
    if (i > 0 && keys[i] < keys[i - 1]) sorted = false;
    if (keys[i] < least) least = keys[i];
    if (keys[i] > greatest) greatest = keys[i];
  }
  const order = new Uint32Array(count);
  if (sorted) {
    for (let i = 0; i < count; i++) order[i] = i;
    return order;
  }
  if ((greatest - least + 1) * count < Number.MAX_SAFE_INTEGER) {
    // Key and index fit into one double: the engine's own sort of numbers is several times faster than one with a comparator.
    const packed = new Float64Array(count);
    for (let i = 0; i < count; i++) packed[i] = (keys[i] - least) * count + i;
    packed.sort();
    for (let i = 0; i < count; i++) order[i] = packed[i] % count;
    return order;
  }
  for (let i = 0; i < count; i++) order[i] = i;
  return order.sort((a, b) => keys[a] - keys[b] || a - b);
}
