import type { Diagnostics } from '../base/diagnostics.ts';
import { lostInSum } from '../base/exact-sums.ts';

/** About how many bytes the last value of a counter needs. Observed: Node 20. */
const VALUE_BYTES = 128;

/** What a counter was when it was read last, as two words. */
interface LastValue {
  high: number;
  low: number;
}

/**
 * What a sample with PERF_SAMPLE_READ read: one value for each member of the group that it belongs to, or its own alone.
 * Column i of the lists is one value.
 */
export interface ReadSample {
  readonly kind: 'read';
  /** The event that was sampled. */
  readonly event: number;
  /** Whose values these are: a thread's own (its tid) where each thread counts for itself; −1 for the counter's, whoever ran. */
  readonly thread: number;
  /** Where the sample lies in the file, for messages. */
  readonly fileOffset: number;
  readonly events: readonly number[];
  /** Of the kernel's events, which count each by itself (one per CPU or thread). */
  readonly ids: readonly number[];
  /** The values as two words each: a counter may have run beyond what doubles hold. */
  readonly highs: readonly number[];
  readonly lows: readonly number[];
}

/**
 * Values of counters only ever grow: a sample counts what they have grown by since the sample before it in
 * time. A member that has not moved gives no sample. Observed: perf 6.1.
 *
 * Of inherited events of tasks (`inherit`, since Linux 6.12 together with READ) the values are those of the thread that was
 * sampled, under the id that all threads have. Observed: Linux 6.18. perf 6.13 counts so; perf 6.1 treats them all as one counter.
 */
export class ReadGrowth {
  /** What {@link measure} found last, side by side: events whose values have grown, by how much, and what those doubles leave out. */
  readonly events: number[] = [];
  readonly periods: number[] = [];
  readonly periodRemainders: number[] = [];
  /** By thread, −1 for no particular one, and id. */
  readonly #lastValues = new Map<number, Map<number, LastValue>>();
  readonly #keepsOwnPeriod: boolean;
  readonly #diagnostics: Diagnostics;
  #valueCount = 0;

  /**
   * @param keepsOwnPeriod let a sample keep the period that it carries, and be one of the other events with what their values
   * have grown by: simpleperf's `--add-counter`. perf counts by the values alone.
   */
  constructor(keepsOwnPeriod: boolean, diagnostics: Diagnostics) {
    this.#keepsOwnPeriod = keepsOwnPeriod;
    this.#diagnostics = diagnostics;
  }

  /** About how many bytes the last values need. */
  get heldObjectBytes(): number {
    return this.#valueCount * VALUE_BYTES;
  }

  /**
   * Compares the values of the next sample in time with those before it.
   * @param sample the period that it carries
   * @returns how many samples it amounts to, one for each event that has moved; {@link events} and the other lists have so many elements then
   */
  measure(read: ReadSample, sample: { readonly period: number; readonly periodRemainder: number }): number {
    this.events.length = 0;
    this.periods.length = 0;
    this.periodRemainders.length = 0;
    if (this.#keepsOwnPeriod) this.#add(read.event, sample.period, sample.periodRemainder);
    const lastValues = this.#lastValuesOf(read.thread);
    // Another thread has the number now, and begins at 0.
    const knownCount = lastValues.size;
    if (read.thread >= 0 && hasDecreased(read, lastValues)) lastValues.clear();
    for (let i = 0; i < read.ids.length; i++) {
      const last = lastValueOf(lastValues, read.ids[i]);
      const highGrowth = (read.highs[i] - last.high) * 0x1_0000_0000;
      const lowGrowth = read.lows[i] - last.low;
      const growth = highGrowth + lowGrowth;
      last.high = read.highs[i];
      last.low = read.lows[i];
      if (growth < 0) {
        this.#diagnostics.add('count-decreased', 'loss', 'a counter read by PERF_RECORD_SAMPLE is lower than before: the value is skipped', read.fileOffset);
      }
      if (growth <= 0 || (this.#keepsOwnPeriod && read.events[i] === read.event)) continue;
      this.#add(read.events[i], growth, growth > Number.MAX_SAFE_INTEGER ? lostInSum(highGrowth, lowGrowth) : 0);
    }
    this.#valueCount += lastValues.size - knownCount;
    return this.events.length;
  }

  #add(event: number, period: number, periodRemainder: number): void {
    this.events.push(event);
    this.periods.push(period);
    this.periodRemainders.push(periodRemainder);
  }

  #lastValuesOf(thread: number): Map<number, LastValue> {
    let values = this.#lastValues.get(thread);
    if (values === undefined) {
      values = new Map();
      this.#lastValues.set(thread, values);
    }
    return values;
  }
}

/** Whether any of the values is lower than it was. */
function hasDecreased({ ids, highs, lows }: ReadSample, lastValues: ReadonlyMap<number, LastValue>): boolean {
  return ids.some((id, i) => {
    const last = lastValues.get(id);
    return last !== undefined && (highs[i] < last.high || (highs[i] === last.high && lows[i] < last.low));
  });
}

/** 0 for a counter that is read for the first time. */
function lastValueOf(lastValues: Map<number, LastValue>, id: number): LastValue {
  let value = lastValues.get(id);
  if (value === undefined) {
    value = { high: 0, low: 0 };
    lastValues.set(id, value);
  }
  return value;
}
