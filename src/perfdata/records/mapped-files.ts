import type { ByteView } from '../../base/bytes/byte-view.ts';

/** Number of places for results: about as many as there are files in the maps of a whole system. */
const SLOTS = 4096;
/** Results are kept for bytes of at most this many words: longer paths are rare. Together with {@link SLOTS}, this limits the memory. */
const MAX_WORDS = 64;

/** Bytes that were read, and what was made of them. */
interface KeptFile<File> {
  readonly layout: object;
  readonly words: Uint32Array;
  readonly file: File;
}

/**
 * Reads what maps say about their files only once for all maps that say the same. Every process maps the same few libraries again, and a recording of a build
 * has a hundred thousand such records: comparing bytes is much cheaper than making texts of them.
 */
export class MappedFiles<File> {
  readonly #kept: (KeptFile<File> | undefined)[] = new Array(SLOTS).fill(undefined);

  /**
   * What the bytes [start, end) say.
   * @param layout how they are laid out; the same bytes mean something else in other layouts
   * @param read reads them, if they are new
   */
  of(view: ByteView, start: number, end: number, layout: object, read: () => File): File {
    const count = (end - start) >>> 2;
    if (count > MAX_WORDS || start + 4 * count !== end) return read();
    const slot = hashOf(view, start, end) % SLOTS;
    const kept = this.#kept[slot];
    if (kept?.layout === layout && isEqual(kept.words, view, start, count)) return kept.file;
    const file = read();
    const words = new Uint32Array(count);
    for (let i = 0; i < count; i++) words[i] = view.u32(start + 4 * i);
    this.#kept[slot] = { layout, words, file };
    return file;
  }
}

function hashOf(view: ByteView, start: number, end: number): number {
  // hot
  let hash = 0;
  for (let at = start; at < end; at += 4) {
    hash = Math.imul(hash ^ view.u32(at), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash >>> 0;
}

function isEqual(words: Uint32Array, view: ByteView, start: number, count: number): boolean {
  // hot
  if (words.length !== count) return false;
  for (let i = 0; i < count; i++) if (words[i] !== view.u32(start + 4 * i)) return false;
  return true;
}
