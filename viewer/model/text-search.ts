/** How many characters are looked for by the browser, which may compare each of them at each place of a text. */
const HEAD = 8;

/**
 * A text to look for. Whether another one contains it takes a number of steps proportional to the length of both: names come from whoever wrote the recording,
 * and the text may come from a link. Browsers' own `includes` takes the product of the lengths for texts made for it.
 */
export class TextSearch {
  readonly #wanted: string;
  readonly #head: string;
  /**
   * By the number of characters that were alike: how many of them still are when the next one is not (Knuth, Morris, Pratt). Counts as many as the wanted text
   * has, which is all that can be alike before it is found.
   */
  readonly #shorter: Uint32Array;

  /** @param wanted not empty */
  constructor(wanted: string) {
    this.#wanted = wanted;
    this.#head = wanted.slice(0, HEAD);
    this.#shorter = new Uint32Array(wanted.length);
    for (let length = 1, alike = 0; length + 1 < wanted.length; ) {
      if (wanted.charCodeAt(length) === wanted.charCodeAt(alike)) this.#shorter[++length] = ++alike;
      else if (alike > 0) alike = this.#shorter[alike];
      else this.#shorter[++length] = 0;
    }
  }

  isIn(text: string): boolean {
    const wanted = this.#wanted;
    // Most texts do not even have the beginning.
    const first = text.indexOf(this.#head);
    if (first < 0 || wanted.length <= HEAD) return first >= 0;
    // hot
    for (let at = first, alike = 0; at < text.length; at++) {
      while (alike > 0 && text.charCodeAt(at) !== wanted.charCodeAt(alike)) alike = this.#shorter[alike];
      if (text.charCodeAt(at) === wanted.charCodeAt(alike) && ++alike === wanted.length) return true;
    }
    return false;
  }
}
