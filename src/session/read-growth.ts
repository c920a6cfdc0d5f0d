import type { Diagnostics } from '../diagnostics.ts';

/**
 * What a sample with PERF_SAMPLE_READ read: one value for each member of the group that it belongs to, or its own alone.
 * Column i of the lists is one value.
 */
export interface ReadSample {
  readonly kind: 'read';
  /** The event that was sampled, and in which file position, for messages. */
  readonly event: number;
  /** Whose values these are: a thread's own (its tid) where each thread counts for itself; −1 for the counter's, whoever ran. */
  readonly thread: number;
  readonly fileOffset: number;
  readonly events: readonly number[];
  /** Of the kernel's events, which count each by itself (one per CPU or thread). */
  readonly ids: readonly number[];
  readonly values: readonly number[];
}

/**
 * Values of counters only ever grow: what a sample stands for is what they have grown by since the sample before it in
 * time. A member that has not moved gives no sample. Observed: perf 6.1.
 *
 * Of inherited events of tasks (`inherit`, since Linux 6.12 together with READ) the values are those of the thread that was
 * sampled, under the id that all threads have. Observed: Linux 6.18. perf 6.13 counts so; perf 6.1 takes them all for one counter.
 */
export class ReadGrowth {
  /** By thread, −1 for no particular one, and id. */
  readonly #lastValues = new Map<number, Map<number, number>>();
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
    const lastValues = this.#lastValuesOf(read.thread);
    // Another thread has the number now, and begins at 0.
    if (read.thread >= 0 && read.values.some((value, i) => value < (lastValues.get(read.ids[i]) ?? 0))) lastValues.clear();
    for (let i = 0; i < read.values.length; i++) {
      const id = read.ids[i];
      const growth = read.values[i] - (lastValues.get(id) ?? 0);
      lastValues.set(id, read.values[i]);
      if (growth < 0) {
        this.#diagnostics.add('count-decreased', 'loss', 'a counter read by PERF_RECORD_SAMPLE is lower than before: the value is skipped', read.fileOffset);
      }
      if (growth <= 0 || (ownPeriod >= 0 && read.events[i] === read.event)) continue;
      hasDelivered = true;
      deliver(read.events[i], growth);
    }
    return hasDelivered;
  }

  #lastValuesOf(thread: number): Map<number, number> {
    let values = this.#lastValues.get(thread);
    if (values === undefined) {
      values = new Map();
      this.#lastValues.set(thread, values);
    }
    return values;
  }
}
