import type { Diagnostics } from '../diagnostics.ts';

/**
 * What a sample with PERF_SAMPLE_READ read: one value for each member of the group that it belongs to, or its own alone.
 * Column i of the lists is one value.
 */
export interface ReadSample {
  readonly kind: 'read';
  /** The event that was sampled, and in which file position, for messages. */
  readonly event: number;
  readonly fileOffset: number;
  readonly events: readonly number[];
  /** Of the kernel's events, which count each by itself (one per CPU or thread). */
  readonly ids: readonly number[];
  readonly values: readonly number[];
}

/**
 * Values of counters only ever grow: what a sample stands for is what they have grown by since the sample before it in
 * time. A member that has not moved gives no sample. Observed: perf 6.1.
 */
export class ReadGrowth {
  readonly #lastValues = new Map<number, number>();
  readonly #diagnostics: Diagnostics;

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  /**
   * Takes the values of the next sample in time, and calls `deliver` for each event that has moved.
   * @param ownPeriod the period that the sample itself carries, if that is to count for its own event; −1 otherwise
   * @returns whether there was any
   */
  take(read: ReadSample, ownPeriod: number, deliver: (event: number, period: number) => void): boolean {
    let hasDelivered = ownPeriod >= 0;
    if (hasDelivered) deliver(read.event, ownPeriod);
    for (let i = 0; i < read.values.length; i++) {
      const id = read.ids[i];
      const growth = read.values[i] - (this.#lastValues.get(id) ?? 0);
      this.#lastValues.set(id, read.values[i]);
      if (growth < 0) {
        this.#diagnostics.add('count-decreased', 'loss', 'a counter read by PERF_RECORD_SAMPLE is lower than before: the value is skipped', read.fileOffset);
      }
      if (growth <= 0 || (ownPeriod >= 0 && read.events[i] === read.event)) continue;
      hasDelivered = true;
      deliver(read.events[i], growth);
    }
    return hasDelivered;
  }
}
