/** About what an entry of a map takes. Observed: Node 20. */
const ENTRY_BYTES = 64;

/** Exact periods of samples minus the doubles that stand for them, by the records' positions in the file. Up to 2^53 there is none. */
export class PeriodRemainders {
  readonly #ofRecord = new Map<number, number>();

  /** Whether there is none. */
  get isEmpty(): boolean {
    return this.#ofRecord.size === 0;
  }

  /** About what the remainders of waiting records take. */
  get heldObjectBytes(): number {
    return this.#ofRecord.size * ENTRY_BYTES;
  }

  /** Notes a period of 64 bits, given as two words, of the record at position `nr`. */
  note(nr: number, lo: number, hi: number): void {
    const remainder = remainderOf(lo, hi);
    if (remainder !== 0) this.#ofRecord.set(nr, remainder);
  }

  /** Removes and returns the remainder of the record at position `nr`; 0 for most records. */
  take(nr: number): number {
    const remainder = this.#ofRecord.get(nr) ?? 0;
    if (remainder !== 0) this.#ofRecord.delete(nr);
    return remainder;
  }
}

/** An unsigned 64-bit number, given as two words, minus the double nearest to it: negative where that was rounded up. */
export function remainderOf(lo: number, hi: number): number {
  return Number(((BigInt(hi) << 32n) | BigInt(lo)) - BigInt(hi * 0x1_0000_0000 + lo));
}
