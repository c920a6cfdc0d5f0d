/** The detail of a place with a file in another format. */
export { NO_ELF } from '../../elf/elf-file.ts';
/**
 * - `fits`: the right file, as far as can be told
 * - `absent`: there is none
 * - `forbidden`: there may be one, but this user or program may not read it
 * - `damaged`: it is not an ELF file, or cannot be read
 * - `other-build-id`, `other-crc`: it is not the file that was recorded, or does not belong to it
 * - `refused`: there is one, but anyone may have written it, so that it is not trusted
 * - `failed`: it could not be asked for (a server)
 * - `skipped`: nothing was looked at
 */
export type PlaceOutcome = 'fits' | 'absent' | 'forbidden' | 'damaged' | 'other-build-id' | 'other-crc' | 'refused' | 'failed' | 'skipped';

/** What a file is used for: translating addresses, names of functions, files and lines. */
export type FileUse = 'addresses' | 'symbols' | 'lines';

/** What a file that fits holds, as far as it was checked. */
export interface FileHoldings {
  /** Machine code: it is the binary itself. */
  readonly code?: boolean;
  /** The best of its symbol tables; a stripped file has only the one for dynamic linking, the one of Go's runtime, or none. */
  readonly symbols?: 'symtab' | 'gopclntab' | 'dynsym' | 'none';
  /** Whether it has debug information. */
  readonly debugInfo?: boolean;
  /** Whether the file is cut off, so that it lacks what it should have. */
  readonly isCut?: boolean;
}

/**
 * - `changed`: it was changed or replaced since it was recorded, or is another machine's
 * - `shared`: several files were recorded under its path
 */
export type FileDoubt = 'changed' | 'shared';

/** A place where something was looked for, and the outcome. */
export interface SearchedPlace {
  /** A path, a URL, or a description: `.gnu_debugdata in /usr/bin/ls`. */
  readonly place: string;
  readonly outcome: PlaceOutcome;
  /** Details in words: the other build id, what is damaged. Empty if the outcome says it all. */
  readonly detail: string;
  /** What the file there has; empty unless it fits. */
  readonly holds: FileHoldings;
  /** What it was used for; empty if it does not fit, or another place already had what it has. */
  readonly uses: readonly FileUse[];
  /** Why it may not be the file that was recorded; absent if there is no doubt. */
  readonly doubt?: FileDoubt;
}

/** What was done to find the symbols of one DSO. */
export class SymbolSearch {
  /** Build id of the file that the process still has mapped, if that is more certain than the recorded one; empty if the file has none. */
  mappedBuildId: string | undefined;
  /** Whether lines were asked for but not looked for, since this engine cannot read debug information. */
  isWithoutLines = false;
  /** Whether servers are asked for what is not found here, if there are any. */
  mayAskServers = true;
  readonly #places: { -readonly [K in keyof SearchedPlace]: SearchedPlace[K] }[] = [];

  /** In the order in which they were searched. */
  get places(): readonly SearchedPlace[] {
    return this.#places;
  }

  /** Notes the outcome at a place. Only the first note of a place counts. */
  note(place: string, outcome: PlaceOutcome, detail = '', holds: FileHoldings = {}): void {
    if (!this.#places.some((known) => known.place === place)) this.#places.push({ place, outcome, detail, holds, uses: [] });
  }

  /** Replaces the detail of a place that was noted; does nothing for others. */
  describe(place: string, detail: string): void {
    const found = this.#places.find((known) => known.place === place);
    if (found !== undefined) found.detail = detail;
  }

  /** Replaces outcome and detail of a place that was noted with the outcome `before`; does nothing for others. */
  correct(place: string, before: PlaceOutcome, outcome: PlaceOutcome, detail: string): void {
    const found = this.#places.find((known) => known.place === place);
    if (found?.outcome === before) Object.assign(found, { outcome, detail });
  }

  /** Notes that a file that fits may still be the wrong one, and why, in words. */
  doubt(place: string, doubt: FileDoubt, detail: string): void {
    const found = this.#places.find((known) => known.place === place);
    if (found !== undefined) Object.assign(found, { doubt, detail });
  }

  /** Notes what a place is used for. A place that was not noted before is noted as fitting. */
  use(place: string, use: FileUse): void {
    this.note(place, 'fits');
    const found = this.#places.find((known) => known.place === place);
    if (found !== undefined && !found.uses.includes(use)) found.uses = [...found.uses, use];
  }

  /** Takes back a use of a place, when its data for that turn out to be unreadable. @param detail why, in words */
  cannotUse(place: string, use: FileUse, detail: string): void {
    const found = this.#places.find((known) => known.place === place);
    if (found !== undefined) Object.assign(found, { uses: found.uses.filter((known) => known !== use), detail });
  }
}
