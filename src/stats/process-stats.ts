import * as abi from '../perfdata/constants.ts';
import type { SessionResult } from '../session/session.ts';
import type { RecordLog } from './record-log.ts';

/** A process as readperf counts it: all that a recording says of one pid, also when several processes had it in turn. */
export interface ProcessStats {
  /** −1 for what belongs to no process, such as the maps of the kernel. */
  readonly pid: number;
  /** Last name of its main thread, else of another of its threads; `:pid` when it was never named, as perf prints it. */
  comm: string;
  /** Number of MMAP and MMAP2 records. */
  mmaps: number;
  /** Number of FORK records of its threads, the main one included: each stands where a thread began. */
  forks: number;
  /** Number of EXIT records of its threads, the main one included. */
  exits: number;
  /** Number of threads heard of. */
  threads: number;
}

/** All processes that any record names, by ascending pid, −1 last. Filters of samples change nothing here. */
export function processStats(session: Pick<SessionResult, 'processes' | 'threads'>, log: RecordLog): ProcessStats[] {
  const byPid = new Map<number, ProcessStats>();
  const statsOf = (pid: number): ProcessStats => {
    let stats = byPid.get(pid);
    if (stats === undefined) {
      stats = { pid, comm: '', mmaps: 0, forks: 0, exits: 0, threads: 0 };
      byPid.set(pid, stats);
    }
    return stats;
  };
  for (let row = 0; row < log.size; row++) countRecord(log.type(row), statsOf, log.pid(row));
  for (const thread of session.threads) {
    const stats = statsOf(thread.pid);
    stats.threads++;
    if (thread.hasComm) stats.comm = thread.comm;
  }
  // The main thread's name goes before those of the others.
  for (const { pid, name } of session.processes) if (name !== '') statsOf(pid).comm = name;
  for (const stats of byPid.values()) if (stats.comm === '') stats.comm = `:${stats.pid}`;
  return [...byPid.values()].sort((a, b) => (a.pid >>> 0) - (b.pid >>> 0));
}

function countRecord(type: number, statsOf: (pid: number) => ProcessStats, pid: number): void {
  switch (type) {
    case abi.PERF_RECORD_MMAP:
    case abi.PERF_RECORD_MMAP2:
      statsOf(pid).mmaps++;
      break;
    case abi.PERF_RECORD_FORK:
      statsOf(pid).forks++;
      break;
    case abi.PERF_RECORD_EXIT:
      statsOf(pid).exits++;
      break;
  }
}
