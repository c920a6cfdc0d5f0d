import type { StringTable } from '../../base/tables/string-table.ts';
import { showRawBytes } from '../../base/text/text.ts';
import { TextCache } from '../text-cache.ts';

const ENCODER = new TextEncoder();

/** Texts as UTF-8. Readers refuse anything else, so bytes that are not UTF-8 are written out, as `\xff`. */
export class TextBytes {
  readonly #cache: TextCache<Uint8Array>;

  constructor(strings: StringTable) {
    this.#cache = new TextCache(strings.size, (index) => ENCODER.encode(showRawBytes(strings.get(index))));
  }

  get(index: number): Uint8Array {
    return this.#cache.get(index);
  }
}
