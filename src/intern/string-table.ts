/** Strings by dense index, each once. Index 0 is the empty string. */
export class StringTable {
  readonly #indexes = new Map<string, number>([['', 0]]);
  readonly #strings: string[] = [''];

  get size(): number {
    return this.#strings.length;
  }

  intern(text: string): number {
    const known = this.#indexes.get(text);
    if (known !== undefined) return known;
    const index = this.#strings.length;
    this.#strings.push(text);
    this.#indexes.set(text, index);
    return index;
  }

  /** @throws RangeError for an index never given out */
  get(index: number): string {
    const text = this.#strings[index];
    if (text === undefined) throw new RangeError(`string index ${index} of ${this.#strings.length}`);
    return text;
  }
}
