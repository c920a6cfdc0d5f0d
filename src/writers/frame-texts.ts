import type { StringTable } from '../intern/string-table.ts';
import type { Profile } from '../profile/profile.ts';

/**
 * The text of every frame, by location, as indexes of a string table: made once per location, so that a walk over
 * stacks handles numbers only. A location has one frame per inlined function and one for the function that owns the
 * code, leaf first; an unresolved one has a single frame.
 */
export class FrameTexts {
  readonly #start: Uint32Array;
  readonly #texts: Uint32Array;

  /**
   * @param strings takes the texts
   * @param textOf the text of one frame of a location; `name` is its function's name, undefined when unresolved or empty
   */
  constructor(profile: Profile, strings: StringTable, textOf: (location: number, name: string | undefined) => string) {
    const { locations, functions } = profile;
    this.#start = new Uint32Array(locations.size + 1);
    for (let location = 0; location < locations.size; location++) {
      this.#start[location + 1] = this.#start[location] + Math.max(1, locations.lineCount(location));
    }
    this.#texts = new Uint32Array(this.#start[locations.size]);
    for (let location = 0; location < locations.size; location++) {
      const lineCount = locations.lineCount(location);
      const start = this.#start[location];
      if (lineCount === 0) this.#texts[start] = strings.intern(textOf(location, undefined));
      for (let nth = 0; nth < lineCount; nth++) {
        const name = profile.strings.get(functions.name(locations.lineFunction(location, nth))) || undefined;
        this.#texts[start + nth] = strings.intern(textOf(location, name));
      }
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
