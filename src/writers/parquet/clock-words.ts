import type { Value } from './chunk-values.ts';

const WORD = 2 ** 32;
/** High words of int64 are below this, as signed numbers. */
const MAX_HIGH = 2 ** 31;

/** Sets a value to a time: the start of a clock, which may be beyond 2^53, and nanoseconds since then. */
export class ClockWords {
  readonly #lo: number;
  readonly #hi: number;

  /** @param startNs time 0 */
  constructor(startNs: bigint) {
    this.#lo = Number(BigInt.asUintN(32, startNs));
    this.#hi = Number(startNs >> 32n);
  }

  /** @returns false if the time is beyond int64 */
  set(value: Value, timeNs: number): boolean {
    // hot
    const high = Math.floor(timeNs / WORD);
    const low = this.#lo + (timeNs - high * WORD);
    const carry = low >= WORD ? 1 : 0;
    const sum = this.#hi + high + carry;
    value.lo = low - carry * WORD;
    value.hi = sum;
    return sum >= -MAX_HIGH && sum < MAX_HIGH;
  }
}
