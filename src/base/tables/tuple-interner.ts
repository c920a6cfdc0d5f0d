import { allocated, grown } from './growable.ts';

/** Keeps a table below this share of its slots, so that probe sequences stay short. */
const MAX_LOAD = 0.6;

/**
 * Gives each distinct tuple of up to four 32-bit words a dense index, 0, 1, 2 …, in order of first appearance.
 * Open addressing over typed arrays: no object, string or BigInt per tuple.
 *
 * The words are kept in {@link words}, `arity` of them per index, and are compared as unsigned.
 */
export class TupleInterner {
  readonly arity: number;
  /** The tuples themselves: words `i * arity` … `i * arity + arity - 1` belong to index `i`. Replaced when it grows. */
  words: Uint32Array;
  #slots: Int32Array;
  #mask: number;
  #size = 0;

  constructor(arity: 1 | 2 | 3 | 4, capacity = 1024) {
    this.arity = arity;
    let slots = 16;
    while (slots * MAX_LOAD < capacity) slots *= 2;
    this.#slots = new Int32Array(slots).fill(-1);
    this.#mask = slots - 1;
    this.words = new Uint32Array(Math.max(16, capacity) * arity);
  }

  /** Number of distinct tuples. */
  get size(): number {
    return this.#size;
  }

  /** Index of the tuple, which is added if it is new: then the result equals the former {@link size}. */
  intern(a: number, b = 0, c = 0, d = 0): number {
    // hot
    const { arity, words } = this;
    const slots = this.#slots;
    const mask = this.#mask;
    let slot = hashWords(a, b, c, d) & mask;
    for (;;) {
      const index = slots[slot];
      if (index < 0) break;
      const at = index * arity;
      if (
        words[at] === a >>> 0 &&
        (arity < 2 || words[at + 1] === b >>> 0) &&
        (arity < 3 || words[at + 2] === c >>> 0) &&
        (arity < 4 || words[at + 3] === d >>> 0)
      ) {
        return index;
      }
      slot = (slot + 1) & mask;
    }
    return this.#insert(slot, a, b, c, d);
  }

  /** Index of the tuple, or −1 if it was never interned. */
  find(a: number, b = 0, c = 0, d = 0): number {
    const { arity, words } = this;
    let slot = hashWords(a, b, c, d) & this.#mask;
    for (;;) {
      const index = this.#slots[slot];
      if (index < 0) return -1;
      const at = index * arity;
      if (
        words[at] === a >>> 0 &&
        (arity < 2 || words[at + 1] === b >>> 0) &&
        (arity < 3 || words[at + 2] === c >>> 0) &&
        (arity < 4 || words[at + 3] === d >>> 0)
      ) {
        return index;
      }
      slot = (slot + 1) & this.#mask;
    }
  }

  /** An interner with the same tuples under the same indexes; adding to one does not change the other. */
  copy(): TupleInterner {
    const copy = new TupleInterner(this.arity as 1 | 2 | 3 | 4, 0);
    copy.words = this.words.slice();
    copy.#slots = this.#slots.slice();
    copy.#mask = this.#mask;
    copy.#size = this.#size;
    return copy;
  }

  #insert(slot: number, a: number, b: number, c: number, d: number): number {
    const index = this.#size++;
    const { arity } = this;
    if (this.#size * arity > this.words.length) {
      this.words = grown(this.words, this.words.length + 1);
    }
    const at = index * arity;
    this.words[at] = a;
    if (arity > 1) this.words[at + 1] = b;
    if (arity > 2) this.words[at + 2] = c;
    if (arity > 3) this.words[at + 3] = d;
    this.#slots[slot] = index;
    if (this.#size > this.#slots.length * MAX_LOAD) this.#rehash();
    return index;
  }

  #rehash(): void {
    const slots = allocated(Int32Array, this.#slots.length * 2).fill(-1);
    const mask = slots.length - 1;
    const { arity, words } = this;
    for (let index = 0; index < this.#size; index++) {
      const at = index * arity;
      let slot = hashWords(words[at], arity > 1 ? words[at + 1] : 0, arity > 2 ? words[at + 2] : 0, arity > 3 ? words[at + 3] : 0) & mask;
      while (slots[slot] >= 0) slot = (slot + 1) & mask;
      slots[slot] = index;
    }
    this.#slots = slots;
    this.#mask = mask;
  }
}

/** Mixes four words; the constants are those of MurmurHash3 (public domain). */
function hashWords(a: number, b: number, c: number, d: number): number {
  let h = Math.imul(a, 0xcc9e2d51);
  h = Math.imul((h << 15) | (h >>> 17), 0x1b873593) ^ Math.imul(b, 0x85ebca6b);
  h = Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64;
  h = Math.imul(h ^ c, 0xc2b2ae35);
  h = Math.imul((h << 15) | (h >>> 17), 0x9e3779b1) ^ d;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
