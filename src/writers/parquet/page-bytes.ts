import { GrowingBytes } from './growing-bytes.ts';

/** Bits and bytes that the values of a run take. Values are packed in whole bytes, so that what repeats in them is alike for a compressor, too. */
const BITS_PER_BYTE = 8;
/** A packed run consists of groups of this many values. */
const GROUP = 8;

/**
 * Repetition or definition levels of a page, as runs of equal ones. Source: parquet-format, Encodings.md, "Run Length Encoding / Bit-Packing Hybrid". Packed
 * bits would often be no longer, but compress badly: stacks of equal depth are the same two runs.
 */
export class LevelRuns {
  readonly #runs = new GrowingBytes();
  #level = 0;
  #count = 0;

  clear(): void {
    this.#runs.clear();
    this.#count = 0;
  }

  add(level: number, count: number): void {
    // hot
    if (count === 0) return;
    if (level !== this.#level) {
      this.#endRun();
      this.#level = level;
    }
    this.#count += count;
  }

  /** All runs; valid until one is added. */
  end(): Uint8Array {
    this.#endRun();
    return this.#runs.collected;
  }

  #endRun(): void {
    if (this.#count === 0) return;
    this.#runs.varint(this.#count * 2);
    // Levels are below 256.
    this.#runs.byte(this.#level);
    this.#count = 0;
  }
}

/** Bytes that a value's place in a dictionary takes; 0 if the dictionary has only one value. */
export function indexWidth(dictionarySize: number): number {
  if (dictionarySize <= 1) return 0;
  return Math.ceil((32 - Math.clz32(dictionarySize - 1)) / BITS_PER_BYTE);
}

/**
 * Adds places in a dictionary in the encoding RLE_DICTIONARY: the number of bits, and a single run.
 * @param packed the places, each in `width` bytes; not looked at if `width` is 0
 * @param count how many there are
 */
export function putIndexes(page: GrowingBytes, packed: Uint8Array, count: number, width: number): void {
  if (width === 0) {
    // A run of zeros. Not all readers take numbers of no bits.
    page.byte(1);
    if (count === 0) return;
    page.varint(count * 2);
    page.byte(0);
    return;
  }
  page.byte(width * BITS_PER_BYTE);
  const groups = Math.ceil(count / GROUP);
  page.varint(groups * 2 + 1);
  page.append(packed);
  for (let missing = groups * GROUP - count; missing > 0; missing--) page.number(0, width);
}
