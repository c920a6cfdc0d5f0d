/**
 * - `fits`: the right file, as far as can be told
 * - `absent`: there is none
 * - `forbidden`: there may be one, but this user may not read it
 * - `damaged`: it is no ELF file, or one that cannot be read
 * - `other-build-id`, `other-crc`: it is another file than the one that was recorded, or belongs to another
 * - `refused`: there is one, but it may be anybody's and is not believed
 * - `failed`: it could not be asked for (a server)
 * - `skipped`: nothing was looked at
 */
export type PlaceOutcome = 'fits' | 'absent' | 'forbidden' | 'damaged' | 'other-build-id' | 'other-crc' | 'refused' | 'failed' | 'skipped';

/** What a file is used for: to tell addresses from places in it, names of functions, files and lines. */
export type FileUse = 'addresses' | 'symbols' | 'lines';

/** What a file that fits holds, as far as was looked. */
export interface FileHoldings {
  /** Machine code: it is the binary itself. */
  readonly code?: boolean;
  /** The better of its symbol tables; a stripped file has only those of dynamic linking, or none. */
  readonly symbols?: 'symtab' | 'dynsym' | 'none';
  /** Whether it has debug information. */
  readonly debugInfo?: boolean;
  /** Whether the file is cut off, so that it lacks what it should have. */
  readonly isCut?: boolean;
}

/**
 * - `changed`: it was made anew since it was recorded, or is another machine's
 * - `shared`: several files were recorded under its path
 */
export type FileDoubt = 'changed' | 'shared';

/** A place where something was looked for, and what came of it. */
export interface SearchedPlace {
  /** A path, a URL, or what it is: `.gnu_debugdata in /usr/bin/ls`. */
  readonly place: string;
  readonly outcome: PlaceOutcome;
  /** What else there is to say, in words: the other build id, what is damaged. Empty where the outcome says all. */
  readonly detail: string;
  readonly holds: FileHoldings;
  /** What it was used for; empty for what does not fit, and for what something else had already. */
  readonly uses: readonly FileUse[];
  /** Why it may be another file than the one that was recorded, though nothing says that it is; absent where it is not in doubt. */
  readonly doubt?: FileDoubt;
}

/** What was done to find the symbols of one DSO. */
export class SymbolSearch {
  /** Build id of the very file that was found mapped in its process, where that is surer than the recorded one; empty when it has none. */
  mappedBuildId: string | undefined;
  /** Whether lines were asked for and yet not looked for, since this engine cannot read debug information. */
  isWithoutLines = false;
  readonly #places: { -readonly [K in keyof SearchedPlace]: SearchedPlace[K] }[] = [];

  /** In the order in which they were looked at. */
  get places(): readonly SearchedPlace[] {
    return this.#places;
  }

  /** Notes what came of looking at a place. A place is looked at once: what is said of it later is left out. */
  note(place: string, outcome: PlaceOutcome, detail = '', holds: FileHoldings = {}): void {
    if (!this.#places.some((known) => known.place === place)) this.#places.push({ place, outcome, detail, holds, uses: [] });
  }

  /** Says something else of a place that was noted; nothing of others. */
  tell(place: string, detail: string): void {
    const found = this.#places.find((known) => known.place === place);
    if (found !== undefined) found.detail = detail;
  }

  /** Says something else of a place whose outcome was noted as `before`; nothing of others. */
  correct(place: string, before: PlaceOutcome, outcome: PlaceOutcome, detail: string): void {
    const found = this.#places.find((known) => known.place === place);
    if (found?.outcome === before) Object.assign(found, { outcome, detail });
  }

  /** Notes that a place that fits may yet have another file, and why, in words. */
  doubt(place: string, doubt: FileDoubt, detail: string): void {
    const found = this.#places.find((known) => known.place === place);
    if (found !== undefined) Object.assign(found, { doubt, detail });
  }

  /** Notes what a place is used for. One that was not noted before fits. */
  use(place: string, use: FileUse): void {
    this.note(place, 'fits');
    const found = this.#places.find((known) => known.place === place);
    if (found !== undefined && !found.uses.includes(use)) found.uses = [...found.uses, use];
  }
}
