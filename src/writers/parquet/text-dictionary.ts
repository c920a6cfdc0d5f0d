/** The texts of a list column in one row group, in the order in which they were added. */
export class TextDictionary {
  /** By text: its place plus 1, 0 for none. */
  readonly #places: Uint32Array;
  #texts: number[] = [];

  /** @param size number of texts that there are */
  constructor(size: number) {
    this.#places = new Uint32Array(size);
  }

  /** Indexes of the texts, by place. */
  get texts(): readonly number[] {
    return this.#texts;
  }

  /** Whether the text was not there before. */
  add(text: number): boolean {
    if (this.#places[text] > 0) return false;
    this.#places[text] = this.#texts.push(text);
    return true;
  }

  /** The place of a text that was added. */
  placeOf(text: number): number {
    // hot
    return this.#places[text] - 1;
  }

  clear(): void {
    for (const text of this.#texts) this.#places[text] = 0;
    this.#texts = [];
  }
}
