import { PerfconvError } from '../../base/problems/errors.ts';
import type { Profile } from '../../profile/profile.ts';
import type { Weight } from '../../profile/weight.ts';
import { EventTotals } from './event-totals.ts';
import type { FileNames } from './file-names.ts';
import { type ReportKey, ReportTexts } from './keys.ts';
import { type ReportRow, ReportRows } from './rows.ts';

/** Which rows there are. */
export interface ReportRowsOptions {
  /** Columns that distinguish rows, at least one. Default: `function`. */
  readonly sort?: readonly ReportKey[];
  /** Whether a row also counts the samples of what it called (inclusive time). Default: no. */
  readonly children?: boolean;
  /** What percentages and the order go by. Default: periods. */
  readonly weight?: Weight;
  /**
   * Whether rows are those of perf report: functions with the same name have separate rows if they are different symbols, and files are shown without
   * directories. Default: no, everything with the same texts is one row.
   */
  readonly compatPerf?: boolean;
  /** How files are named. Default: `perf` with `compatPerf`, else `recorded`. */
  readonly fileNames?: FileNames;
}

/** A table of a report. */
export interface ReportTable {
  /** Indexes of the events whose samples it counts. */
  readonly events: readonly number[];
  /** By falling weight and then by text. */
  readonly rows: readonly ReportRow[];
  /** The weight of all samples: 100 per cent. */
  readonly sum: number;
}

/**
 * The rows of a report: one table per event with samples; with `event` among the keys, one for all events. The percentages and order of that one go by samples,
 * since periods of different events do not add up.
 */
export class ReportTables {
  readonly keys: readonly ReportKey[];
  readonly texts: ReportTexts;
  readonly #profile: Profile;
  readonly children: boolean;
  /** What percentages and the order go by. */
  readonly weighsBy: Weight;
  readonly #events: readonly number[];
  readonly #eventTotals: EventTotals;

  /** @throws PerfconvError `no-samples` for a profile without any; `usage` for an empty list of sort keys */
  constructor(
    profile: Profile,
    { sort = ['function'], children = false, weight, compatPerf = false, fileNames = compatPerf ? 'perf' : 'recorded' }: ReportRowsOptions,
  ) {
    this.keys = [...new Set<ReportKey>(sort)];
    if (this.keys.length === 0) throw new PerfconvError('usage', 'a report needs at least one sort key');
    this.#events = [...profile.events.keys()].filter((index) => profile.events[index].samples > 0);
    if (this.#events.length === 0) throw new PerfconvError('no-samples', 'no samples to report');
    this.#profile = profile;
    this.#eventTotals = new EventTotals(profile);
    this.children = children;
    this.weighsBy = weight === 'samples' || this.keys.includes('event') ? 'samples' : 'period';
    this.texts = new ReportTexts(profile, this.keys, compatPerf, fileNames);
  }

  /** Makes one table after the other. */
  *tables(): Generator<ReportTable, void, void> {
    if (this.keys.includes('event')) yield this.table(this.#events);
    else for (const event of this.#events) yield this.table([event]);
  }

  /** The weight that determines a row's percentage and its place. */
  weight({ samples, period }: ReportRow): number {
    return this.weighsBy === 'samples' ? samples : period;
  }

  /** The same for the samples that ended in the row's function. */
  selfWeight({ selfSamples, selfPeriod }: ReportRow): number {
    return this.weighsBy === 'samples' ? selfSamples : selfPeriod;
  }

  /** The table of some events. */
  table(events: readonly number[]): ReportTable {
    const collected = new ReportRows(this.#profile, this.texts, this.keys.length);
    for (const event of events) for (const total of this.#eventTotals.of(event)) collected.add(total, this.children);
    const rows = collected.rows().sort((a, b) => this.weight(b) - this.weight(a) || this.#compareTexts(a.texts, b.texts));
    return { events, rows, sum: rows.reduce((weight, row) => weight + this.selfWeight(row), 0) };
  }

  #compareTexts(a: readonly number[], b: readonly number[]): number {
    for (let column = 0; column < a.length; column++) {
      if (a[column] !== b[column]) return this.texts.strings.compare(a[column], b[column]);
    }
    return 0;
  }
}
