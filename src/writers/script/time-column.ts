import { SecondsTexts } from '../seconds-texts.ts';
import type { ScriptTimes } from './script-times.ts';

/** The field `time` of one sample after the other. */
export class TimeColumn {
  readonly #texts: SecondsTexts;
  readonly #decimals: 6 | 9;
  readonly #times: ScriptTimes | undefined;
  /** The time that differences count from; NaN before the first one. */
  #from = Number.NaN;

  /**
   * @param startNs time 0 in nanoseconds
   * @param times what the field counts from; undefined for the recording's clock
   */
  constructor(startNs: bigint, decimals: 6 | 9, times: ScriptTimes | undefined) {
    this.#texts = new SecondsTexts(times === undefined ? startNs : 0n, (second) => String(second).padStart(5));
    this.#decimals = decimals;
    this.#times = times;
  }

  /** @param timeNs whole nanoseconds since time 0 */
  next(timeNs: number): string {
    return this.#times === undefined ? this.#texts.text(timeNs, this.#decimals) : this.#difference(this.#elapsed(timeNs));
  }

  /** A sample may come after newer ones: then the difference is negative. */
  #difference(elapsedNs: number): string {
    const text = this.#texts.text(Math.abs(elapsedNs), this.#decimals);
    return elapsedNs < 0 ? `-${text.trimStart()}`.padStart(text.length) : text;
  }

  #elapsed(timeNs: number): number {
    const isFirst = Number.isNaN(this.#from);
    const elapsed = isFirst ? 0 : timeNs - this.#from;
    if (isFirst || this.#times === 'delta') this.#from = timeNs;
    return elapsed;
  }
}
