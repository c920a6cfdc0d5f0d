import type { PlaceOutcome, SymbolSearch } from '../inputs/search-log.ts';

/**
 * Notes, in the search for a DSO's symbols, where the other halves of its units were looked for. A binary may have thousands of `.dwo` files: only the first
 * one that was found and the first one that was not are noted, with the number of others.
 */
export class SplitNotes {
  readonly #search: SymbolSearch | undefined;
  readonly #found = new Set<string>();
  #firstFound = '';
  /** The last place at which the first missing file was looked for; empty while none is missing. */
  #missingPlace = '';
  #missingCount = 0;

  /** @param search undefined if no notes are wanted */
  constructor(search: SymbolSearch | undefined) {
    this.#search = search;
  }

  /** Notes a package that was read. */
  package(place: string): void {
    this.#search?.note(place, 'fits');
  }

  packageUsed(place: string): void {
    this.#search?.use(place, 'lines');
  }

  packageMissing(place: string, isForbidden: boolean): void {
    this.#search?.note(place, isForbidden ? 'forbidden' : 'absent');
  }

  /** Notes a `.dwo` file that has what a unit needs. */
  found(place: string): void {
    if (this.#found.has(place)) return;
    this.#found.add(place);
    const more = this.#found.size - 1;
    if (more === 0) {
      this.#firstFound = place;
      this.#search?.use(place, 'lines');
    } else this.#search?.describe(this.#firstFound, more === 1 ? 'one other .dwo file is also used' : `${more} other .dwo files are also used`);
  }

  /** Notes a file that cannot be used, and why. */
  useless(place: string, outcome: PlaceOutcome, reason: string): void {
    this.#search?.note(place, outcome, reason);
  }

  /** Whether {@link missing} wants to know places. */
  get wantsMissing(): boolean {
    return this.#search !== undefined && this.#missingCount === 0;
  }

  /**
   * Notes a unit whose other half was not found.
   * @param places where it was looked for, and whether this user may not read there
   */
  missing(places: readonly { readonly place: string; readonly isForbidden: boolean }[]): void {
    if (this.#search === undefined) return;
    const more = this.#missingCount++;
    for (const { place, isForbidden } of places) {
      if (this.#search.places.some((known) => known.place === place)) continue;
      this.#search.note(place, isForbidden ? 'forbidden' : 'absent');
      this.#missingPlace = place;
    }
    const others = more === 0 ? '' : `; that of ${more} more ${more === 1 ? 'unit' : 'units'} is also missing`;
    this.#search.describe(this.#missingPlace, `the rest of one unit's debug information (-gsplit-dwarf)${others}`);
  }
}
