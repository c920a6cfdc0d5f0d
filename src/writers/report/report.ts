import type { ByteSink } from '../../base/byte-sink.ts';
import { PerfconvError } from '../../base/errors.ts';
import { printable } from '../../base/printable.ts';
import { TextWriter } from '../../base/text-writer.ts';
import type { Profile } from '../../profile/profile.ts';
import { wholeNumber } from '../whole-number.ts';
import { type ReportKey, ReportTexts } from './keys.ts';
import { type ReportRow, ReportRows } from './rows.ts';

export { REPORT_KEYS, type ReportKey } from './keys.ts';

export interface ReportOptions {
  /** Columns that tell rows apart, at least one. Default: `function`. */
  readonly sort?: readonly ReportKey[];
  /** Rows per table at most; the rest is said in one line. Default: all. */
  readonly limit?: number;
  /** Whether a row also counts the samples of what it called (inclusive time). Default: no. */
  readonly children?: boolean;
  /** What percentages and the order go by. Default: periods. */
  readonly weight?: 'period' | 'samples';
  /**
   * Whether rows are those of perf report: functions of one name are rows of their own where they are different symbols, and files are called
   * by their names without directories. Default: no, what has the same texts is one row.
   */
  readonly compatPerf?: boolean;
  /** Colours a percentage for a terminal: gets the padded text and its value. Default: none. */
  readonly paintPercent?: (text: string, percent: number) => string;
}

/** A column is aligned with those under it up to this width; longer texts are not cut. */
const MAX_ALIGNED = 60;

/**
 * Writes function statistics for the terminal: readperf's overview (`per`, `period`, `samples`, `function`), one table
 * per event with samples, rows by falling weight and then by text. With children there is a column `self` behind
 * readperf's numbers. A sample belongs to the innermost inlined function of its leaf; one without a stack to `[unknown]`.
 *
 * With `event` among the sort keys there is one table for all events. Its percentages and order go by samples, since
 * periods of different events do not add up.
 *
 * @throws PerfconvError `no-samples` for a profile without any; `usage` for an empty list of sort keys
 */
export async function writeReport(profile: Profile, sink: ByteSink, options: ReportOptions = {}): Promise<void> {
  const keys = [...new Set<ReportKey>(options.sort ?? ['function'])];
  if (keys.length === 0) throw new PerfconvError('usage', 'a report needs at least one sort key');
  const events = [...profile.events.keys()].filter((index) => profile.events[index].samples > 0);
  if (events.length === 0) throw new PerfconvError('no-samples', 'no samples to report');

  const texts = new ReportTexts(profile, keys, options.compatPerf ?? false);
  const out = new TextWriter(sink);
  const tables = keys.includes('event') ? [events] : events.map((event) => [event]);
  for (const [index, table] of tables.entries()) {
    if (index > 0) out.put('\n');
    await writeTable(profile, table, keys, texts, options, out);
  }
  await out.flush();
}

async function writeTable(
  profile: Profile,
  events: readonly number[],
  keys: readonly ReportKey[],
  texts: ReportTexts,
  options: ReportOptions,
  out: TextWriter,
): Promise<void> {
  const { children = false, limit = Number.POSITIVE_INFINITY, paintPercent = (text) => text } = options;
  const bySamples = options.weight === 'samples' || keys.includes('event');
  const weightOf = (row: ReportRow) => (bySamples ? row.samples : row.period);
  const selfWeightOf = (row: ReportRow) => (bySamples ? row.selfSamples : row.selfPeriod);

  const collected = new ReportRows(profile, texts, keys.length);
  for (let total = 0; total < profile.totals.size; total++) {
    if (events.includes(profile.totals.event(total))) collected.add(total, children);
  }
  const rows = collected.rows().sort((a, b) => weightOf(b) - weightOf(a) || compareTexts(texts, a.texts, b.texts));
  const sum = rows.reduce((weight, row) => weight + selfWeightOf(row), 0);
  const percentText = (weight: number) => {
    const percent = sum === 0 ? 0 : (100 * weight) / sum;
    return paintPercent(percent.toFixed(2).padStart(6), percent);
  };

  const shown = rows.slice(0, limit);
  const cellOf = (text: number) => printable(texts.strings.get(text));
  // No text is shorter for being printable.
  const widthOf = (text: number) => (texts.strings.length(text) < MAX_ALIGNED ? cellOf(text).length : MAX_ALIGNED);
  // There may be more rows than a call takes arguments.
  const widestOf = (key: string, column: number) => shown.reduce((widest, row) => Math.max(widest, widthOf(row.texts[column])), key.length);
  const widths = keys.map((key, column) => Math.min(MAX_ALIGNED, widestOf(key, column)));
  const columnsText = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(column < cells.length - 1 ? widths[column] : 0)).join('  ');

  for (const event of events) out.put(headline(profile, event));
  out.put(`   per       period samples ${children ? '  self ' : ''}${columnsText(keys)}\n`);
  for (const row of shown) {
    const self = children ? `${percentText(selfWeightOf(row))} ` : '';
    const numbers = `${percentText(weightOf(row))} ${wholeNumber(row.period, row.periodRemainder).padStart(12)} ${String(row.samples).padStart(7)}`;
    out.put(`${numbers} ${self}${columnsText(row.texts.map(cellOf))}\n`);
    if (out.isFull) await out.flush();
  }
  if (rows.length > shown.length) out.put(`# ${rows.length - shown.length} more\n`);
}

function headline(profile: Profile, index: number): string {
  const { name, unit, samples, period, periodRemainder } = profile.events[index];
  return `# ${printable(name)}: ${samples} ${samples === 1 ? 'sample' : 'samples'}, period ${wholeNumber(period, periodRemainder)}${unit === 'nanoseconds' ? ' ns' : ''}\n`;
}

function compareTexts({ strings }: ReportTexts, a: readonly number[], b: readonly number[]): number {
  for (let column = 0; column < a.length; column++) {
    if (a[column] !== b[column]) return strings.compare(a[column], b[column]);
  }
  return 0;
}
