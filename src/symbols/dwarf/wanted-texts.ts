import { ascendingOrder } from '../../intern/ascending-order.ts';
import { grown } from '../../intern/growable.ts';
import type { SectionTextPlace, StringReader, TextPlace } from './string-reader.ts';

/** What lacks its names yet. */
export interface Named {
  name: string;
  linkageName: string;
}

const KINDS: readonly SectionTextPlace['kind'][] = ['str', 'line_str', 'supplementary'];
const INDEX = KINDS.length;
/** There is none. */
const NONE = INDEX + 1;

/**
 * Names to be read from one file when all are known, in the order in which they stand in it. A look-up of many addresses has some for
 * each: they are kept in columns.
 */
export class WantedTexts {
  readonly #targets: Named[] = [];
  /** By target: whether its linkage name is wanted. */
  #isLinkageName = new Uint8Array(64);
  /** By target: an index of {@link KINDS}; INDEX for a text whose offset stands in `.debug_str_offsets`. */
  #kinds = new Uint8Array(64);
  /** By target: where the text stands in its section; of an INDEX, where its offset stands. */
  #offsets = new Float64Array(64);
  /** By target: size of that offset in bytes. */
  #offsetSizes = new Uint8Array(64);

  /** @param strOffsetsBase where the part of `.debug_str_offsets` starts that a text's index counts in */
  add(target: Named, field: keyof Named, place: TextPlace, strOffsetsBase: number, offsetSize: 4 | 8): void {
    if (place.kind === 'text') {
      target[field] = place.text;
      return;
    }
    const i = this.#targets.push(target) - 1;
    if (i >= this.#kinds.length) this.#grow(i + 1);
    this.#isLinkageName[i] = field === 'linkageName' ? 1 : 0;
    this.#offsetSizes[i] = offsetSize;
    if (place.kind === 'index') {
      this.#kinds[i] = INDEX;
      this.#offsets[i] = strOffsetsBase + place.index * offsetSize;
    } else {
      this.#kinds[i] = KINDS.indexOf(place.kind);
      this.#offsets[i] = place.offset;
    }
  }

  /** Reads all of them. @throws PerfconvError when one cannot be read; those that stand before it are there */
  async read(strings: StringReader): Promise<void> {
    const kinds = this.#kinds;
    const offsets = this.#offsets;
    const count = this.#targets.length;
    // gcc knows no indexes: nothing is sorted twice then.
    const byIndex = kinds.subarray(0, count).includes(INDEX) ? ascendingOrder(offsets.subarray(0, count)) : [];
    for (const i of byIndex) {
      if (kinds[i] !== INDEX) continue;
      const place = await strings.resolveIndex(offsets[i], this.#offsetSizes[i] === 8 ? 8 : 4);
      kinds[i] = place === undefined ? NONE : KINDS.indexOf(place.kind);
      offsets[i] = place?.offset ?? 0;
    }
    for (const i of ascendingOrder(offsets.subarray(0, count))) {
      if (kinds[i] === NONE) continue;
      const place = { kind: KINDS[kinds[i]], offset: offsets[i] };
      const text = strings.textInMemory(place) ?? (await strings.text(place));
      if (this.#isLinkageName[i] === 1) this.#targets[i].linkageName = text;
      else this.#targets[i].name = text;
    }
  }

  #grow(count: number): void {
    this.#isLinkageName = grown(this.#isLinkageName, count);
    this.#kinds = grown(this.#kinds, count);
    this.#offsets = grown(this.#offsets, count);
    this.#offsetSizes = grown(this.#offsetSizes, count);
  }
}
