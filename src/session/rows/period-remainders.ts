/** About how many bytes an entry of a map needs. Observed: Node 20. */
const ENTRY_BYTES = 64;

/** How many positions share a map: V8 does not hold more than 2^24 entries in one. */
const RECORDS_PER_MAP = 1 << 16;

/** Exact periods of waiting samples minus the doubles in their rows, by the records' positions in the file. Periods up to 2^53 have none. */
export class PeriodRemainders {
  /** By position divided by {@link RECORDS_PER_MAP}, then by position. None is empty. */
  readonly #maps = new Map<number, Map<number, number>>();
  #size = 0;

  /** Whether there is none. */
  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** About how many bytes they need. */
  get heldObjectBytes(): number {
    return this.#size * ENTRY_BYTES;
  }

  /** Keeps the remainder of the record at position `nr`, which has none yet. @param remainder not 0 */
  put(nr: number, remainder: number): void {
    const key = Math.floor(nr / RECORDS_PER_MAP);
    let map = this.#maps.get(key);
    if (map === undefined) {
      map = new Map();
      this.#maps.set(key, map);
    }
    map.set(nr, remainder);
    this.#size++;
  }

  /** Removes and returns the remainder of the record at position `nr`; 0 for most records. */
  take(nr: number): number {
    const key = Math.floor(nr / RECORDS_PER_MAP);
    const map = this.#maps.get(key);
    const remainder = map?.get(nr);
    if (map === undefined || remainder === undefined) return 0;
    map.delete(nr);
    if (map.size === 0) this.#maps.delete(key);
    this.#size--;
    return remainder;
  }
}
