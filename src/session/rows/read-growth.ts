import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { lostInSum } from '../../base/tables/exact-sums.ts';

/** About how many bytes the last value of a counter needs. Observed: Node 20. */
const VALUE_BYTES = 128;

/** A counter's value when it was last read, as two words. */
interface LastValue {
  high: number;
  low: number;
}

/**
 * What a sample with PERF_SAMPLE_READ read: one value for each member of the event's group, or only that of the event itself. The lists have one element per
 * value.
 */
export interface ReadSample {
  readonly kind: 'read';
  /** The event that was sampled. */
  readonly event: number;
  /** Whose values these are: those of a thread (its tid) if each thread has its own; −1 for those of the counter, whatever thread ran. */
  readonly thread: number;
  /** Where the sample is in the file, for messages. */
  readonly fileOffset: number;
  readonly events: readonly number[];
  /** Ids of the kernel's events, each of which has its own counter (one per CPU or thread). */
  readonly ids: readonly number[];
  /** The values as two words each: a counter may have exceeded what doubles hold exactly. */
  readonly highs: readonly number[];
  readonly lows: readonly number[];
}

/**
 * Finds how much counters have grown. Their values never decrease, and a sample counts for as much as they have grown since the sample before it in time. A
 * member that has not grown gives no sample. Observed: perf 6.1.
 *
 * For inherited events of tasks (`inherit`, possible together with READ since Linux 6.12), the values are those of the sampled thread, under an id that all
 * threads share. Observed: Linux 6.18. perf 6.13 counts this way; perf 6.1 treats them all as one counter.
 */
export class ReadGrowth {
  /** What {@link measure} last found, side by side: events whose values have grown, by how much, and the remainders that these doubles lack. */
  readonly events: number[] = [];
  readonly periods: number[] = [];
  readonly periodRemainders: number[] = [];
  /** By thread (−1 for no particular one), then by id. */
  readonly #lastValues = new Map<number, Map<number, LastValue>>();
  readonly #keepsOwnPeriod: boolean;
  readonly #diagnostics: Diagnostics;
  #valueCount = 0;

  /**
   * @param keepsOwnPeriod whether a sample keeps the period that it carries, and values count only for the other events: simpleperf's `--add-counter`. perf
   * counts by the values alone.
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
   * @returns how many samples it counts as, one for each event that has grown; {@link events} and the other lists then have that many elements
   */
  measure(read: ReadSample, sample: { readonly period: number; readonly periodRemainder: number }): number {
    this.events.length = 0;
    this.periods.length = 0;
    this.periodRemainders.length = 0;
    if (this.#keepsOwnPeriod) this.#add(read.event, sample.period, sample.periodRemainder);
    const lastValues = this.#lastValuesOf(read.thread);
    // If a value has decreased, another thread has the number now, and its values began at 0.
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

/** A counter's last value; 0 if it is read for the first time. */
function lastValueOf(lastValues: Map<number, LastValue>, id: number): LastValue {
  let value = lastValues.get(id);
  if (value === undefined) {
    value = { high: 0, low: 0 };
    lastValues.set(id, value);
  }
  return value;
}
