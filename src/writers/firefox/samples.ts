import { grown } from '../../base/tables/growable.ts';
import type { Profile, ProfileEvent } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import type { Weight } from '../../profile/weight.ts';
import type { JsonWriter } from '../json-text.ts';
import type { SampleGroup } from '../sample-groups.ts';
import { wholeNumber } from '../whole-number.ts';
import { putDecimal, putIndexOrNull, writeColumn } from './json-columns.ts';
import type { SharedTables } from './shared-tables.ts';
import type { FirefoxThread } from './threads.ts';
import { intervalNsOf, measuresTime, type TimeUse, timeUseOf } from './time-use.ts';

/** Rows of the format's sample table that are not samples: the first ends the time of the sample before it, the second begins a time in which nothing ran. */
const END_OF_RUN = -1;
const IDLE = -2;
/** How many intervals without a sample end a run. In a shorter gap, the CPU use is spread over the gap. */
const MAX_GAP = 10;
const NS_DECIMALS = 6;
const MICROSECOND = 1000;

export interface SampleWriterOptions {
  readonly weight: Weight;
  /** Whether to round each time and weight to two or three digits, as in files of many samples. */
  readonly isRounded: boolean;
}

/** What the samples of a thread tell about time, and to what it is rounded. */
interface TimeScale {
  readonly use: TimeUse;
  /** Nanoseconds between two samples while the thread runs. */
  readonly intervalNs: number;
  /** What weights and CPU use are rounded to. */
  readonly stepNs: number;
  /** What times are rounded to. */
  readonly timeUnitNs: number;
}

/** Writes the sample tables of threads, one after the other. The buffers are reused for each. */
export class SampleWriter {
  readonly #profile: Profile;
  readonly #samples: SampleTable;
  readonly #tables: SharedTables;
  readonly #weight: Weight;
  readonly #isRounded: boolean;
  /** Whether the recording has events that say how long threads ran. Then all others are shown without CPU use. */
  readonly #hasTimeUse: boolean;
  /**
   * Rows of the current thread: a row of the sample table, or one of the constants above; and its time, in whole units that all of the thread's samples share.
   */
  #rows = new Int32Array(1024);
  #times = new Float64Array(1024);
  #size = 0;
  /** By stack + 1, for the current thread: how many samples are still to come, and how much weight was not written yet. */
  #left = new Uint32Array(0);
  #carry = new Float64Array(0);
  /** Number of samples without a time. */
  untimedSamples = 0;

  constructor(profile: Profile, samples: SampleTable, tables: SharedTables, { weight, isRounded }: SampleWriterOptions) {
    this.#profile = profile;
    this.#samples = samples;
    this.#tables = tables;
    this.#weight = weight;
    this.#isRounded = isRounded;
    this.#hasTimeUse = profile.events.some((event) => event.samples > 0 && measuresTime(timeUseOf(event)));
    if (this.#isRounded) {
      this.#left = new Uint32Array(profile.stacks.size + 1);
      this.#carry = new Float64Array(profile.stacks.size + 1);
    }
  }

  /** Writes the sample table of a thread, as an object. */
  async write(out: JsonWriter, thread: FirefoxThread): Promise<void> {
    const { group } = thread;
    const event = this.#profile.events[group.event];
    const scale = this.#scaleOf(event);
    this.#lay(group, scale);
    const { stack } = this.#samples;
    const isTime = this.#weight === 'period' && event.unit === 'nanoseconds';

    out.put(`{"length":${this.#size},"weightType":"${isTime ? 'tracing-ms' : 'samples'}"`);
    await writeColumn(out, 'stack', this.#size, (at) => {
      const row = this.#rows[at];
      // A run ends with the stack of its last sample.
      putIndexOrNull(out, row === IDLE ? -1 : this.#tables.rowOf(stack[row === END_OF_RUN ? this.#rows[at - 1] : row]));
    });
    let last = 0;
    const timeDecimals = NS_DECIMALS - Math.round(Math.log10(scale.timeUnitNs));
    await writeColumn(out, 'timeDeltas', this.#size, (at) => {
      putDecimal(out, this.#times[at] - last, timeDecimals);
      last = this.#times[at];
    });
    await this.#writeWeights(out, group, isTime, scale.stepNs);
    await this.#writeCpuUse(out, thread.isIdle, scale);
    out.put('}');
  }

  #scaleOf(event: ProfileEvent): TimeScale {
    const intervalNs = intervalNsOf(event);
    const stepNs = this.#isRounded ? stepOf(intervalNs) : 1;
    const timeUnitNs = Math.max(MICROSECOND, this.#isRounded ? timeUnitOf(intervalNs) : stepNs);
    return { use: timeUseOf(event), intervalNs, stepNs, timeUnitNs };
  }

  /** Lays out the rows of a thread: its samples, and the ends of its runs. */
  #lay({ rows }: SampleGroup, { use, intervalNs, timeUnitNs }: TimeScale): void {
    const { timeNs } = this.#samples;
    this.#size = 0;
    let lastNs = 0;
    let lengthNs = 0;
    for (let i = 0; i < rows.length; i++) {
      // hot
      let atNs = timeNs[rows[i]];
      if (Number.isNaN(atNs)) {
        this.untimedSamples++;
        atNs = i === 0 ? 0 : lastNs + intervalNs;
      }
      if (measuresTime(use) && i > 0 && atNs - lastNs > lengthNs + MAX_GAP * intervalNs) this.#endRun(lastNs + lengthNs, timeUnitNs);
      this.#push(rows[i], atNs, timeUnitNs);
      lastNs = atNs;
      lengthNs = this.#lengthNs(use, rows[i], intervalNs);
    }
    if (measuresTime(use)) this.#endRun(lastNs + lengthNs, timeUnitNs);
  }

  #endRun(timeNs: number, timeUnitNs: number): void {
    this.#push(END_OF_RUN, timeNs, timeUnitNs);
    this.#push(IDLE, timeNs, timeUnitNs);
  }

  #push(row: number, timeNs: number, timeUnitNs: number): void {
    const at = this.#size++;
    if (at === this.#rows.length) {
      this.#rows = grown(this.#rows, at + 1);
      this.#times = grown(this.#times, at + 1);
    }
    this.#rows[at] = row;
    this.#times[at] = Math.max(at === 0 ? 0 : this.#times[at - 1], Math.round(timeNs / timeUnitNs));
  }

  /** How long the thread ran for a sample. */
  #lengthNs(use: TimeUse, row: number, intervalNs: number): number {
    return use === 'clock' ? this.#samples.period[row] : intervalNs;
  }

  /** Writes weights in milliseconds if they are times, else as counted; `null` if each is 1. */
  async #writeWeights(out: JsonWriter, { rows }: SampleGroup, isTime: boolean, stepNs: number): Promise<void> {
    const { period } = this.#samples;
    const isSamples = this.#weight === 'samples';
    // Rows that are not samples have weight 0.
    if (!isTime && this.#size === rows.length && (isSamples || rows.every((row) => period[row] === 1))) {
      out.put(',\n"weight":null');
      return;
    }
    if (isTime && stepNs > 1) {
      await this.#writeRoundedTimes(out, rows, stepNs);
      return;
    }
    await writeColumn(out, 'weight', this.#size, (at) => {
      const row = this.#rows[at];
      if (row < 0) out.number(0);
      else if (isSamples) out.number(1);
      else this.#putPeriod(out, row, isTime);
    });
  }

  #putPeriod(out: JsonWriter, row: number, isTime: boolean): void {
    const period = this.#samples.period[row];
    if (period <= Number.MAX_SAFE_INTEGER) putDecimal(out, period, isTime ? NS_DECIMALS : 0);
    else out.put(withPoint(wholeNumber(period, this.#samples.periodRemainder(row)), isTime ? NS_DECIMALS : 0));
  }

  /**
   * Rounds weights to whole steps and adds the remainder to the next sample of the same stack. The last one gets the exact rest, so that the total of each
   * stack is that of the recording, to the nanosecond.
   */
  async #writeRoundedTimes(out: JsonWriter, rows: Uint32Array, stepNs: number): Promise<void> {
    const { period, stack } = this.#samples;
    const left = this.#left;
    const carry = this.#carry;
    for (let i = 0; i < rows.length; i++) left[stack[rows[i]] + 1]++;
    await writeColumn(out, 'weight', this.#size, (at) => {
      // hot
      const row = this.#rows[at];
      if (row < 0) {
        out.number(0);
        return;
      }
      if (!(period[row] <= Number.MAX_SAFE_INTEGER)) {
        left[stack[row] + 1]--;
        this.#putPeriod(out, row, true);
        return;
      }
      const slot = stack[row] + 1;
      const wantedNs = carry[slot] + period[row];
      const weightNs = --left[slot] === 0 ? wantedNs : Math.max(0, Math.round(wantedNs / stepNs) * stepNs);
      carry[slot] = left[slot] === 0 ? 0 : wantedNs - weightNs;
      putDecimal(out, Math.max(0, weightNs), NS_DECIMALS);
    });
  }

  /**
   * Writes the CPU time between the row before and this one, in microseconds. Without it, the viewer shows 100 % wherever there are samples. So it is left out
   * for counters if no event of the recording tells how long threads ran, and for clocks in a large file, where it would be a fifth of the bytes and say the
   * same.
   */
  async #writeCpuUse(out: JsonWriter, isIdle: boolean, { use, intervalNs, stepNs }: TimeScale): Promise<void> {
    if (use === 'unknown' && !this.#hasTimeUse) return;
    if (this.#isRounded && use === 'clock' && !isIdle) return;
    await writeColumn(out, 'threadCPUDelta', this.#size, (at) => {
      // hot
      const before = at === 0 ? -1 : this.#rows[at - 1];
      if (!measuresTime(use) || isIdle || before < 0) {
        out.number(0);
        return;
      }
      const lengthNs = this.#lengthNs(use, before, intervalNs);
      putDecimal(out, Math.round(lengthNs / stepNs) * stepNs, 3);
    });
  }
}

/** The power of ten that is about a hundredth of an interval, from 1 ns to 1 ms. */
function stepOf(intervalNs: number): number {
  return 10 ** Math.min(NS_DECIMALS, Math.max(0, Math.floor(Math.log10(intervalNs / 50))));
}

/**
 * What times are rounded to in a large file: 0.1 ms for samples in 10 to 100 µs, 1 ms for samples that are further apart. Then most differences have one digit.
 */
function timeUnitOf(intervalNs: number): number {
  return 10 ** Math.min(NS_DECIMALS, Math.max(0, Math.floor(Math.log10(intervalNs * 10))));
}

/** The digits of a whole number, divided by a power of ten. */
function withPoint(digits: string, decimals: number): string {
  if (decimals === 0) return digits;
  const padded = digits.padStart(decimals + 1, '0');
  return `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`;
}
