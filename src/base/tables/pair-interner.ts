import { allocated, grown } from './growable.ts';

const MAX_LOAD = 0.6;
/** Words of a slot: the pair, the index, and an unused one, so that slots never straddle cache lines. */
const SLOT_WORDS = 4;
/** The first number of slots, a power of two. Many recordings, and many tables of large ones, have few pairs. */
const FIRST_SLOTS = 512;

/**
 * Gives each distinct pair of 32-bit words a dense index, 0, 1, 2 …, in order of first appearance. Does the same as a TupleInterner of arity 2, for tables of
 * millions of rows: slots hold their pairs, so that a look-up touches only one cache line instead of two.
 */
export class PairInterner {
  /** First and second words by index. Replaced when they grow. */
  first = new Int32Array(FIRST_SLOTS / 2);
  second = new Int32Array(FIRST_SLOTS / 2);
  #slots = new Int32Array(FIRST_SLOTS * SLOT_WORDS).fill(-1);
  #mask = FIRST_SLOTS - 1;
  #size = 0;

  /** Number of distinct pairs. */
  get size(): number {
    return this.#size;
  }

  /** Index of the pair, which is added if it is new: then the result equals the former {@link size}. */
  intern(a: number, b: number): number {
    // hot
    const first = a | 0;
    const second = b | 0;
    const slots = this.#slots;
    const mask = this.#mask;
    let slot = hashPair(first, second) & mask;
    for (;;) {
      const at = slot * SLOT_WORDS;
      const index = slots[at + 2];
      if (index < 0) break;
      if (slots[at] === first && slots[at + 1] === second) return index;
      slot = (slot + 1) & mask;
    }
    return this.#insert(slot, first, second);
  }

  /** Index of the pair, or −1 if it was never interned. */
  find(a: number, b: number): number {
    const first = a | 0;
    const second = b | 0;
    const slots = this.#slots;
    for (let slot = hashPair(first, second) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const at = slot * SLOT_WORDS;
      const index = slots[at + 2];
      if (index < 0 || (slots[at] === first && slots[at + 1] === second)) return index;
    }
  }

  #insert(slot: number, first: number, second: number): number {
    const index = this.#size++;
    if (index === this.first.length) {
      this.first = grown(this.first, index + 1);
      this.second = grown(this.second, index + 1);
    }
    this.first[index] = first;
    this.second[index] = second;
    this.#fill(this.#slots, slot, index);
    if (this.#size > this.#mask * MAX_LOAD) this.#rehash();
    return index;
  }

  #rehash(): void {
    const mask = this.#mask * 2 + 1;
    const slots = allocated(Int32Array, (mask + 1) * SLOT_WORDS).fill(-1);
    for (let index = 0; index < this.#size; index++) {
      let slot = hashPair(this.first[index], this.second[index]) & mask;
      while (slots[slot * SLOT_WORDS + 2] >= 0) slot = (slot + 1) & mask;
      this.#fill(slots, slot, index);
    }
    this.#slots = slots;
    this.#mask = mask;
  }

  #fill(slots: Int32Array, slot: number, index: number): void {
    const at = slot * SLOT_WORDS;
    slots[at] = this.first[index];
    slots[at + 1] = this.second[index];
    slots[at + 2] = index;
  }
}

/** Mixes two words; the constants are those of MurmurHash3's finalizer (public domain). */
function hashPair(a: number, b: number): number {
  let h = Math.imul(a, 0x9e3779b1) ^ b;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
