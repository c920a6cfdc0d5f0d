import { parseReport, parseReportStats, reportArgs } from './perf-report-text.ts';
import { readWithPerf } from './perf-tool.ts';

type Row = Record<string, string>;

export interface CsvTables {
  readonly stat: readonly Row[];
  readonly overview: readonly Row[];
  readonly processes: readonly Row[];
  readonly results: readonly Row[];
}

/** What in readperf's tables of a recording does not agree with `perf report`, as sentences; none if everything does. */
export function compareTables(tables: CsvTables, file: string): string[] {
  return [...compareStat(tables, file), ...compareTotals(tables, file), ...compareTimes(tables)];
}

/** stat.csv against `perf report --stats`: each kind of record, both ways; overview.csv has a row per record. */
function compareStat(tables: CsvTables, file: string): string[] {
  const problems: string[] = [];
  const expected = parseReportStats(readWithPerf('report', file, ['--stats'])).records;
  const actual = new Map(tables.stat.map((row) => [perfName(row.record ?? ''), Number(row.count)]));
  for (const name of new Set([...expected.keys(), ...actual.keys()])) {
    const [theirs, ours] = [expected.get(name) ?? 0, actual.get(name) ?? 0];
    if (theirs !== ours) problems.push(`stat.csv: ${name} ${ours}, perf counts ${theirs}`);
  }
  const total = [...actual.values()].reduce((sum, count) => sum + count, 0);
  if (tables.overview.length !== total) problems.push(`overview.csv: ${tables.overview.length} rows, stat.csv counts ${total} records`);
  return problems;
}

/** results.csv and processes.csv against the totals of `perf report`, to the unit. */
function compareTotals(tables: CsvTables, file: string): string[] {
  const problems: string[] = [];
  const events = parseReport(readWithPerf('report', file, reportArgs)).filter((event) => event.samples > 0n);
  const period = events.reduce((sum, event) => sum + event.period, 0n);
  const samples = events.reduce((sum, event) => sum + event.samples, 0n);
  for (const name of ['results', 'processes'] as const) {
    const totals = { period: sumOf(tables[name], 'period'), samples: sumOf(tables[name], 'samples') };
    if (totals.period !== period) problems.push(`${name}.csv: period ${totals.period}, perf reports ${period}`);
    if (totals.samples !== samples) problems.push(`${name}.csv: samples ${totals.samples}, perf reports ${samples}`);
  }
  for (const event of events) {
    const rows = tables.results.filter((row) => row.event === event.event);
    const [ours, count] = [sumOf(rows, 'period'), sumOf(rows, 'samples')];
    if (ours !== event.period || count !== event.samples)
      problems.push(`results.csv: ${event.event} has period ${ours} in ${count} samples, perf reports ${event.period} in ${event.samples}`);
  }
  return problems;
}

/** overview.csv in time order; records without a time of their own (0) do not count. */
function compareTimes(tables: CsvTables): string[] {
  let last = 0n;
  for (const [index, row] of tables.overview.entries()) {
    const time = BigInt(row.time || '0');
    if (time === 0n) continue;
    if (time < last) return [`overview.csv: row ${index + 1} goes back from ${last} to ${time}`];
    last = time;
  }
  return [];
}

function sumOf(rows: readonly Row[], column: string): bigint {
  return rows.reduce((sum, row) => sum + BigInt(row[column] ?? '0'), 0n);
}

/** perf leaves out the HEADER_ of user records. */
function perfName(name: string): string {
  return name.replace(/^PERF_RECORD_/, '').replace(/^HEADER_/, '');
}
