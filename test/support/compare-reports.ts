import { parseReport, type ReportRow, reportArgs } from './perf-report-text.ts';
import { readWithPerf } from './perf-tool.ts';
import { reportOf } from './perfconv-tool.ts';

/** Rows that one of `perf report --no-children` and `perfconv report --compat perf` has more often than the other, a sentence each. */
export function compareReports(file: string): string[] {
  const perf = countRows(parseReport(readWithPerf('report', file, reportArgs)));
  const perfconv = countRows(reportOf(file));
  const only = (who: string, one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): string[] =>
    [...one].filter(([row, count]) => count > (other.get(row) ?? 0)).map(([row]) => `only ${who}: ${row}`);
  return [...only('perf', perf, perfconv), ...only('perfconv', perfconv, perf)];
}

function countRows(events: readonly { readonly event: string; readonly rows: readonly ReportRow[] }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { event, rows } of events) {
    for (const { period, samples, symbol, dso } of rows) {
      const row = [event, period, samples, withoutZeros(symbol), dso].join(' | ');
      counts.set(row, (counts.get(row) ?? 0) + 1);
    }
  }
  return counts;
}

/** perf writes addresses with 16 digits, and those of no file without 0x where they are 0. */
function withoutZeros(symbol: string): string {
  const [, digits] = /^(?:0x)?([0-9a-f]{16})$/.exec(symbol) ?? [];
  return digits === undefined ? symbol : `0x${BigInt(`0x${digits}`).toString(16)}`;
}
