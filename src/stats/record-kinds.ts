import * as abi from '../perfdata/abi/constants.ts';
import type { RecordCounts } from '../session/reading/record-counts.ts';
import { UNKNOWN_RECORD } from './record-log.ts';

/** How many records of one kind the file holds. */
export interface RecordCount {
  /** As `perf report --stats` prints it, or `unknown`. */
  readonly record: string;
  readonly count: number;
}

/** The kinds that readperf knew, in the order in which it lists them. */
const READPERF_TYPES = [
  abi.PERF_RECORD_MMAP,
  abi.PERF_RECORD_LOST,
  abi.PERF_RECORD_COMM,
  abi.PERF_RECORD_EXIT,
  abi.PERF_RECORD_THROTTLE,
  abi.PERF_RECORD_UNTHROTTLE,
  abi.PERF_RECORD_FORK,
  abi.PERF_RECORD_READ,
  abi.PERF_RECORD_SAMPLE,
];

/**
 * Counts by kind: first readperf's nine, whether they occur or not, then `unknown` for all types without a name, then the newer kinds that do occur, by
 * ascending type.
 */
export function recordKinds(counts: RecordCounts): RecordCount[] {
  const younger: RecordCount[] = [];
  let unknown = 0;
  for (const [type, count] of counts.entries()) {
    if (READPERF_TYPES.includes(type)) continue;
    const record = abi.recordTypeNameOf(type);
    if (record === undefined) unknown += count;
    else younger.push({ record, count });
  }
  const known = READPERF_TYPES.map((type) => ({ record: abi.recordTypeNameOf(type) ?? UNKNOWN_RECORD, count: counts.get(type) }));
  return [...known, { record: UNKNOWN_RECORD, count: unknown }, ...younger];
}
