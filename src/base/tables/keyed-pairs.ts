import { grown } from './growable.ts';
import { PairInterner } from './pair-interner.ts';

/** The variant that stands for every variant of its key. */
export const ANY_VARIANT = -1;

/**
 * A map from pairs (key, variant) to numbers from 0 to 2^31 − 2, where keys are dense indexes and most keys have only one variant: that one is looked up in a
 * column, without hashing; a key's further variants are in a hash table. A value set for {@link ANY_VARIANT} is found under any variant; its key then has no
 * other value.
 */
export class KeyedPairs {
  /** Per key: its first variant, and that variant's value + 1 (0 for none), side by side. */
  #first = new Int32Array(512);
  readonly #further = new PairInterner();
  #furtherValues = new Int32Array(64);

  /** The value that was set for the pair, −1 for none. */
  find(key: number, variant: number): number {
    // hot
    const first = this.#first;
    const at = key * 2;
    if (at >= first.length || first[at + 1] === 0) return -1;
    if (first[at] === variant || first[at] === ANY_VARIANT) return first[at + 1] - 1;
    const known = this.#further.find(key, variant);
    return known < 0 ? -1 : this.#furtherValues[known];
  }

  /** Sets the value of a pair that has none. */
  set(key: number, variant: number, value: number): void {
    const at = key * 2;
    if (at >= this.#first.length) this.#first = grown(this.#first, at + 2);
    if (this.#first[at + 1] === 0) {
      this.#first[at] = variant;
      this.#first[at + 1] = value + 1;
      return;
    }
    const further = this.#further.intern(key, variant);
    this.#furtherValues = grown(this.#furtherValues, further + 1);
    this.#furtherValues[further] = value;
  }
}
