/**
 * Prints times in the local time zone as perf script prints its field `tod`: `2026-11-21 11:44:12.473786`. Decimals are
 * cut off, not rounded. Source of the format: observed, perf 6.1.
 */
export class TimeOfDay {
  readonly #startSeconds: number;
  readonly #startNanoseconds: number;
  /** The last second that was printed, and its text: most samples are in the same second as their predecessor. */
  #second = Number.NaN;
  #secondText = '';

  /** @param startNs Unix time in nanoseconds of time 0 */
  constructor(startNs: bigint) {
    const nanoseconds = ((startNs % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
    this.#startNanoseconds = Number(nanoseconds);
    this.#startSeconds = Number((startNs - nanoseconds) / 1_000_000_000n);
  }

  /** @param timeNs whole nanoseconds since time 0 */
  text(timeNs: number, decimals: 6 | 9): string {
    const seconds = Math.floor(timeNs / 1e9);
    let nanoseconds = this.#startNanoseconds + (timeNs - seconds * 1e9);
    let second = this.#startSeconds + seconds;
    if (nanoseconds >= 1e9) {
      nanoseconds -= 1e9;
      second++;
    }
    if (second !== this.#second) {
      this.#second = second;
      this.#secondText = secondText(new Date(second * 1000));
    }
    return `${this.#secondText}.${String(nanoseconds).padStart(9, '0').slice(0, decimals)}`;
  }
}

/** `no date` for a time that a Date cannot hold, which a damaged recording may have. */
function secondText(date: Date): string {
  if (Number.isNaN(date.getTime())) return 'no date';
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
