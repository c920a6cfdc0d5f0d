import { ByteView } from '../base/bytes/byte-view.ts';
import type { SectionReader } from '../base/bytes/section-reader.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import { firstAbove } from '../base/tables/first-above.ts';

/**
 * A callchain's entry in a table: u32 index, then a word with 40 bits of the address, the caller's index (0: none) and a bit that says that all higher bits of
 * the address are set.
 */
const NODE_BYTES = 12;
/**
 * Limit of a callchain's entries: hiperf unwinds up to 256 callers, and the kernel records up to 127. A table whose entries lead in a circle has endless ones, a
 * different one for each sample.
 */
export const MAX_STACK_ENTRIES = 512;
/** Limit of the processes: so many small tables would need many times the memory of the section. */
const MAX_TABLES = 1 << 16;
/** An index and a place in the section, in words, are one number, so that places sort by index. All sections together are smaller than this. */
const WORDS = 2 ** 28;

/**
 * How much of a callchain there is:
 *
 * - `whole`: all of it
 * - `incomplete`: the entries up to one that is in no table; none if this is the first
 * - `too-long`: the first {@link MAX_STACK_ENTRIES} entries of more
 */
export type FoundStack = 'whole' | 'incomplete' | 'too-long';

/**
 * The callchains of `hiperf record --dedup_stack`: a sample has only an id after its other fields, and HIPERF_FILES_UNISTACK_TABLE has, for each process, a tree
 * of entries in which each leads to its caller's.
 */
export class StackTables {
  readonly #view: ByteView;
  readonly #indexBits: number;
  readonly #indexMask: number;
  /** By pid: where the entries are, as {@link placesOf} has them. */
  readonly #tables = new Map<number, Float64Array>();
  readonly #data = new DataView(new ArrayBuffer(MAX_STACK_ENTRIES * 8));
  /** The entries of the last callchain, from byte 0 on, as a sample would have them. */
  readonly entries = new ByteView(new Uint8Array(this.#data.buffer), true);
  /** Number of these. */
  count = 0;

  /**
   * There are no tables until {@link read}.
   * @param view the section
   * @param indexBits how many bits an index has
   */
  constructor(view: ByteView, indexBits: number) {
    this.#view = view;
    this.#indexBits = indexBits;
    this.#indexMask = (1 << indexBits) - 1;
  }

  /**
   * Reads the section: a u32 count of tables; for each u32 pid, u32 size (not needed), u32 count of entries, and these. The tables before damage stay.
   * @throws PerfconvError `damaged` if the section ends too early, an index is too large, a process has a second table, or there are too many
   */
  read(section: SectionReader): void {
    for (let left = section.u32(); left > 0; left--) {
      const pid = section.u32();
      section.skip(4);
      const count = section.u32();
      if (this.#tables.has(pid)) throw new PerfconvError('damaged', `second table of process ${pid}`);
      if (this.#tables.size === MAX_TABLES) throw new PerfconvError('damaged', `more than ${MAX_TABLES} tables`);
      if (count * NODE_BYTES > section.remaining) throw new PerfconvError('damaged', 'entries overrun section');
      this.#tables.set(pid, placesOf(section.view, section.skip(count * NODE_BYTES), count, this.#indexMask));
    }
  }

  /**
   * Finds a callchain: {@link entries} and {@link count} are those of it.
   * @param lo, hi the words of the id: the leaf's index, then how many addresses there are. hiperf counts those that are zero, but does not store them, so a
   * callchain whose last caller comes earlier is whole.
   */
  find(pid: number, lo: number, hi: number): FoundStack {
    this.count = 0;
    const table = this.#tables.get(pid);
    if (table === undefined) return 'incomplete';
    const bits = this.#indexBits;
    const wanted = hi * 2 ** (32 - bits) + (lo >>> bits);
    for (let index = lo & this.#indexMask; index !== 0 && this.count < wanted; ) {
      if (this.count === MAX_STACK_ENTRIES) return 'too-long';
      const at = offsetOf(table, index);
      if (at < 0) return 'incomplete';
      const high = this.#view.hi(at + 4);
      const isHigh = ((high >>> (8 + bits)) & 1) === 1;
      const entry = this.count++ * 8;
      this.#data.setUint32(entry, this.#view.lo(at + 4), true);
      this.#data.setUint32(entry + 4, isHigh ? (0xffff_ff00 | (high & 0xff)) >>> 0 : high & 0xff, true);
      index = (high >>> 8) & this.#indexMask;
    }
    return this.count > 0 ? 'whole' : 'incomplete';
  }
}

/** For each of `count` nodes from an offset on: its index, and in what word of the section it is. Ascending. */
function placesOf(view: ByteView, first: number, count: number, indexMask: number): Float64Array {
  const places = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const at = first + i * NODE_BYTES;
    const index = view.u32(at);
    if (index > indexMask) throw new PerfconvError('damaged', `entry ${index} has too large a number`);
    places[i] = index * WORDS + at / 4;
  }
  return places.sort();
}

/** Where the node of an index is in the section; −1 if there is none. */
function offsetOf(places: Float64Array, index: number): number {
  const place = places[firstAbove(places, index * WORDS, 0, places.length)];
  return place === undefined || place >= (index + 1) * WORDS ? -1 : (place % WORDS) * 4;
}
