import type { ByteView } from '../../bytes/byte-view.ts';
import { PERF_RECORD_MISC_COMM_EXEC, PERF_RECORD_MISC_FORK_EXEC } from '../constants.ts';

/** PERF_RECORD_COMM: a thread has a new name. */
export interface CommRecord {
  readonly pid: number;
  readonly tid: number;
  readonly comm: string;
  /** Whether the name is new because another program was started. */
  readonly isExec: boolean;
}

export const COMM_FIXED_BYTES = 16;

export function readComm(view: ByteView, at: number, end: number, misc: number): CommRecord {
  return { pid: view.i32(at + 8), tid: view.i32(at + 12), comm: view.text(at + 16, end), isExec: (misc & PERF_RECORD_MISC_COMM_EXEC) !== 0 };
}

/** PERF_RECORD_FORK and EXIT: a thread began or ended. */
export interface ForkRecord {
  readonly pid: number;
  readonly ppid: number;
  readonly tid: number;
  readonly ptid: number;
  /** For FORK: written by perf itself for a process that was there before, whose maps follow: nothing to inherit. */
  readonly isSynthesized: boolean;
}

export const FORK_FIXED_BYTES = 32;

export function readFork(view: ByteView, at: number, misc: number): ForkRecord {
  return {
    pid: view.i32(at + 8),
    ppid: view.i32(at + 12),
    tid: view.i32(at + 16),
    ptid: view.i32(at + 20),
    isSynthesized: (misc & PERF_RECORD_MISC_FORK_EXEC) !== 0,
  };
}
