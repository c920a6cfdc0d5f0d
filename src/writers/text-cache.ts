/** Default limit in UTF-16 units or bytes: enough for all texts of a usual profile, and small next to its stacks. */
const MAX_LENGTH = 1 << 24;

/**
 * Caches texts by dense index; each is made when it is first asked for. Long names may be part of the texts of many locations, so the total length is limited:
 * when it is exceeded, all texts are dropped, and made again when needed.
 */
export class TextCache<Text extends string | Uint8Array> {
  readonly #make: (index: number) => Text;
  readonly #maxLength: number;
  /** Allocated completely, because V8 turns an array that is filled from its middle on into a slow dictionary. */
  readonly #texts: (Text | undefined)[];
  #length = 0;

  /** @param size number of indexes */
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
