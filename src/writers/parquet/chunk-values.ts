import { TupleInterner } from '../../base/tables/tuple-interner.ts';
import type { ValueType } from './columns.ts';
import type { GrowingBytes } from './growing-bytes.ts';
import type { Statistics } from './metadata.ts';

import type { TextBytes } from './text-bytes.ts';

/** Texts longer than this are not repeated in the footer, as the minimum and the maximum of each row group: readers read it before anything else. */
const MAX_STATISTIC_BYTES = 64;

/** A value on its way into a column. The same one is reused for all values. */
export class Value {
  /** The low word of a number, or the index of a text. */
  lo = 0;
  hi = 0;
}

/** The different values of one column in one row group, in the order in which they first appeared. */
export class ChunkValues {
  readonly #type: ValueType;
  readonly #texts: TextBytes;
  readonly #values = new TupleInterner(2);

  /** @param texts by the indexes that values of texts have */
  constructor(type: ValueType, texts: TextBytes) {
    this.#type = type;
    this.#texts = texts;
  }

  get size(): number {
    return this.#values.size;
  }

  /** @returns its place */
  intern({ lo, hi }: Value): number {
    // hot
    return this.#values.intern(lo, hi);
  }

  /** Whether a dictionary would take more room than the values one after the other. */
  isTooVaried(count: number): boolean {
    return this.#type !== 'text' && this.size * 2 > count;
  }

  /** Adds a value in PLAIN. */
  put(page: GrowingBytes, place: number): void {
    // hot
    const { words } = this.#values;
    if (this.#type === 'text') {
      page.sized(this.#texts.get(words[place * 2]));
      return;
    }
    page.number(words[place * 2], 4);
    if (this.#type !== 'int32') page.number(words[place * 2 + 1], 4);
  }

  /** @param nullCount how many values are absent */
  statistics(nullCount: number): Statistics {
    if (this.size === 0) return { nullCount };
    let [min, max] = [0, 0];
    for (let place = 1; place < this.size; place++) {
      if (this.#compare(place, min) < 0) min = place;
      if (this.#compare(place, max) > 0) max = place;
    }
    const [minBytes, maxBytes] = [this.#bytesOf(min), this.#bytesOf(max)];
    return Math.max(minBytes.length, maxBytes.length) > MAX_STATISTIC_BYTES ? { nullCount } : { nullCount, min: minBytes, max: maxBytes };
  }

  #bytesOf(place: number): Uint8Array {
    const { words } = this.#values;
    if (this.#type === 'text') return this.#texts.get(words[place * 2]);
    const bytes = new DataView(new ArrayBuffer(this.#type === 'int32' ? 4 : 8));
    bytes.setUint32(0, words[place * 2], true);
    if (this.#type !== 'int32') bytes.setUint32(4, words[place * 2 + 1], true);
    return new Uint8Array(bytes.buffer);
  }

  /** Orders two values as the format does: texts by their bytes. */
  #compare(a: number, b: number): number {
    const { words } = this.#values;
    const [aLo, aHi, bLo, bHi] = [words[a * 2], words[a * 2 + 1], words[b * 2], words[b * 2 + 1]];
    switch (this.#type) {
      case 'text':
        return compareBytes(this.#texts.get(aLo), this.#texts.get(bLo));
      case 'int32':
        return (aLo | 0) - (bLo | 0);
      case 'uint64':
        return aHi - bHi || aLo - bLo;
      default:
        return (aHi | 0) - (bHi | 0) || aLo - bLo;
    }
  }
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return a[at] - b[at];
  return a.length - b.length;
}
