import { lostInSum } from '../../base/tables/exact-sums.ts';
import type { Profile, ProfileEvent } from '../../profile/profile.ts';
import type { Weight } from '../../profile/weight.ts';
import { percentOf } from '../percent.ts';
import type { ReportKey } from '../report/keys.ts';
import type { Sums } from '../report/node-weights.ts';
import type { ReportRow } from '../report/rows.ts';
import { ReportTables } from '../report/tables.ts';
import type { DiffKey } from './keys.ts';

export interface DiffOptions {
  /** Columns that distinguish rows, at least one. Default: `function`. */
  readonly sort?: readonly DiffKey[];
  /** Whether a row also counts the samples of what it called (inclusive time). Default: no. */
  readonly children?: boolean;
  /** What percentages go by. Default: periods. */
  readonly weight?: Weight;
  /** Whether the percentages of both are those of the first recording's total, so that changes are absolute. Default: no, each has its own total. */
  readonly absolute?: boolean;
}

/** Indexes of an event in the first and the second profile. */
export type EventPair = readonly [base: number, next: number];

/** A row of a comparison. */
export interface DiffRow {
  /** One for each key. */
  readonly names: readonly string[];
  /** undefined where it does not occur. */
  readonly base: Sums | undefined;
  readonly next: Sums | undefined;
  readonly basePercent: number;
  readonly nextPercent: number;
  /** In percentage points. */
  readonly change: number;
  /** Two standard errors of the change, in percentage points: see {@link samplingError}. undefined if neither recording samples the event. */
  readonly noise: number | undefined;
}

/** What became of an event. */
export interface DiffTable {
  readonly base: ProfileEvent;
  readonly next: ProfileEvent;
  /** By the absolute value of the change, then by share, then by names. */
  readonly rows: readonly DiffRow[];
  /** The second recording's weight divided by the first one's; undefined if that is 0. */
  readonly ratio: number | undefined;
}

/** What the shares of an event are shares of, in one of the recordings. */
interface Whole {
  readonly weight: number;
  /** How much of it a sample of the recording has on average, in per cent; 0 if there is none. */
  readonly percentPerSample: number;
  /** Whether the event is sampled there: see {@link isSampled}. */
  readonly isSampled: boolean;
}

/** Compares two profiles by function: rows are the same by their names. */
export class ProfileDiff {
  readonly keys: readonly ReportKey[];
  readonly children: boolean;
  readonly absolute: boolean;
  readonly weighsBy: Weight;
  readonly #profiles: readonly [base: Profile, next: Profile];
  readonly #tables: readonly [base: ReportTables, next: ReportTables];
  readonly #pairs: readonly EventPair[];

  /**
   * @param pairs the events that are compared
   * @throws PerfconvError `no-samples` for a profile without any; `usage` for an empty list of sort keys
   */
  constructor(base: Profile, next: Profile, pairs: readonly EventPair[], { sort = ['function'], children = false, weight, absolute = false }: DiffOptions) {
    const options = { sort, children, fileNames: 'comparable' as const, ...(weight && { weight }) };
    this.#profiles = [base, next];
    this.#tables = [new ReportTables(base, options), new ReportTables(next, options)];
    this.#pairs = pairs;
    this.absolute = absolute;
    ({ keys: this.keys, children: this.children, weighsBy: this.weighsBy } = this.#tables[0]);
  }

  /** Makes one table after the other. */
  *tables(): Generator<DiffTable, void, void> {
    for (const pair of this.#pairs) yield this.#tableOf(pair);
  }

  #tableOf(pair: EventPair): DiffTable {
    const [base, next] = pair.map((event, side) => this.#profiles[side].events[event]);
    const [baseTotal, nextTotal] = [this.#weight(base), this.#weight(next)];
    const [baseRows, nextRows] = pair.map((event, side) => this.#sumsOf(this.#tables[side], event));
    const wholes: readonly [base: Whole, next: Whole] = [wholeOf(base, baseTotal, baseTotal), wholeOf(next, nextTotal, this.absolute ? baseTotal : nextTotal)];
    const rows: DiffRow[] = [];
    for (const [key, { names, sums }] of baseRows) rows.push(this.#row(names, sums, nextRows.get(key)?.sums, wholes));
    for (const [key, { names, sums }] of nextRows) if (!baseRows.has(key)) rows.push(this.#row(names, undefined, sums, wholes));
    return { base, next, rows: rows.sort(compareRows), ratio: baseTotal === 0 ? undefined : nextTotal / baseTotal };
  }

  #weight({ samples, period }: Pick<Sums, 'samples' | 'period'>): number {
    return this.weighsBy === 'samples' ? samples : period;
  }

  /** An event's rows by their names: in a string table, a text may occur twice. */
  #sumsOf(tables: ReportTables, event: number): Map<string, { readonly names: readonly string[]; readonly sums: Sums }> {
    const byNames = new Map<string, { readonly names: readonly string[]; readonly sums: Sums }>();
    for (const row of tables.table([event]).rows) {
      const names = row.texts.map((text) => tables.texts.strings.get(text));
      const key = names.join('\0');
      const known = byNames.get(key);
      byNames.set(key, { names, sums: known === undefined ? row : added(known.sums, row) });
    }
    return byNames;
  }

  #row(names: readonly string[], base: Sums | undefined, next: Sums | undefined, [baseWhole, nextWhole]: readonly [base: Whole, next: Whole]): DiffRow {
    const basePercent = base === undefined ? 0 : percentOf(this.#weight(base), baseWhole.weight);
    const nextPercent = next === undefined ? 0 : percentOf(this.#weight(next), nextWhole.weight);
    const errors = [this.#error(basePercent, base, baseWhole), this.#error(nextPercent, next, nextWhole)];
    const noise = baseWhole.isSampled || nextWhole.isSampled ? 2 * Math.hypot(...errors) : undefined;
    return { names, base, next, basePercent, nextPercent, change: nextPercent - basePercent, noise };
  }

  #error(percent: number, sums: Sums | undefined, { isSampled, percentPerSample }: Whole): number {
    if (!isSampled) return 0;
    const samples = sums?.samples ?? 0;
    return samplingError(samples, percent === 0 || samples === 0 ? percentPerSample : percent / samples, this.absolute);
  }
}

/**
 * The standard error of a share that was estimated from a number of samples: that of a binomial distribution, since each sample is in the function or not. For an
 * absolute amount, that of a Poisson distribution. It assumes that samples are independent, and of similar weights.
 *
 * One more sample is counted in the function, and one outside of it: a function that was never seen in a hundred samples may well have a share of one per cent.
 * Source: Agresti and Caffo 2000, who show that differences are then judged rightly also if samples are few.
 *
 * @param samples how many of the samples are in the function
 * @param percentPerSample what one of them counts for
 * @returns in percentage points
 */
export function samplingError(samples: number, percentPerSample: number, isAbsolute = false): number {
  if (percentPerSample === 0) return 0;
  if (isAbsolute) return percentPerSample * Math.sqrt(samples + 1);
  const all = Math.max(100 / percentPerSample, samples) + 2;
  const share = (samples + 1) / all;
  return 100 * Math.sqrt((share * (1 - share)) / all);
}

function wholeOf(event: ProfileEvent, ownWeight: number, weight: number): Whole {
  const percentPerSample = event.samples === 0 ? 0 : percentOf(ownWeight / event.samples, weight);
  return { weight, percentPerSample, isSampled: isSampled(event) };
}

/** Whether an event's samples stand for others: not if each occurrence was recorded, or the weights are times that were measured. */
function isSampled({ isTracepoint, isOffCpuTime, samplePeriod, sampleFreq }: ProfileEvent): boolean {
  return !isTracepoint && isOffCpuTime !== true && !(samplePeriod === 1 && sampleFreq === 0);
}

function added(a: Sums, b: ReportRow): Sums {
  const periodRemainder = a.periodRemainder + b.periodRemainder + lostInSum(a.period, b.period);
  return { samples: a.samples + b.samples, period: a.period + b.period, periodRemainder };
}

function compareRows(a: DiffRow, b: DiffRow): number {
  const byChange = Math.abs(b.change) - Math.abs(a.change);
  return byChange || Math.max(b.basePercent, b.nextPercent) - Math.max(a.basePercent, a.nextPercent) || compareNames(a.names, b.names);
}

function compareNames(a: readonly string[], b: readonly string[]): number {
  const differs = a.findIndex((name, column) => name !== b[column]);
  if (differs < 0) return 0;
  return a[differs] < b[differs] ? -1 : 1;
}
