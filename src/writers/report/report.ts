import type { ByteSink } from '../../base/byte-sink.ts';
import { printable } from '../../base/printable.ts';
import { TextWriter } from '../../base/text-writer.ts';
import type { Profile } from '../../profile/profile.ts';
import { percentOf, percentText } from '../percent.ts';
import { wholeNumber } from '../whole-number.ts';
import { type ReportRowsOptions, type ReportTable, ReportTables } from './tables.ts';

export { REPORT_KEYS, type ReportKey } from './keys.ts';

export interface ReportOptions extends ReportRowsOptions {
  /** Rows per table at most; one line reports the rest. Default: all. */
  readonly limit?: number;
  /** Colours a percentage for a terminal: gets the padded text and its value. Default: none. */
  readonly paintPercent?: (text: string, percent: number) => string;
}

/** Columns are padded up to this width; longer texts are not cut. */
const MAX_ALIGNED = 60;

/**
 * Writes function statistics for the terminal: readperf's overview (`per`, `period`, `samples`, `function`), one table per event with samples, rows by falling
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
  const out = new TextWriter(sink);
  let isFirst = true;
  for (const table of report.tables()) {
    if (!isFirst) out.put('\n');
    isFirst = false;
    await writeTable(profile, report, table, options, out);
  }
  await out.flush();
}

async function writeTable(profile: Profile, report: ReportTables, { events, rows, sum }: ReportTable, options: ReportOptions, out: TextWriter): Promise<void> {
  const { children = false, limit = Number.POSITIVE_INFINITY, paintPercent = (text) => text } = options;
  const { keys, texts } = report;
  const shareText = (weight: number) => {
    const percent = percentOf(weight, sum);
    return paintPercent(percentText(percent).padStart(6), percent);
  };

  const shown = rows.slice(0, limit);
  const cellOf = (text: number) => printable(texts.strings.get(text));
  // Making a text printable never makes it shorter.
  const widthOf = (text: number) => (texts.strings.length(text) < MAX_ALIGNED ? cellOf(text).length : MAX_ALIGNED);
  // There may be more rows than a call can take arguments.
  const widestOf = (key: string, column: number) => shown.reduce((widest, row) => Math.max(widest, widthOf(row.texts[column])), key.length);
  const widths = keys.map((key, column) => Math.min(MAX_ALIGNED, widestOf(key, column)));
  const columnsText = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(column < cells.length - 1 ? widths[column] : 0)).join('  ');

  for (const event of events) out.put(headline(profile, event));
  out.put(`   per       period samples ${children ? '  self ' : ''}${columnsText(keys)}\n`);
  for (const row of shown) {
    const self = children ? `${shareText(report.selfWeight(row))} ` : '';
    const numbers = `${shareText(report.weight(row))} ${wholeNumber(row.period, row.periodRemainder).padStart(12)} ${String(row.samples).padStart(7)}`;
    out.put(`${numbers} ${self}${columnsText(row.texts.map(cellOf))}\n`);
    if (out.isFull) await out.flush();
  }
  if (rows.length > shown.length) out.put(`# ${rows.length - shown.length} more\n`);
}

function headline(profile: Profile, index: number): string {
  const { name, unit, samples, period, periodRemainder } = profile.events[index];
  return `# ${printable(name)}: ${samples} ${samples === 1 ? 'sample' : 'samples'}, period ${wholeNumber(period, periodRemainder)}${unit === 'nanoseconds' ? ' ns' : ''}\n`;
}
