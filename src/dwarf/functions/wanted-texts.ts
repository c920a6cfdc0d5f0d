import { ascendingOrder } from '../../base/tables/ascending-order.ts';
import { grown } from '../../base/tables/growable.ts';
import { type StringReader, TEXT_BY_INDEX, TEXT_IN_STR, TEXT_NONE, type TextPlace, type TextSection } from '../encoding/string-reader.ts';

/** Something whose names are still missing. */
export interface Named {
  name: string;
  linkageName: string;
}

/**
 * Names to be read from one file once all are known, in the order of the file. A look-up of many addresses has some for each, so they are
 * kept in columns.
 */
export class WantedTexts {
  readonly #targets: Named[] = [];
  /** By target: whether its linkage name is wanted. */
  #isLinkageName = new Uint8Array(64);
  /** By target: TEXT_… */
  #places = new Uint8Array(64);
  /** By target: where the text is in its section; for one by index, where its entry is in `.debug_str_offsets`. */
  #offsets = new Float64Array(64);
  /** By target: size in bytes of such an entry. */
  #offsetSizes = new Uint8Array(64);

  /**
   * @param offset of the text in its section; for one by index, of its entry in `.debug_str_offsets`
   * @param offsetSize of such an entry
   */
  add(target: Named, field: keyof Named, place: TextPlace, offset: number, offsetSize: 4 | 8): void {
    const i = this.#targets.push(target) - 1;
    if (i >= this.#places.length) this.#grow(i + 1);
    this.#isLinkageName[i] = field === 'linkageName' ? 1 : 0;
    this.#places[i] = place;
    this.#offsets[i] = offset;
    this.#offsetSizes[i] = offsetSize;
  }

  /** Reads all of them. @throws PerfconvError when one cannot be read; those before it are set */
  async read(strings: StringReader): Promise<void> {
    // gcc uses no indexes, so nothing is sorted twice then.
    if (this.#places.subarray(0, this.#targets.length).includes(TEXT_BY_INDEX)) await this.#resolveIndexes(strings);
    const order = this.#order();
    for (let nth = this.#readFromMemory(strings, order, 0); nth < order.length; nth = this.#readFromMemory(strings, order, nth + 1)) {
      const i = order[nth];
      this.#set(i, await strings.text(this.#places[i] as TextSection, this.#offsets[i]));
    }
  }

  async #resolveIndexes(strings: StringReader): Promise<void> {
    for (const i of this.#order()) {
      if (this.#places[i] !== TEXT_BY_INDEX) continue;
      this.#offsets[i] = await strings.resolveIndex(this.#offsets[i], this.#offsetSizes[i] === 8 ? 8 : 4);
      this.#places[i] = this.#offsets[i] < 0 ? TEXT_NONE : TEXT_IN_STR;
    }
  }

  /** Indexes of the targets, in the order of their offsets. */
  #order(): Uint32Array {
    return ascendingOrder(this.#offsets.subarray(0, this.#targets.length));
  }

  /** Reads texts in an order, beginning at `from`, as far as they are in memory. @returns the position of the first that is not */
  #readFromMemory(strings: StringReader, order: Uint32Array, from: number): number {
    // hot
    for (let nth = from; nth < order.length; nth++) {
      const i = order[nth];
      const place = this.#places[i];
      if (place === TEXT_NONE) continue;
      const text = strings.textInMemory(place as TextSection, this.#offsets[i]);
      if (text === undefined) return nth;
      this.#set(i, text);
    }
    return order.length;
  }

  #set(i: number, text: string): void {
    if (this.#isLinkageName[i] === 1) this.#targets[i].linkageName = text;
    else this.#targets[i].name = text;
  }

  #grow(count: number): void {
    this.#isLinkageName = grown(this.#isLinkageName, count);
    this.#places = grown(this.#places, count);
    this.#offsets = grown(this.#offsets, count);
    this.#offsetSizes = grown(this.#offsetSizes, count);
  }
}
