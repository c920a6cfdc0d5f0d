import { grown } from './growable.ts';
import { PairInterner } from './pair-interner.ts';

/**
 * A map from pairs (key, variant) to numbers from 0 on, where keys are dense indexes and most keys have one variant only: that one is
 * looked up in a column, without hashing; a key's further variants go through a hash table.
 */
export class KeyedPairs {
  #variants = new Int32Array(4096);
  /** Value of a key's first variant plus 1; 0 for none. */
  #values = new Int32Array(4096);
  readonly #further = new PairInterner();
  #furtherValues = new Int32Array(64);

  /** The value that was set for the pair, −1 for none. */
  find(key: number, variant: number): number {
    // hot
    if (key >= this.#values.length || this.#values[key] === 0) return -1;
    if (this.#variants[key] === variant) return this.#values[key] - 1;
    const known = this.#further.find(key, variant);
    return known < 0 ? -1 : this.#furtherValues[known];
  }

  /** Sets the value of a pair that has none. */
  set(key: number, variant: number, value: number): void {
    // hot
    if (key >= this.#values.length) {
      this.#values = grown(this.#values, key + 1);
      this.#variants = grown(this.#variants, key + 1);
    }
    if (this.#values[key] === 0) {
      this.#values[key] = value + 1;
      this.#variants[key] = variant;
      return;
    }
    const further = this.#further.intern(key, variant);
    this.#furtherValues = grown(this.#furtherValues, further + 1);
    this.#furtherValues[further] = value;
  }
}
