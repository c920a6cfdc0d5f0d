import { reportLinesOf } from '../programs/perfconv-tool.ts';
import { parseReport, reportArgs } from './perf-report-text.ts';
import { readWithPerf } from './perf-tool.ts';

/** perf has names for its functions only if its build-id cache has a copy, which recordings of tests do not make. */
const VDSO = '[vdso]';

/**
 * Rows that one of `perf report --no-children` and `perfconv report --compat perf` has more often than the other, as sentences. Rows of the vdso are
 * left out.
 */
export function compareReports(file: string): string[] {
  const perf = parseReport(readWithPerf('report', file, reportArgs)).flatMap(({ event, rows }) =>
    rows.filter(({ dso }) => dso !== VDSO).map(({ period, samples, dso, symbol }) => rowText(event, period, samples, dso, symbol)),
  );
  const perfconv = reportLinesOf(file).flatMap(({ event, lines }) =>
    lines.flatMap((line) => {
      // No file name has two blanks in a row here, so they end the column.
      const [, period, samples, dso, symbol] = fieldsOf(line, /^ *[\d.]+ +(\d+) +(\d+) (.+?) {2,}(.*)$/);
      return dso === VDSO ? [] : [rowText(event, period, samples, dso, symbol)];
    }),
  );
  return differences(perf, perfconv);
}

/**
 * The same for `--children`, comparing both percentages of each row. Only for rows with a symbol: perf shows callers without one by their addresses
 * in the process, perfconv by those in the file.
 */
export function compareChildren(file: string): string[] {
  const args = '--stdio --children --no-group --no-inline --no-demangle -g none --percent-limit 0 --sort dso,sym -F overhead_children,overhead,dso,sym';
  const perf: string[] = [];
  let event = '';
  for (const line of readWithPerf('report', file, [...args.split(' '), '-t', '\t']).split('\n')) {
    event = /^# Samples: .*\bof events? '(.*)'$/.exec(line)?.[1] ?? event;
    const [, children, self, dso = '', symbol = ''] = /^ *([\d.]+)% *\t *([\d.]+)% *\t(.*?) *\t(?:\[.\] )?(.*?) *$/.exec(line) ?? [];
    if (children !== undefined && dso !== VDSO && !isAddress(symbol)) perf.push(rowText(event, children, self, dso, symbol));
  }
  const perfconv = reportLinesOf(file, ['--children']).flatMap((table) =>
    table.lines.flatMap((line) => {
      const [, children, self, dso, symbol] = fieldsOf(line, /^ *([\d.]+) +\d+ +\d+ +([\d.]+) (.+?) {2,}(.*)$/);
      return dso === VDSO || isAddress(symbol) ? [] : [rowText(table.event, children, self, dso, symbol)];
    }),
  );
  return differences(perf, perfconv);
}

function fieldsOf(line: string, shape: RegExp): RegExpExecArray {
  const fields = shape.exec(line);
  if (fields === null) throw new Error(`perfconv report: ${line}`);
  return fields;
}

function rowText(event: string, one: bigint | string, other: bigint | string, dso: string, symbol: string): string {
  return [event, one, other, dso, withoutZeros(withoutOffset(symbol))].join(' | ');
}

function differences(perf: readonly string[], perfconv: readonly string[]): string[] {
  const [inPerf, inPerfconv] = [countsOf(perf), countsOf(perfconv)];
  const only = (who: string, one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): string[] =>
    [...one].filter(([row, count]) => count > (other.get(row) ?? 0)).map(([row]) => `only ${who}: ${row}`);
  return [...only('perf', inPerf, inPerfconv), ...only('perfconv', inPerfconv, inPerf)];
}

function countsOf(rows: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + 1);
  return counts;
}

function isAddress(symbol: string): boolean {
  return /^(?:0x[0-9a-f]+|[0-9a-f]{16})$/.test(symbol);
}

/** perf prints the offset if a symbol is data, to which a callchain by frame pointers can lead. */
function withoutOffset(symbol: string): string {
  return symbol.replace(/\+0x[0-9a-f]+$/, '');
}

/** perf writes addresses with 16 digits, and 0 in no file without 0x. */
function withoutZeros(symbol: string): string {
  const [, digits] = /^(?:0x)?([0-9a-f]{16})$/.exec(symbol) ?? [];
  return digits === undefined ? symbol : `0x${BigInt(`0x${digits}`).toString(16)}`;
}
