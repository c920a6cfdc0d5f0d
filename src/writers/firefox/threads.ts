import { placesIn } from '../../base/tables/ascending-order.ts';
import type { Profile, ProfileThread } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { findTimelineEvent } from '../primary-event.ts';
import { cpuOfSharedThreads, groupSamples, type SampleGroup, sortByTime, subjectsOf } from '../sample-groups.ts';

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
 * The idle task and unknown threads have a track per CPU: see {@link cpuOfSharedThreads}.
 */
export function firefoxThreads(profile: Profile, samples: SampleTable): FirefoxThread[] {
  const { events, processes, threads } = profile;
  const timeline = findTimelineEvent(profile);
  // Where a recording has only times off the CPU, a track without the event's name would seem to show what ran.
  const isNamedAfterThread = ({ event }: SampleGroup): boolean => event === timeline && !events[event].isOffCpuTime;
  const pids = new NumberLabels();
  const pidOf = new Map<number, string>();
  const tids = new NumberLabels();
  const hasMain = new Set<number>();
  return sortedGroups(profile, samples, timeline).map((group): FirefoxThread => {
    const thread = threads[group.subject];
    const { process } = thread;
    const pid = pidOf.get(process) ?? pids.next(thread.pid);
    pidOf.set(process, pid);
    const isMainThread = isMain(thread) && !hasMain.has(process);
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

/** The samples of each thread and event, in the order of {@link firefoxThreads}. */
function sortedGroups(profile: Profile, samples: SampleTable, timeline: number): SampleGroup[] {
  const { threads } = profile;
  const groups = groupSamples(samples, subjectsOf(profile, samples, 'thread'), cpuOfSharedThreads(profile, samples));
  sortByTime(groups, samples);
  const rank = processRanks(profile, groups, timeline);
  return groups.sort(
    (a, b) =>
      rank[threads[a.subject].process] - rank[threads[b.subject].process] ||
      Number(b.event === timeline) - Number(a.event === timeline) ||
      Number(isMain(threads[b.subject])) - Number(isMain(threads[a.subject])) ||
      a.event - b.event ||
      b.period - a.period,
  );
}

function isMain({ pid, tid }: ProfileThread): boolean {
  return tid === pid;
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
