import { ascendingOrder } from '../base/tables/ascending-order.ts';
import { ExactSums } from '../base/tables/exact-sums.ts';
import { TupleInterner } from '../base/tables/tuple-interner.ts';
import type { Profile } from '../profile/profile.ts';
import type { SampleTable } from '../profile/sample-table.ts';

/** What samples are divided by: the threads, processes or CPUs that they are of; `all`: nothing. */
export type GroupKind = 'thread' | 'process' | 'cpu' | 'all';

/**
 * What the samples of a group have in common, by row of the sample table.
 * @returns index of the thread or process; number of the CPU, −1 for none; 0 for `all`
 */
export function subjectsOf({ tasks, threads }: Profile, samples: SampleTable, kind: GroupKind): (row: number) => number {
  const threadOf = (row: number): number => tasks[samples.task[row]].thread;
  switch (kind) {
    case 'thread':
      return threadOf;
    case 'process':
      return (row) => threads[threadOf(row)].process;
    case 'cpu':
      return (row) => samples.cpu[row];
    case 'all':
      return () => 0;
  }
}

/**
 * What divides the samples of a thread, by row of the sample table: the CPU for the idle task (tid 0) and unknown threads (−1), which run on several CPUs at once;
 * −1 for all others, whose samples belong together.
 */
export function cpuOfSharedThreads({ tasks, threads }: Profile, samples: SampleTable): (row: number) => number {
  return (row) => (threads[tasks[samples.task[row]].thread].tid > 0 ? -1 : samples.cpu[row]);
}

/** Samples of one event that belong together, such as those of a thread. */
export interface SampleGroup {
  /** Index into the profile's events. */
  readonly event: number;
  /** What the samples have in common, as given by `subjectOf`; mostly that of {@link subjectsOf}. */
  readonly subject: number;
  /** What divides a subject further, as given by `partOf`; 0 without one. */
  readonly part: number;
  /** Rows of the sample table, in its order. */
  readonly rows: Uint32Array;
  /** Sum of the periods, and the exact sum minus that double, which is 0 up to 2^53. */
  readonly period: number;
  readonly periodRemainder: number;
}

/**
 * Groups samples by event, subject and part. Groups come in the order of their first sample.
 * @param subjectOf,partOf signed 32-bit number of a row of the sample table
 * @param eventOf by event: the event that its samples are grouped with
 */
export function groupSamples(
  samples: SampleTable,
  subjectOf: (row: number) => number,
  partOf: (row: number) => number = () => 0,
  eventOf?: Uint32Array,
): SampleGroup[] {
  const groups = new TupleInterner(3, 256);
  const groupOfRow = new Uint32Array(samples.size);
  const counts: number[] = [];
  const periods = new ExactSums();
  for (let row = 0; row < samples.size; row++) {
    const group = groups.intern(eventOf === undefined ? samples.event[row] : eventOf[samples.event[row]], subjectOf(row), partOf(row));
    if (group === counts.length) counts.push(0);
    groupOfRow[row] = group;
    counts[group]++;
    periods.add(group, samples.period[row], samples.periodRemainder(row));
  }
  const rows = new Uint32Array(samples.size);
  const starts: number[] = [];
  let total = 0;
  for (const count of counts) {
    starts.push(total);
    total += count;
  }
  const next = Uint32Array.from(starts);
  for (let row = 0; row < samples.size; row++) rows[next[groupOfRow[row]]++] = row;
  return counts.map((count, group) => ({
    event: groups.words[group * 3],
    subject: groups.words[group * 3 + 1] | 0,
    part: groups.words[group * 3 + 2] | 0,
    rows: rows.subarray(starts[group], starts[group] + count),
    period: periods.value(group),
    periodRemainder: periods.remainder(group),
  }));
}

/**
 * Sorts the rows of each group by time. The table itself is in file order for recordings from before Linux 2.6.38, in
 * which only samples have times. A sample without a time stays after its predecessor, and equal times keep their order.
 */
export function sortByTime(groups: readonly SampleGroup[], { timeNs }: SampleTable): void {
  for (const { rows } of groups) {
    const times = new Float64Array(rows.length);
    let last = Number.NEGATIVE_INFINITY;
    let isSorted = true;
    for (let i = 0; i < rows.length; i++) {
      const own = timeNs[rows[i]];
      times[i] = Number.isNaN(own) ? last : own;
      isSorted &&= times[i] >= last;
      last = times[i];
    }
    if (isSorted) continue;
    rows.set(ascendingOrder(times).map((i) => rows[i]));
  }
}
