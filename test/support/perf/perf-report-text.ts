/** `perf report --stats`: how many records of each type the file holds. */
export interface ReportStats {
  /** All records that perf counts. */
  readonly total: number;
  /** By perf's names: MMAP, MMAP2, COMM, SAMPLE, FINISHED_ROUND … */
  readonly records: ReadonlyMap<string, number>;
  /** Delivered samples by event name; each member of a group counts. */
  readonly samples: ReadonlyMap<string, number>;
}

/** Parses `perf report --stats`. @throws Error when it does not say how many records there are */
export function parseReportStats(text: string): ReportStats {
  const records = new Map<string, number>();
  const samples = new Map<string, number>();
  let total: number | undefined;
  let event: string | undefined;
  for (const line of text.split('\n')) {
    const heading = /^(\S.*) stats:\s*$/.exec(line);
    if (heading) event = heading[1] === 'Aggregated' ? undefined : heading[1];
    const row = /^\s*(\S+) events:\s+(\d+)/.exec(line);
    if (!row) continue;
    const [, name = '', count = ''] = row;
    if (event !== undefined) {
      if (name === 'SAMPLE') samples.set(event, Number(count));
    } else if (name === 'TOTAL') total = Number(count);
    else records.set(name, Number(count));
  }
  if (total === undefined) throw new Error('perf report --stats: no TOTAL');
  return { total, records, samples };
}

/** A line of {@link parseReport}. */
export interface ReportRow {
  readonly period: bigint;
  readonly samples: bigint;
  /** Without perf's `[.] ` or `[k] `; an address if perf has no name. */
  readonly symbol: string;
  /** A file's name without its directories. */
  readonly dso: string;
  /** The content of further columns, if any were asked for after `dso`. */
  readonly further: readonly string[];
}

/** One event's part of a report. */
export interface ReportEvent {
  readonly event: string;
  readonly rows: readonly ReportRow[];
  readonly period: bigint;
  readonly samples: bigint;
}

/** The arguments that make `perf report` print what {@link parseReport} reads. */
export const reportArgs = [
  '--stdio',
  '--no-children',
  '--no-group',
  '--no-inline',
  '--no-demangle',
  '-g',
  'none',
  '--sort',
  'sym,dso',
  '-F',
  'period,sample,sym,dso',
  '-t',
  '\t',
] as const;

/**
 * Parses `perf report` printed with {@link reportArgs}; the totals are the sums of the rows. Its `Event count (approx.)`
 * must be their sum too, else a row was lost on the way.
 */
export function parseReport(text: string): ReportEvent[] {
  const events: { event: string; stated: bigint; rows: ReportRow[] }[] = [];
  for (const line of text.split('\n')) {
    const heading = /^# Samples: .*\bof events? '(.*)'$/.exec(line);
    if (heading) events.push({ event: heading[1] ?? '', stated: 0n, rows: [] });
    const stated = /^# Event count \(approx\.\): (\d+)/.exec(line);
    const current = events.at(-1);
    if (stated && current) current.stated = BigInt(stated[1] ?? 0);
    const row = /^\s*(\d+)\s*\t\s*(\d+)\s*\t(?:\[.\] )?(.*?)\s*\t(.*)$/.exec(line);
    if (!row || !current) continue;
    const [, rowPeriod = '0', rowSamples = '0', symbol = '', rest = ''] = row;
    const [dso = '', ...further] = rest.split('\t').map((cell) => cell.trim());
    current.rows.push({ period: BigInt(rowPeriod), samples: BigInt(rowSamples), symbol, dso, further });
  }
  return events.map(({ event, stated, rows }) => {
    const period = rows.reduce((sum, row) => sum + row.period, 0n);
    if (period !== stated) throw new Error(`perf report: the rows of ${event} sum to ${period}, its heading says ${stated}`);
    return { event, rows, period, samples: rows.reduce((sum, row) => sum + row.samples, 0n) };
  });
}
