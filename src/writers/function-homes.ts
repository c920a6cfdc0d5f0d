import { TupleInterner } from '../intern/tuple-interner.ts';
import type { Profile } from '../profile/profile.ts';

/** Two functions of that name begin somewhere. */
const AMBIGUOUS = -2;

/**
 * Functions in one piece. A line that a compiler took from another file (Observed: gcc and Go, of code they inlined without saying so),
 * and an address without a line, make a function of their own in the profile's table, in that file or in none: one that begins
 * nowhere. It belongs to the only one of its name and DSO that does begin somewhere, if there is such a one.
 */
export class FunctionHomes {
  readonly #profile: Profile;
  readonly #rows = new TupleInterner(3, 1024);
  /** By row: the function that begins somewhere, or {@link AMBIGUOUS}. */
  readonly #homes: number[] = [];

  constructor(profile: Profile) {
    this.#profile = profile;
    const { functions, locations } = profile;
    for (let location = 0; location < locations.size; location++) {
      const mapping = locations.mapping(location);
      for (let nth = locations.lineCount(location) - 1; nth >= 0; nth--) {
        const fn = locations.lineFunction(location, nth);
        if (functions.startLine(fn) === 0) continue;
        const row = this.#rows.intern(functions.name(fn), functions.systemName(fn), mapping);
        if (row === this.#homes.length) this.#homes.push(fn);
        else if (this.#homes[row] !== fn) this.#homes[row] = AMBIGUOUS;
      }
    }
  }

  /**
   * @param mapping index of the mapping that the function's code lies in, −1 for none
   * @returns the function that it is a piece of, or itself
   */
  homeOf(fn: number, mapping: number): number {
    const { functions } = this.#profile;
    if (functions.startLine(fn) > 0) return fn;
    const row = this.#rows.find(functions.name(fn), functions.systemName(fn), mapping);
    const home = row < 0 ? -1 : this.#homes[row];
    return home < 0 ? fn : home;
  }
}
