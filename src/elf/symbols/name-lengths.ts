import { PerfconvError } from '../../base/problems/errors.ts';

/** How many times the size of a string table all names together may have, and how much in any case. */
const MAX_SHARING = 16;
const FREE_NAME_BYTES = 1 << 20;

/**
 * Measures names in a string table. Names may share their ends, but only a hostile file has so many long ones that
 * reading them would never end.
 */
export class NameLengths {
  readonly #names: Uint8Array;
  readonly #file: string;
  #bytesLeft: number;

  /** @param file name of the file with that table */
  constructor(names: Uint8Array, file: string) {
    this.#names = names;
    this.#file = file;
    this.#bytesLeft = MAX_SHARING * names.length + FREE_NAME_BYTES;
  }

  /** How many bytes further names may have. */
  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /** @throws PerfconvError `damaged` when names overlap beyond reason */
  at(offset: number): number {
    // hot
    const end = this.#names.indexOf(0, offset);
    const length = (end < 0 ? this.#names.length : end) - offset;
    this.count(length);
    return length;
  }

  /** Counts the bytes of names that something else measured. @throws see {@link at} */
  count(sizeBytes: number): void {
    this.#bytesLeft -= sizeBytes;
    if (this.#bytesLeft < 0) throw new PerfconvError('damaged', 'symbol names overlap', { file: this.#file, record: 'ELF symbol table' });
  }
}
