import { TupleInterner } from '../../base/tables/tuple-interner.ts';
import { addressText, mappingText } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import { type JsonWriter, quotedJson, utf8 } from '../json-text.ts';
import { TextCache } from '../text-cache.ts';

/** Where a text comes from. It is made only when it is written, since names may be long and many. */
const LITERAL = 0;
const OF_PROFILE = 1;
const UNRESOLVED = 2;

/** The one list of strings that all tables of the format refer to. */
export class Texts {
  readonly #profile: Profile;
  readonly #kinds: number[] = [];
  /** By kind: index into the literals, index of a string of the profile, a location. */
  readonly #values: number[] = [];
  readonly #literals: string[] = [];
  readonly #ofLiteral = new Map<string, number>();
  /** By string of the profile: its index here, −1 until it is asked for. */
  readonly #ofString: Int32Array;
  /** Addresses without a function: rows (low word, high word, library), and their indexes here. */
  readonly #addresses = new TupleInterner(3, 256);
  readonly #ofAddress: number[] = [];

  constructor(profile: Profile) {
    this.#profile = profile;
    this.#ofString = new Int32Array(profile.strings.size).fill(-1);
  }

  get size(): number {
    return this.#kinds.length;
  }

  literal(text: string): number {
    const known = this.#ofLiteral.get(text);
    if (known !== undefined) return known;
    const index = this.#add(LITERAL, this.#literals.push(text) - 1);
    this.#ofLiteral.set(text, index);
    return index;
  }

  /** @param string index into the profile's strings */
  ofString(string: number): number {
    if (this.#ofString[string] < 0) this.#ofString[string] = this.#add(OF_PROFILE, string);
    return this.#ofString[string];
  }

  /** The name of a location without a function. @param lib its library, which is the same for all mappings of a name; −1 for none */
  ofAddress(location: number, lib: number): number {
    const { locations } = this.#profile;
    const row = this.#addresses.intern(locations.addressLo(location), locations.addressHi(location), lib);
    if (row === this.#ofAddress.length) this.#ofAddress.push(this.#add(UNRESOLVED, location));
    return this.#ofAddress[row];
  }

  /** Writes all strings as an array. */
  async write(out: JsonWriter): Promise<void> {
    const { locations, mappings, strings } = this.#profile;
    // A path may have 4 KB, and its file a hundred thousand addresses without a function. So what follows these addresses is encoded only once.
    const tails = new TextCache(mappings.length + 1, (slot) => utf8(quotedJson(mappingText(this.#profile, slot - 1)).slice(1)));
    out.put('[');
    for (let index = 0; index < this.size; index++) {
      out.put(index === 0 ? '\n' : ',\n');
      const value = this.#values[index];
      if (this.#kinds[index] === LITERAL) out.quoted(this.#literals[value]);
      else if (this.#kinds[index] === OF_PROFILE) out.quoted(strings.get(value));
      else {
        out.put(`"${addressText(this.#profile, value)}`);
        out.bytes(tails.get(locations.mapping(value) + 1));
      }
      if (out.isFull) await out.flush();
    }
    out.put(']');
  }

  #add(kind: number, value: number): number {
    this.#values.push(value);
    return this.#kinds.push(kind) - 1;
  }
}
