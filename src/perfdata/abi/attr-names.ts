import { HIPERF_SAMPLE_SERVER_PID } from '../../hiperf/constants.ts';

/**
 * Names of the bits of perf_event_attr's words, as `perf evlist -v` prints them: those of perf_event.h without their
 * prefix, in the order of the bits.
 */
const SAMPLE_TYPE_NAMES = [
  'IP',
  'TID',
  'TIME',
  'ADDR',
  'READ',
  'CALLCHAIN',
  'ID',
  'CPU',
  'PERIOD',
  'STREAM_ID',
  'RAW',
  'BRANCH_STACK',
  'REGS_USER',
  'STACK_USER',
  'WEIGHT',
  'DATA_SRC',
  'IDENTIFIER',
  'TRANSACTION',
  'REGS_INTR',
  'PHYS_ADDR',
  'AUX',
  'CGROUP',
  'DATA_PAGE_SIZE',
  'CODE_PAGE_SIZE',
  'WEIGHT_STRUCT',
];

const READ_FORMAT_NAMES = ['TOTAL_TIME_ENABLED', 'TOTAL_TIME_RUNNING', 'ID', 'GROUP', 'LOST'];

const BRANCH_SAMPLE_NAMES = [
  'USER',
  'KERNEL',
  'HV',
  'ANY',
  'ANY_CALL',
  'ANY_RETURN',
  'IND_CALL',
  'ABORT_TX',
  'IN_TX',
  'NO_TX',
  'COND',
  'CALL_STACK',
  'IND_JUMP',
  'CALL',
  'NO_FLAGS',
  'NO_CYCLES',
  'TYPE_SAVE',
  'HW_INDEX',
  'PRIV_SAVE',
  'COUNTERS',
];

/**
 * Of PERF_SAMPLE_*: what samples carry.
 * @param isHiperf whether hiperf wrote the recording: it has a bit of its own
 */
export function sampleTypeNames(sampleType: number, isHiperf = false): string[] {
  if (!isHiperf || (sampleType & HIPERF_SAMPLE_SERVER_PID) === 0) return bitNames(sampleType >>> 0, SAMPLE_TYPE_NAMES);
  return [...bitNames((sampleType & ~HIPERF_SAMPLE_SERVER_PID) >>> 0, SAMPLE_TYPE_NAMES), 'SERVER_PID'];
}

/** Of PERF_FORMAT_*: what a READ field carries. */
export function readFormatNames(readFormat: number): string[] {
  return bitNames(readFormat >>> 0, READ_FORMAT_NAMES);
}

/** Of PERF_SAMPLE_BRANCH_*: which branches. */
export function branchSampleNames(branchSampleType: number): string[] {
  return bitNames(branchSampleType, BRANCH_SAMPLE_NAMES);
}

/** Names of the set bits; a bit without one is its number in hex, as perf_event.h might write it. */
function bitNames(word: number, names: readonly string[]): string[] {
  const found: string[] = [];
  // Doubles: branch_sample_type has 64 bits.
  for (let bit = 0, rest = word; rest >= 1; bit++, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) found.push(names[bit] ?? `0x${(2 ** bit).toString(16)}`);
  }
  return found;
}

/** CLOCK_* of time.h; samples for which none of them was chosen carry the kernel's sched clock. */
const CLOCK_NAMES: Readonly<Record<number, string>> = {
  0: 'realtime',
  1: 'monotonic',
  2: 'process_cputime_id',
  3: 'thread_cputime_id',
  4: 'monotonic_raw',
  5: 'realtime_coarse',
  6: 'monotonic_coarse',
  7: 'boottime',
  11: 'tai',
};

/** The clock of jitdump files. */
export const CLOCK_MONOTONIC = 1;
/** The wall clock: its times are times of day. */
export const CLOCK_REALTIME = 0;

/** What `perf record -k` calls a clock; its number if it has no name. */
export function clockName(clockid: number): string {
  return CLOCK_NAMES[clockid] ?? String(clockid);
}
