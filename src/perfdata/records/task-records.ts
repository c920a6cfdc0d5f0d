import type { ByteView } from '../../base/bytes/byte-view.ts';
import { RecordLayout, text } from '../../base/bytes/record-layout.ts';
import { PERF_RECORD_MISC_COMM_EXEC, PERF_RECORD_MISC_FORK_EXEC } from '../abi/constants.ts';

/** PERF_RECORD_COMM. */
export const COMM = new RecordLayout({ pid: 'i32', tid: 'i32', comm: text() });

const FORK_EARLY_FIELDS = { pid: 'i32', ppid: 'i32', tid: 'i32', ptid: 'i32' } as const;

/** PERF_RECORD_FORK and EXIT. */
export const FORK = new RecordLayout({ ...FORK_EARLY_FIELDS, time: 'u64' });

/** PERF_RECORD_FORK and EXIT of Linux 2.6.31: without the time. */
export const FORK_EARLY = new RecordLayout(FORK_EARLY_FIELDS);

/** PERF_RECORD_COMM: a thread has a new name. */
export interface CommRecord {
  readonly pid: number;
  readonly tid: number;
  readonly comm: string;
  /** Whether the name is new because another program was started. */
  readonly isExec: boolean;
}

export function readComm(view: ByteView, at: number, end: number, misc: number): CommRecord {
  return {
    pid: view.i32(at + COMM.at.pid),
    tid: view.i32(at + COMM.at.tid),
    comm: view.text(at + COMM.at.comm, end),
    isExec: (misc & PERF_RECORD_MISC_COMM_EXEC) !== 0,
  };
}

/** PERF_RECORD_FORK and EXIT: a thread began or ended. */
export interface ForkRecord {
  readonly pid: number;
  readonly ppid: number;
  readonly tid: number;
  readonly ptid: number;
  /** The record's own time field, in nanoseconds, as two words; 0 if it has none. The time in the sample_id trailer is a few nanoseconds later. */
  readonly timeLo: number;
  readonly timeHi: number;
  /** For FORK: whether perf itself wrote it for a process that already existed. Its maps follow, so that it inherits none. */
  readonly isSynthesized: boolean;
}

/** Which of its two layouts a FORK or EXIT has: the early one has no fields of variable size, and is recognized by its size. */
export function forkLayoutOf(at: number, end: number): typeof FORK | typeof FORK_EARLY {
  return end - at === FORK_EARLY.minBytes ? FORK_EARLY : FORK;
}

/** @param end where its fields end */
export function readFork(view: ByteView, at: number, end: number, misc: number): ForkRecord {
  const hasTime = forkLayoutOf(at, end) === FORK;
  return {
    pid: view.i32(at + FORK.at.pid),
    ppid: view.i32(at + FORK.at.ppid),
    tid: view.i32(at + FORK.at.tid),
    ptid: view.i32(at + FORK.at.ptid),
    timeLo: hasTime ? view.lo(at + FORK.at.time) : 0,
    timeHi: hasTime ? view.hi(at + FORK.at.time) : 0,
    isSynthesized: (misc & PERF_RECORD_MISC_FORK_EXEC) !== 0,
  };
}
