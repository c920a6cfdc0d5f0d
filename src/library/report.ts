import { arrayOf, type Check, demand, flag, type OptionChecks, oneOf } from '../base/problems/check-options.ts';
import { abortSignal, type CallOptions } from '../base/streams/cancellation.ts';
import { withoutUndefined } from '../base/without-undefined.ts';
import { REPORT_KEYS, UNKNOWN_CODE, type UnknownCode, WEIGHTS } from '../pipeline/choices.ts';
import { shownProfile } from '../pipeline/shown-profile-cache.ts';
import type { Profile } from '../profile/profile.ts';
import { UNKNOWN_IN_TABLES } from '../profile/unknown-code.ts';
import { percentOf } from '../writers/percent.ts';
import type { ReportKey } from '../writers/report/report.ts';
import { type ReportRowsOptions, ReportTables } from '../writers/report/tables.ts';

/** What a report counts, and in which order. Names and defaults are those of `perfconv report`. */
export interface ReportOptions extends Omit<ReportRowsOptions, 'compatPerf' | 'fileNames'>, CallOptions {
  /** Rows per table at most. Default: all. */
  readonly limit?: number;
  /** How code without symbols is shown. Default: `function`; `address` with `compat: 'perf'`. */
  readonly unknown?: UnknownCode;
}

/** A row of a report: one text for each sort key, and numbers. */
export interface ReportRow extends Readonly<Partial<Record<ReportKey, string>>> {
  readonly samples: number;
  /** Sum of their periods. */
  readonly period: number;
  /** Share of the table's samples or periods, in percent. */
  readonly percent: number;
  /** The same for the samples that ended in the function itself. Equal to the numbers above unless `children` is given. */
  readonly selfSamples: number;
  readonly selfPeriod: number;
  readonly selfPercent: number;
}

/** Rows by falling weight. */
export interface ReportTable {
  /** Names of the events whose samples it counts: one, or all with the key `event`. */
  readonly events: readonly string[];
  readonly rows: readonly ReportRow[];
  /** How many rows `limit` left out. */
  readonly omittedRows: number;
}

/** How many rows there are at most. */
export const limit: Check = (option, value) => demand(typeof value === 'number' && value >= 1, option, value, 'at least 1');

/** Checks of the options of a profile's `report()`. */
export const REPORT_CHECKS: OptionChecks<ReportOptions> = {
  sort: arrayOf(REPORT_KEYS),
  children: flag,
  weight: oneOf(WEIGHTS),
  unknown: oneOf(UNKNOWN_CODE),
  limit,
  signal: abortSignal,
};

/** @throws PerfconvError `no-samples`; `usage` for an empty list of sort keys, and for unknown options and values */
export function reportTables(profile: Profile, options: ReportOptions, compatPerf: boolean): ReportTable[] {
  const { limit = Number.POSITIVE_INFINITY, unknown = compatPerf ? 'address' : UNKNOWN_IN_TABLES, ...rows } = options;
  const report = new ReportTables(shownProfile(profile, unknown), { sort: ['function', 'dso'], ...withoutUndefined(rows), compatPerf });
  const { keys, texts } = report;
  return [...report.tables()].map(({ events, rows, sum }) => {
    const shown = rows.slice(0, limit).map((row) => {
      const { samples, period, selfSamples, selfPeriod } = row;
      const cells = Object.fromEntries(keys.map((key, column) => [key, texts.strings.get(row.texts[column])])) as Partial<Record<ReportKey, string>>;
      const percents = { percent: percentOf(report.weight(row), sum), selfPercent: percentOf(report.selfWeight(row), sum) };
      return { ...cells, samples, period, selfSamples, selfPeriod, ...percents };
    });
    return { events: events.map((event) => profile.events[event].name), rows: shown, omittedRows: rows.length - shown.length };
  });
}
