/** What doubles leave out of the periods of samples, by the records' positions in the file: of periods up to 2^53 nothing. */
export class PeriodRemainders {
  readonly #ofRecord = new Map<number, number>();

  /** Whether there is none. */
  get isEmpty(): boolean {
    return this.#ofRecord.size === 0;
  }

  /** Notes a period of 64 bits, given as two words, of the record at position `nr`. */
  note(nr: number, lo: number, hi: number): void {
    const remainder = remainderOf(lo, hi);
    if (remainder !== 0) this.#ofRecord.set(nr, remainder);
  }

  /** What belongs to the record at position `nr`, which is not asked for again; 0 for most. */
  take(nr: number): number {
    const remainder = this.#ofRecord.get(nr) ?? 0;
    if (remainder !== 0) this.#ofRecord.delete(nr);
    return remainder;
  }
}

/** What an unsigned number of 64 bits, given as two words, has more than its double; negative where that is rounded up. */
export function remainderOf(lo: number, hi: number): number {
  return Number(((BigInt(hi) << 32n) | BigInt(lo)) - BigInt(hi * 0x1_0000_0000 + lo));
}
