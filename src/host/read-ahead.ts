/** Reads of fewer bytes look something up; no other follows behind them. */
const MIN_READ_BYTES = 1 << 20;

/** Reads a file's bytes as `read` does of the system: resolves to how many there were. */
export type ReadBytes = (position: number, target: Uint8Array) => Promise<number>;

/**
 * Reads what follows the last large read of a file while that one is worked on: a disk takes about as long as the work.
 * What nobody asks for next is thrown away.
 */
export class ReadAhead {
  readonly #read: ReadBytes;
  #bytes = new Uint8Array();
  /** Where the bytes are from. */
  #position = -1;
  /** How many of them there are; −1 where they could not be read. */
  #count: Promise<number> | undefined;

  constructor(read: ReadBytes) {
    this.#read = read;
  }

  /** Reads from `position` on into `target`: what was read ahead, or else from the file. @throws whatever reading throws */
  async readAt(position: number, target: Uint8Array): Promise<number> {
    const count = (await this.#take(position, target)) || (await this.#read(position, target));
    if (target.length >= MIN_READ_BYTES && count > 0) {
      const unused = this.#count;
      if (unused !== undefined) await unused;
      // A position of −1: somebody is about to take the bytes, which must stay until then.
      if (this.#count === unused && (unused === undefined || this.#position >= 0)) this.#begin(position + count, target.length);
    }
    return count;
  }

  /** Copies what was read ahead from a position on. @returns 0 where nothing was */
  async #take(position: number, target: Uint8Array): Promise<number> {
    const pending = this.#count;
    if (pending === undefined || position !== this.#position) return 0;
    // From here on, nobody else waits for the same bytes.
    this.#position = -1;
    const count = await pending;
    const taken = Math.min(count, target.length);
    if (taken > 0) target.set(this.#bytes.subarray(0, taken));
    this.#count = undefined;
    return Math.max(0, taken);
  }

  /** @param sizeBytes what was asked for last; next time it may be less by part of a record, and bytes beyond would be read twice */
  #begin(position: number, sizeBytes: number): void {
    const wanted = sizeBytes - (sizeBytes % MIN_READ_BYTES);
    if (this.#bytes.length < wanted) this.#bytes = new Uint8Array(wanted);
    this.#position = position;
    // Whoever asks for these bytes finds out what is wrong with them.
    this.#count = this.#read(position, this.#bytes.subarray(0, wanted)).catch(() => -1);
  }
}
