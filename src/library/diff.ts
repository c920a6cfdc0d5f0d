import { arrayOf, flag, type OptionChecks, oneOf } from '../base/problems/check-options.ts';
import { abortSignal, type CallOptions } from '../base/streams/cancellation.ts';
import { withoutUndefined } from '../base/without-undefined.ts';
import { DIFF_KEYS, type DiffKey, UNKNOWN_CODE, type UnknownCode, WEIGHTS } from '../pipeline/choices.ts';
import { commonEvents, comparedProfile } from '../pipeline/diff.ts';
import type { Profile } from '../profile/profile.ts';
import { ProfileDiff as RowDiff, type DiffRow as RowOfNames, type DiffOptions as RowOptions } from '../writers/diff/diff.ts';
import type { Sums } from '../writers/report/node-weights.ts';
import { type ProfileEvent, shownEvent } from './profile-event.ts';
import { limit } from './report.ts';

/** What a comparison counts, and in which order. Names and defaults are those of `perfconv diff`. */
export interface DiffOptions extends RowOptions, CallOptions {
  /** Rows per table at most. Default: all. */
  readonly limit?: number;
  /** How code without symbols is shown. Default: `binary`, since addresses are others in another build. */
  readonly unknown?: UnknownCode;
}

/** What one of the profiles has in a row. */
export interface DiffSums {
  readonly samples: number;
  /** Sum of their periods; beyond 2^53 the nearest number. */
  readonly period: number;
  /** Share of its own event's samples or periods, in percent; with `absolute`, of those of the first profile. */
  readonly percent: number;
}

/** A row of a comparison: one text for each sort key, and numbers. */
export interface DiffRow extends Readonly<Partial<Record<DiffKey, string>>> {
  /** undefined if the first profile does not have the row. */
  readonly base: DiffSums | undefined;
  /** undefined if the second profile does not have the row. */
  readonly new: DiffSums | undefined;
  /** The second percentage minus the first, in percentage points. */
  readonly change: number;
  /** Two standard errors of sampling, in percentage points; undefined for events that are not sampled. */
  readonly noise: number | undefined;
}

/** What became of an event. */
export interface DiffTable {
  readonly base: ProfileEvent;
  readonly new: ProfileEvent;
  /** The second profile's weight divided by the first one's; undefined if that is 0. */
  readonly ratio: number | undefined;
  /** The largest change first. */
  readonly rows: readonly DiffRow[];
  /** How many rows `limit` left out. */
  readonly omittedRows: number;
}

/** What became slower and faster from one profile to another. */
export interface ProfileDiff {
  /** For the events that both have, in the order of the first one's. */
  readonly tables: readonly DiffTable[];
  /** Events with samples that only the first profile has. */
  readonly onlyBase: readonly ProfileEvent[];
  /** Events with samples that only the second profile has. */
  readonly onlyNew: readonly ProfileEvent[];
}

/** Checks of the options of a profile's `diff()`. */
export const DIFF_CHECKS: OptionChecks<DiffOptions> = {
  sort: arrayOf(DIFF_KEYS),
  children: flag,
  weight: oneOf(WEIGHTS),
  absolute: flag,
  unknown: oneOf(UNKNOWN_CODE),
  limit,
  signal: abortSignal,
};

/** @throws PerfconvError `no-samples` if there is no common event; `usage` for an empty list of sort keys */
export function diffTables(base: Profile, next: Profile, { limit = Number.POSITIVE_INFINITY, unknown, ...rows }: DiffOptions): ProfileDiff {
  const { pairs, onlyBase, onlyNext } = commonEvents(base.events, next.events);
  const [shownBase, shownNext] = [base, next].map((profile) => comparedProfile(profile, withoutUndefined({ unknown })));
  const diff = new RowDiff(shownBase, shownNext, pairs, { sort: ['function', 'dso'], ...withoutUndefined(rows) });
  const tables = [...diff.tables()].map((table): DiffTable => {
    const rows = table.rows.slice(0, limit).map((row) => rowOf(diff, row));
    return { base: shownEvent(table.base), new: shownEvent(table.next), ratio: table.ratio, rows, omittedRows: table.rows.length - rows.length };
  });
  return { tables, onlyBase: onlyBase.map(shownEvent), onlyNew: onlyNext.map(shownEvent) };
}

function rowOf({ keys }: RowDiff, { names, base, next, basePercent, nextPercent, change, noise }: RowOfNames): DiffRow {
  const cells = Object.fromEntries(keys.map((key, column) => [key, names[column]])) as Partial<Record<DiffKey, string>>;
  return { ...cells, base: sumsOf(base, basePercent), new: sumsOf(next, nextPercent), change, noise };
}

function sumsOf(sums: Sums | undefined, percent: number): DiffSums | undefined {
  return sums && { samples: sums.samples, period: sums.period, percent };
}
