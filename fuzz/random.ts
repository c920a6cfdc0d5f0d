/**
 * Repeatable random numbers: the same seed and index give the same numbers on every machine, and the numbers of one
 * index do not depend on those of another. (sfc32, with a state mixed from seed and index.)
 */
export class Random {
  #a: number;
  #b: number;
  #c = 0x9e3779b9;
  #counter = 1;

  /** @param seed,index whole numbers, of which the low 53 bits count */
  constructor(seed: number, index: number) {
    this.#a = mix(seed >>> 0) ^ mix(Math.floor(index / 0x1_0000_0000) + 0x51ed);
    this.#b = mix(index >>> 0) ^ mix(Math.floor(seed / 0x1_0000_0000) + 0x2f35);
    for (let round = 0; round < 12; round++) this.#u32();
  }

  /** A whole number from 0 to `limit` − 1; `limit` is at most 2^32. */
  below(limit: number): number {
    return Math.floor((this.#u32() / 0x1_0000_0000) * limit);
  }

  /** A whole number between two others, both inclusive. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** True in one of `times` calls on average. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  /** An item of a non-empty list. */
  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)];
  }

  /** An item of a non-empty list; each is twice as likely as the one after it. */
  pickEarly<Item>(items: readonly Item[]): Item {
    let at = 0;
    while (at < items.length - 1 && this.oneIn(2)) at++;
    return items[at];
  }

  #u32(): number {
    const next = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + next) | 0;
    return next >>> 0;
  }
}

/** Mixes each bit of a word into all others (the last step of MurmurHash3). */
function mix(word: number): number {
  let hash = word | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
