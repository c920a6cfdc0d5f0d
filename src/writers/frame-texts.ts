import type { StringTable } from '../base/string-table.ts';
import { TupleInterner } from '../base/tuple-interner.ts';
import { addressText } from '../profile/names.ts';
import type { Profile } from '../profile/profile.ts';

/** What a format calls frames. What it adds to a name or an address is the same for all locations of a mapping and a cpumode. */
export interface FrameStyle {
  /** The text of a function at a location. */
  functionText(name: string, location: number): string;
  /** What stands after the address of a location whose function is unknown. */
  behindAddress(location: number): string;
}

/**
 * The text of every frame, by location, as indexes of a string table: made once per location, so that a walk over
 * stacks handles numbers only. A location has one frame per inlined function and one for the function that owns the
 * code, leaf first; an unresolved one has a single frame.
 */
export class FrameTexts {
  readonly #start: Uint32Array;
  readonly #texts: Uint32Array;

  /** @param strings takes the texts */
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

  /** Number of frames at a location, at least 1. */
  count(location: number): number {
    return this.#start[location + 1] - this.#start[location];
  }

  /** String index of a location's `nth` frame; 0 is the innermost. */
  text(location: number, nth: number): number {
    return this.#texts[this.#start[location] + nth];
  }
}

/** Makes the texts of frames, each once. */
class TextMaker {
  readonly #profile: Profile;
  readonly #strings: StringTable;
  readonly #style: FrameStyle;
  /** Rows (function's name, mapping, cpumode), and their texts. */
  readonly #functionRows = new TupleInterner(3);
  readonly #functionTexts: number[] = [];
  /** Rows (mapping, cpumode), and what stands after addresses there. */
  readonly #mappingRows = new TupleInterner(2, 16);
  readonly #behindAddress: string[] = [];

  constructor(profile: Profile, strings: StringTable, style: FrameStyle) {
    this.#profile = profile;
    this.#strings = strings;
    this.#style = style;
  }

  line(location: number, nth: number): number {
    const { functions, locations, strings } = this.#profile;
    const name = functions.name(locations.lineFunction(location, nth));
    // The empty string: a function without a name is called by its address.
    if (name === 0) return this.unresolved(location);
    const row = this.#functionRows.intern(name, locations.mapping(location), locations.cpumode(location));
    if (row === this.#functionTexts.length) this.#functionTexts.push(this.#strings.intern(this.#style.functionText(strings.get(name), location)));
    return this.#functionTexts[row];
  }

  unresolved(location: number): number {
    const { locations } = this.#profile;
    const row = this.#mappingRows.intern(locations.mapping(location), locations.cpumode(location));
    if (row === this.#behindAddress.length) this.#behindAddress.push(this.#style.behindAddress(location));
    return this.#strings.internJoined(addressText(this.#profile, location), this.#behindAddress[row]);
  }
}
