import { PerfconvError } from '../base/problems/errors.ts';

/** Offsets of names are kept in 32 bits. */
const MAX_SIZE_BYTES = 2 ** 32;

/**
 * The bytes that names are in, as they are in files. A file may have two tables of hundreds of megabytes: they stay apart, since a copy that joins them would
 * take as much memory again. Offsets count through all parts; no name is in two of them.
 */
export class NameBytes {
  readonly #parts: Uint8Array[] = [];
  /** The offset of the first byte of each part. */
  readonly #starts: number[] = [];
  #sizeBytes = 0;

  constructor(...parts: readonly Uint8Array[]) {
    for (const part of parts) this.add(part);
  }

  /**
   * @returns the offset of the part's first byte
   * @throws PerfconvError `limit` if there are more bytes than offsets can tell
   */
  add(part: Uint8Array): number {
    const start = this.#sizeBytes;
    if (start + part.length > MAX_SIZE_BYTES) throw new PerfconvError('limit', 'its names take more than 4 GB', { record: 'ELF symbol table' });
    this.#parts.push(part);
    this.#starts.push(start);
    this.#sizeBytes += part.length;
    return start;
  }

  /** The bytes of a name; those that are there, if it is not all in one part. */
  slice(offset: number, length: number): Uint8Array {
    const part = this.#partOf(offset);
    const at = offset - this.#starts[part];
    return this.#parts[part].subarray(at, at + length);
  }

  /** One byte; undefined beyond the end. */
  byteAt(offset: number): number | undefined {
    const part = this.#partOf(offset);
    return this.#parts[part][offset - this.#starts[part]];
  }

  /** There are two or three parts at most, and nearly all names are in the first one. */
  #partOf(offset: number): number {
    let part = 0;
    while (part + 1 < this.#starts.length && offset >= this.#starts[part + 1]) part++;
    return part;
  }
}
