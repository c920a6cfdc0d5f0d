/** What a cache holds at most, in UTF-16 units or bytes: texts of any usual profile, and little beside its stacks. */
const MAX_LENGTH = 1 << 24;

/**
 * Texts by dense index, each made when it is first asked for. Names may be long and in the texts of many locations: when those that are kept have
 * become too much, they are forgotten, and made again when they are needed again.
 */
export class TextCache<Text extends string | Uint8Array> {
  readonly #make: (index: number) => Text;
  readonly #maxLength: number;
  /** Of full length from the beginning: an array that is filled from its middle on is a slow one. */
  readonly #texts: (Text | undefined)[];
  #length = 0;

  /** @param size more than any index */
  constructor(size: number, make: (index: number) => Text, maxLength = MAX_LENGTH) {
    this.#texts = new Array<Text | undefined>(size);
    this.#make = make;
    this.#maxLength = maxLength;
  }

  get(index: number): Text {
    // hot
    return this.#texts[index] ?? this.#add(index);
  }

  #add(index: number): Text {
    const text = this.#make(index);
    this.#length += text.length;
    if (this.#length > this.#maxLength) {
      this.#texts.fill(undefined);
      this.#length = text.length;
    }
    this.#texts[index] = text;
    return text;
  }
}
