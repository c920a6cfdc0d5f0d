import type { StringTable } from '../base/tables/string-table.ts';
import { TupleInterner } from '../base/tables/tuple-interner.ts';
import { addressText } from '../profile/names.ts';
import type { Profile } from '../profile/profile.ts';

/**
 * How a format writes frames. What it adds to a name or an address must depend only on the location's mapping and cpumode, and on whether the function was
 * inlined, since texts are made once for each of these and reused.
 */
export interface FrameStyle {
  /** The text of a function at a location. */
  functionText(name: string, location: number, isInlined: boolean): string;
  /** The text that follows the address of a location whose function is unknown. */
  addressSuffix(location: number): string;
}

/**
 * The text of every frame of every location, as indexes into a string table. Texts are made once per location, so that
 * walking the stacks handles numbers only. A location has one frame for each inlined function and one for the function
 * that owns the code, leaf first; an unresolved location has a single frame.
 */
export class FrameTexts {
  readonly #start: Uint32Array;
  readonly #texts: Uint32Array;

  /** @param strings the table that the texts are added to */
  constructor(profile: Profile, strings: StringTable, style: FrameStyle) {
    const { locations } = profile;
    this.#start = new Uint32Array(locations.size + 1);
    for (let location = 0; location < locations.size; location++) {
      this.#start[location + 1] = this.#start[location] + Math.max(1, locations.lineCount(location));
    }
    this.#texts = new Uint32Array(this.#start[locations.size]);
    const maker = new TextMaker(profile, strings, style);
    for (let location = 0; location < locations.size; location++) {
      const lineCount = locations.lineCount(location);
      const start = this.#start[location];
      if (lineCount === 0) this.#texts[start] = maker.unresolved(location);
      for (let nth = 0; nth < lineCount; nth++) this.#texts[start + nth] = maker.line(location, nth);
    }
  }

  /** Number of frames of a location, at least 1. */
  count(location: number): number {
    return this.#start[location + 1] - this.#start[location];
  }

  /** String index of a location's `nth` frame; 0 is the innermost. */
  text(location: number, nth: number): number {
    return this.#texts[this.#start[location] + nth];
  }
}

/** Makes each distinct text once. */
class TextMaker {
  readonly #profile: Profile;
  readonly #strings: StringTable;
  readonly #style: FrameStyle;
  /** Rows (function name, mapping, cpumode, 1 if inlined), and the text of each row. */
  readonly #functionRows = new TupleInterner(4);
  readonly #functionTexts: number[] = [];
  /** Rows (mapping, cpumode), and what follows addresses there. */
  readonly #mappingRows = new TupleInterner(2, 16);
  readonly #addressSuffixes: string[] = [];

  constructor(profile: Profile, strings: StringTable, style: FrameStyle) {
    this.#profile = profile;
    this.#strings = strings;
    this.#style = style;
  }

  line(location: number, nth: number): number {
    const { functions, locations, strings } = this.#profile;
    const name = functions.name(locations.lineFunction(location, nth));
    // 0 is the empty string. A function without a name is shown by its address.
    if (name === 0) return this.unresolved(location);
    const isInlined = nth < locations.lineCount(location) - 1;
    const row = this.#functionRows.intern(name, locations.mapping(location), locations.cpumode(location), isInlined ? 1 : 0);
    if (row === this.#functionTexts.length) this.#functionTexts.push(this.#strings.intern(this.#style.functionText(strings.get(name), location, isInlined)));
    return this.#functionTexts[row];
  }

  unresolved(location: number): number {
    const { locations } = this.#profile;
    const row = this.#mappingRows.intern(locations.mapping(location), locations.cpumode(location));
    if (row === this.#addressSuffixes.length) this.#addressSuffixes.push(this.#style.addressSuffix(location));
    return this.#strings.internJoined(addressText(this.#profile, location), this.#addressSuffixes[row]);
  }
}
