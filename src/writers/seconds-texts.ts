/**
 * Prints times as seconds with decimals, which are cut off, not rounded, as perf script does (observed, 6.1). Times count from a start. Their sums with it are
 * exact, without a BigInt for each.
 */
export class SecondsTexts {
  readonly #startSeconds: number;
  readonly #startNanoseconds: number;
  readonly #textOf: (second: number) => string;
  /** The last second that was printed, and its text: most samples are in the same second as their predecessor. */
  #second = Number.NaN;
  #secondText = '';

  /**
   * @param startNs time 0 in nanoseconds
   * @param textOf what stands for whole seconds
   */
  constructor(startNs: bigint, textOf: (second: number) => string) {
    const nanoseconds = ((startNs % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
    this.#startNanoseconds = Number(nanoseconds);
    this.#startSeconds = Number((startNs - nanoseconds) / 1_000_000_000n);
    this.#textOf = textOf;
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
      this.#secondText = this.#textOf(second);
    }
    return `${this.#secondText}.${String(nanoseconds).padStart(9, '0').slice(0, decimals)}`;
  }
}
