import { allocated } from '../../base/tables/growable.ts';

const MAX_LOAD = 0.6;
/** An svma and the number of its rule; the svma is −1 in a free slot. */
const SLOT_WORDS = 2;
const FIRST_SLOTS = 256;
/** No recording meets that many addresses in one file. */
const MAX_ADDRESSES = 1 << 21;

/** Which rule each address of one file has that was looked up: an open-addressed table, which is asked for each frame. */
export class RuleAddresses {
  #slots = new Float64Array(FIRST_SLOTS * SLOT_WORDS).fill(-1);
  #mask = FIRST_SLOTS - 1;
  #size = 0;

  /** Whether there are so many that they should be forgotten before another one is added. */
  get isFull(): boolean {
    return this.#size >= MAX_ADDRESSES;
  }

  /** What was set for an svma (0 or above); undefined for nothing. */
  get(svma: number): number | undefined {
    // hot
    const slots = this.#slots;
    const mask = this.#mask;
    let slot = hashOf(svma) & mask;
    for (;;) {
      const key = slots[slot * SLOT_WORDS];
      if (key === svma) return slots[slot * SLOT_WORDS + 1];
      if (key === -1) return undefined;
      slot = (slot + 1) & mask;
    }
  }

  /** Sets the rule of an svma that has none yet: its number, NO_RULE or BAD_RULE. */
  add(svma: number, rule: number): void {
    if (++this.#size > (this.#mask + 1) * MAX_LOAD) this.#rehash();
    this.#put(svma, rule);
  }

  clear(): void {
    this.#slots = new Float64Array(FIRST_SLOTS * SLOT_WORDS).fill(-1);
    this.#mask = FIRST_SLOTS - 1;
    this.#size = 0;
  }

  #put(svma: number, rule: number): void {
    const slots = this.#slots;
    let slot = hashOf(svma) & this.#mask;
    while (slots[slot * SLOT_WORDS] !== -1) slot = (slot + 1) & this.#mask;
    slots[slot * SLOT_WORDS] = svma;
    slots[slot * SLOT_WORDS + 1] = rule;
  }

  #rehash(): void {
    const old = this.#slots;
    this.#slots = allocated(Float64Array, old.length * 2).fill(-1);
    this.#mask = this.#mask * 2 + 1;
    for (let at = 0; at < old.length; at += SLOT_WORDS) if (old[at] !== -1) this.#put(old[at], old[at + 1]);
  }
}

/** Neighboring addresses, like those of one function's instructions, do not collide. */
function hashOf(svma: number): number {
  const word = Math.imul(svma >>> 0, 0x9e3779b1);
  return word ^ (word >>> 15);
}
