import type { ByteSink } from '../../base/streams/byte-sink.ts';
import type { Profile } from '../../profile/profile.ts';
import { JsonWriter } from '../json-text.ts';
import { percentOf, percentText } from '../percent.ts';
import type { NumberColumn, Table } from '../tables/table.ts';
import { omittedNotes, writeTables } from '../tables/write-tables.ts';
import { wholeNumber } from '../whole-number.ts';
import { headline } from './headline.ts';
import { writeTablesJson } from './json.ts';
import type { ReportRow } from './rows.ts';
import { type ReportRowsOptions, type ReportTable, ReportTables } from './tables.ts';

export { REPORT_KEYS, type ReportKey } from './keys.ts';

export type ReportLayout = 'text' | 'json' | 'markdown';

export interface ReportOptions extends ReportRowsOptions {
  /** Rows per table at most; one line reports the rest. Default: all. */
  readonly limit?: number;
  /** Colors a percentage for a terminal: gets the padded text and its value. Default: none. */
  readonly paintPercent?: (text: string, percent: number) => string;
  /** How it is written: as text, as JSON for programs, or in GitHub's Markdown. Default: text. */
  readonly layout?: ReportLayout;
  /** Columns of the terminal, to which names are cut. Default: they are not cut. */
  readonly width?: number;
}

/**
 * Writes function statistics. As text, they are readperf's overview (`per`, `period`, `samples`, `function`), one table per event with samples, rows by falling
 * weight and then by text. With children, a column `self` follows readperf's numbers. A sample belongs to the innermost inlined function of its leaf; one
 * without a stack to `[unknown]`.
 *
 * With `event` among the sort keys there is one table for all events. Its percentages and order go by samples, since
 * periods of different events do not add up.
 *
 * @throws PerfconvError `no-samples` for a profile without any; `usage` for an empty list of sort keys
 */
export async function writeReport(profile: Profile, sink: ByteSink, options: ReportOptions = {}): Promise<void> {
  const report = new ReportTables(profile, options);
  const { layout = 'text', limit = Number.POSITIVE_INFINITY, width } = options;
  if (layout === 'json') return writeTablesJson(profile, report, limit, new JsonWriter(sink));
  await writeTables(tablesOf(profile, report, options), sink, layout, width);
}

/** One table after the other. */
function* tablesOf(profile: Profile, report: ReportTables, options: ReportOptions): Generator<Table<ReportRow>, void, void> {
  for (const table of report.tables()) yield tableOf(profile, report, table, options);
}

/** A table of a report as people read it. */
function tableOf(profile: Profile, report: ReportTables, { events, rows, sum }: ReportTable, options: ReportOptions): Table<ReportRow> {
  const { limit = Number.POSITIVE_INFINITY, paintPercent } = options;
  const { children, keys, texts } = report;
  const share = (name: string, weightOf: (row: ReportRow) => number): NumberColumn<ReportRow> => {
    const percent = (row: ReportRow) => percentOf(weightOf(row), sum);
    return { name, width: 6, text: (row) => percentText(percent(row)), ...(paintPercent && { paint: (text, row) => paintPercent(text, percent(row)) }) };
  };
  const shown = rows.slice(0, limit);
  return {
    headlines: events.map((event) => headline(profile.events[event])),
    numbers: [
      share('per', (row) => report.weight(row)),
      { name: 'period', width: 12, text: ({ period, periodRemainder }) => wholeNumber(period, periodRemainder) },
      { name: 'samples', width: 7, text: ({ samples }) => String(samples) },
      ...(children ? [share('self', (row) => report.selfWeight(row))] : []),
    ],
    names: keys.map((key, column) => ({
      name: key,
      text: (row) => texts.strings.get(row.texts[column]),
      length: (row) => texts.strings.length(row.texts[column]),
      isPath: key === 'dso',
    })),
    rows: shown,
    notes: omittedNotes(rows.length - shown.length),
  };
}
