import { parseReport, reportArgs } from '../perf/perf-report-text.ts';
import { parsePerfScript } from '../perf/perf-script-text.ts';
import { readWithPerf, runTool } from '../perf/perf-tool.ts';

/** What perf says about one thread's samples of one event. */
export interface RecordedThread {
  readonly key: string;
  readonly pid: number;
  readonly tid: number;
  /** The name of the thread, the last one if it changed. */
  readonly comm: string;
  readonly event: string;
  /** Whether its periods are nanoseconds. */
  readonly isClock: boolean;
  /** Sum of the samples' periods. */
  readonly period: number;
  readonly samples: number;
}

/** By {@link threadKey}. */
export type Threads = ReadonlyMap<string, RecordedThread>;

export interface RecordedFunction {
  readonly symbol: string;
  /** One of the files that have a function of this name. */
  readonly dso: string;
  readonly period: number;
  readonly samples: number;
}

export function threadKey(pid: number | string, tid: number | string, event: string): string {
  return `${pid}/${tid} ${event}`;
}

/** The threads that have samples according to `perf script`. */
export function threadsOf(file: string): Threads {
  const threads = new Map<string, RecordedThread>();
  for (const { comm, pid = '', tid, event, period } of parsePerfScript(readWithPerf('script', file, ['-F', 'comm,pid,tid,time,event,period']))) {
    const key = threadKey(pid, tid, event);
    const isClock = /^(?:cpu|task)-clock\b/.test(event);
    const { period: periodBefore, samples } = threads.get(key) ?? { period: 0, samples: 0 };
    threads.set(key, { key, pid: Number(pid), tid: Number(tid), comm, event, isClock, period: periodBefore + Number(period), samples: samples + 1 });
  }
  return threads;
}

/** The thread with most time of a clock, without the idle task unless it counts, too. @throws Error when there is none */
export function busiestThread(threads: Threads, countsIdle = false): RecordedThread {
  const [busiest] = [...threads.values()].filter(({ isClock, tid }) => isClock && (countsIdle || tid > 0)).sort((a, b) => b.period - a.period);
  if (busiest === undefined) throw new Error('no thread with samples of a clock');
  return busiest;
}

/**
 * The busiest thread of the processes in which a thread has that name. In a recording of the whole system, busier programs may have
 * functions without names, or too many of equal weight to be compared.
 * @throws Error when there is none
 */
export function busiestThreadOf(program: string, threads: Threads): RecordedThread {
  const pids = new Set([...threads.values()].filter(({ comm }) => comm === program).map(({ pid }) => pid));
  return busiestThread(new Map([...threads].filter(([, { pid }]) => pids.has(pid))));
}

/** The named functions in which a thread itself spent most, according to `perf report --no-children`. */
export function heaviestFunctions(
  file: string,
  { tid, event }: RecordedThread,
  count: number,
  symbols: readonly string[],
  isNamedAlike: (dso: string) => boolean,
): RecordedFunction[] {
  // Not --tid, which selects whole rows: without a column for the thread, these are of several threads; `pid` is that column (tid:comm). Observed: perf 6.1.
  const columns = ['--sort', 'sym,dso,pid', '-F', 'period,sample,sym,dso,pid'];
  const report = parseReport(readWithPerf('report', file, [...reportArgs, ...columns, ...symbols])).find((one) => one.event === event);
  const functions = new Map<string, RecordedFunction>();
  for (const row of report?.rows ?? []) {
    if (!row.further[0]?.startsWith(`${tid}:`) || row.symbol.startsWith('0x') || !isNamedAlike(row.dso)) continue;
    const before = functions.get(row.symbol);
    const period = Number(row.period) + (before?.period ?? 0);
    functions.set(row.symbol, { symbol: row.symbol, dso: row.dso, period, samples: Number(row.samples) + (before?.samples ?? 0) });
  }
  return [...functions.values()].sort((a, b) => b.period - a.period).slice(0, count);
}

/** A C++ function's name as speedscope shows it; other names as they are. */
export function demangle(name: string): string {
  return /^_Z/.test(name) ? runTool('c++filt', [name]).stdout.trim() : name;
}
