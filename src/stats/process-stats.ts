import * as abi from '../perfdata/abi/constants.ts';
import type { SessionResult } from '../session/session.ts';
import type { RecordLog } from './record-log.ts';

/** A process as readperf counts it: all records about it, from its FORK (or its first record) until its pid is given to another process. */
export interface ProcessStats {
  /** Index into the session's processes, and those of its profile; −1 for records that belong to none. */
  readonly process: number;
  /** −1 for records that belong to no process, such as the kernel's maps. */
  readonly pid: number;
  /** Last name of its main thread, else of another of its threads; `:pid` if it was never named, as perf prints it. */
  comm: string;
  /** Number of MMAP and MMAP2 records. */
  mmaps: number;
  /** When it was forked, nanoseconds in the recording's clock; undefined without a FORK, or if the FORK has no time. */
  forkTime: bigint | undefined;
  /** When its main thread ended; undefined without an EXIT. */
  exitTime: bigint | undefined;
  /** Number of FORK records of its threads, including the main one: there is one for the start of each thread. */
  forks: number;
  /** Number of EXIT records of its threads, including the main one. */
  exits: number;
  /** Number of its threads that any record names. */
  threads: number;
}

/**
 * All processes that any record names, by ascending pid, with −1 last; those that had the same pid are in the order in which they lived. Sample filters do not
 * matter here.
 */
export function processStats(session: Pick<SessionResult, 'baseTime' | 'processes' | 'threads'>, log: RecordLog): ProcessStats[] {
  const counter = new ProcessCounter(session, log);
  for (let row = 0; row < log.size; row++) counter.count(row);
  return counter.finish().sort((a, b) => (a.pid >>> 0) - (b.pid >>> 0) || a.process - b.process);
}

class ProcessCounter {
  readonly #session: Pick<SessionResult, 'baseTime' | 'processes' | 'threads'>;
  readonly #log: RecordLog;
  readonly #ofProcess: readonly ProcessStats[];
  /** By pid: the process that has it now; then those that will have it later, the next one last. */
  readonly #current = new Map<number, ProcessStats>();
  readonly #coming = new Map<number, ProcessStats[]>();

  constructor(session: Pick<SessionResult, 'baseTime' | 'processes' | 'threads'>, log: RecordLog) {
    this.#session = session;
    this.#log = log;
    this.#ofProcess = session.processes.map(({ pid }, process) => newStats(process, pid));
    for (const stats of this.#ofProcess.toReversed()) {
      const coming = this.#coming.get(stats.pid);
      if (coming === undefined) this.#coming.set(stats.pid, [stats]);
      else coming.push(stats);
    }
  }

  /** Counts a row of the log; rows come in its order. */
  count(row: number): void {
    const log = this.#log;
    const pid = log.pid(row);
    switch (log.type(row)) {
      case abi.PERF_RECORD_MMAP:
      case abi.PERF_RECORD_MMAP2:
        this.#statsOf(pid).mmaps++;
        break;
      case abi.PERF_RECORD_FORK:
        this.#countFork(row, pid);
        break;
      case abi.PERF_RECORD_EXIT: {
        const stats = this.#statsOf(pid);
        stats.exits++;
        // With several events, there may be several records of one exit.
        if (log.tid(row) === pid) stats.exitTime ??= this.#timeOf(row);
        break;
      }
    }
  }

  #countFork(row: number, pid: number): void {
    const nr = this.#log.nr(row);
    const next = this.#coming.get(pid)?.at(-1);
    if (next !== undefined && this.#forkNr(next) === nr) this.#current.delete(pid);
    const stats = this.#statsOf(pid);
    stats.forks++;
    if (this.#forkNr(stats) === nr) stats.forkTime = this.#timeOf(row);
  }

  #forkNr({ process }: ProcessStats): number {
    return process < 0 ? -1 : this.#session.processes[process].forkNr;
  }

  /** The time of a FORK or EXIT; undefined if it has none. */
  #timeOf(row: number): bigint | undefined {
    const timeNs = this.#log.timeNs(row);
    if (!Number.isNaN(timeNs)) return this.#session.baseTime + BigInt(timeNs);
    const details = this.#log.details(row);
    if (details.kind !== 'fork' && details.kind !== 'exit') return undefined;
    const own = (BigInt(details.timeHi) << 32n) | BigInt(details.timeLo);
    return own === 0n ? undefined : own;
  }

  #statsOf(pid: number): ProcessStats {
    let stats = this.#current.get(pid);
    if (stats === undefined) {
      stats = this.#coming.get(pid)?.pop() ?? newStats(-1, pid);
      this.#current.set(pid, stats);
    }
    return stats;
  }

  /** All processes, in no particular order. */
  finish(): ProcessStats[] {
    const { processes, threads } = this.#session;
    for (const thread of threads) {
      const stats = this.#ofProcess[thread.process];
      stats.threads++;
      if (thread.hasComm) stats.comm = thread.comm;
    }
    const all = [...this.#ofProcess, ...[...this.#current.values()].filter(({ process }) => process < 0)];
    for (const stats of all) {
      // The main thread's name takes precedence over those of the others.
      const { name } = processes[stats.process] ?? { name: '' };
      if (name !== '') stats.comm = name;
      if (stats.comm === '') stats.comm = `:${stats.pid}`;
    }
    return all;
  }
}

function newStats(process: number, pid: number): ProcessStats {
  return { process, pid, comm: '', mmaps: 0, forkTime: undefined, exitTime: undefined, forks: 0, exits: 0, threads: 0 };
}
