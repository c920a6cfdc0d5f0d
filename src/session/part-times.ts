/**
 * How far in time the files of a directory recording have been read. Each holds what one buffer of the kernel held, so it is
 * in order but for records that overtook one another by little; and none says anything of the others.
 */
export class PartTimes {
  readonly #newest: Float64Array;
  /** The newest time when the piece before was read: nothing older comes any more. */
  readonly #settled: Float64Array;

  #isFirstPiece = true;

  /** @param count number of files */
  constructor(count: number) {
    this.#newest = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
    this.#settled = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
  }

  /**
   * Notes that a piece of a part was read.
   * @param newestTime of the records since the last call; −Infinity when none has a time. Before the first call these are
   * also the records of the file `data`, which may be newer than all of the part's: that time tells nothing of the part
   * @returns the time up to which all parts are settled
   */
  endPiece(part: number, newestTime: number, isLast: boolean): number {
    this.#settled[part] = isLast ? Number.POSITIVE_INFINITY : this.#newest[part];
    if (!this.#isFirstPiece) this.#newest[part] = Math.max(this.#newest[part], newestTime);
    this.#isFirstPiece = false;
    return this.#settled.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY);
  }

  newestOf(part: number): number {
    return this.#newest[part];
  }
}
