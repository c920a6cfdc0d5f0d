import { placesIn } from '../../base/tables/ascending-order.ts';
import type { Profile, ProfileThread } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { findTimelineEvent } from '../primary-event.ts';
import { groupSamples, type SampleGroup, sortByTime } from '../sample-groups.ts';

/** A track in the viewer: the samples of one thread and event. */
export interface FirefoxThread {
  readonly group: SampleGroup;
  /** Index into the profile's processes. */
  readonly process: number;
  /** `worker`; `worker page-faults` for events other than the timeline event (see {@link findTimelineEvent}), and for times off the CPU. */
  readonly name: string;
  readonly processName: string;
  /** Unique in the file, as text: the recorded pid; `100.2` for the second process that had it. */
  readonly pid: string;
  /** Unique in the file: the recorded tid as a number; `101.2` for the second track that has it. */
  readonly tid: number | string;
  /** Whether the viewer shows the process's other threads below it. True for at most one thread of a process. */
  readonly isMainThread: boolean;
  /** Whether it is the idle task, which uses no CPU. */
  readonly isIdle: boolean;
}

/**
 * Decides what becomes a thread of the file. Processes are ordered by their time, the busiest first. Within a process, threads of the timeline event come
 * before those of other events, main threads before the others, and then the busiest thread first.
 *
 * The idle task (tid 0) and unknown threads (−1) run on several CPUs at once, so they have a track per CPU.
 */
export function firefoxThreads(profile: Profile, samples: SampleTable): FirefoxThread[] {
  const { events, processes, tasks, threads } = profile;
  const timeline = findTimelineEvent(profile);
  const groups = groupSamples(
    samples,
    (row) => tasks[samples.task[row]].thread,
    (row) => (threads[tasks[samples.task[row]].thread].tid > 0 ? -1 : samples.cpu[row]),
  );
  sortByTime(groups, samples);
  const rank = processRanks(profile, groups, timeline);
  const isMain = ({ subject }: SampleGroup): boolean => threads[subject].tid === threads[subject].pid;
  const processOf = ({ subject }: SampleGroup): number => threads[subject].process;
  // Where a recording has only times off the CPU, a track without the event's name would seem to show what ran.
  const isNamedAfterThread = ({ event }: SampleGroup): boolean => event === timeline && !events[event].isOffCpuTime;
  groups.sort(
    (a, b) =>
      rank[processOf(a)] - rank[processOf(b)] ||
      Number(b.event === timeline) - Number(a.event === timeline) ||
      Number(isMain(b)) - Number(isMain(a)) ||
      a.event - b.event ||
      b.period - a.period,
  );

  const pids = new NumberLabels();
  const pidOf = new Map<number, string>();
  const tids = new NumberLabels();
  const hasMain = new Set<number>();
  return groups.map((group): FirefoxThread => {
    const thread = threads[group.subject];
    const { process } = thread;
    const pid = pidOf.get(process) ?? pids.next(thread.pid);
    pidOf.set(process, pid);
    const isMainThread = isMain(group) && !hasMain.has(process);
    if (isMainThread) hasMain.add(process);
    const tid = tids.next(thread.tid);
    const name = threadName(thread, group.part);
    return {
      group,
      process,
      name: isNamedAfterThread(group) ? name : `${name} ${events[group.event].name}`,
      processName: processes[process].name || thread.name || 'unknown',
      pid,
      tid: tid === String(thread.tid) ? thread.tid : tid,
      isMainThread,
      isIdle: thread.tid === 0,
    };
  });
}

/**
 * By process: its place among the others, ordered by its period of the timeline event, then by its number of samples, the largest first. The idle task comes
 * last.
 */
function processRanks({ processes, threads }: Profile, groups: readonly SampleGroup[], timeline: number): Uint32Array {
  const period = new Float64Array(processes.length);
  const samples = new Float64Array(processes.length);
  for (const group of groups) {
    const { process } = threads[group.subject];
    if (group.event === timeline) period[process] += group.period;
    samples[process] += group.rows.length;
  }
  const order = processes.map((_, index) => index);
  const isIdle = (process: number): number => Number(processes[process].pid === 0);
  return placesIn(order.sort((a, b) => isIdle(a) - isIdle(b) || period[b] - period[a] || samples[b] - samples[a] || a - b));
}

/** `worker`; for tracks of one CPU `swapper/0`. */
function threadName({ name, tid }: ProfileThread, cpu: number): string {
  const known = name || 'unknown';
  return tid > 0 || cpu < 0 ? known : `${known}/${cpu}`;
}

/** Makes numbers into distinct texts: a number that comes again is followed by a count. */
class NumberLabels {
  readonly #uses = new Map<number, number>();

  next(number: number): string {
    const uses = (this.#uses.get(number) ?? 0) + 1;
    this.#uses.set(number, uses);
    return uses === 1 ? String(number) : `${number}.${uses}`;
  }
}
