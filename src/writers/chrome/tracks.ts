import type { Profile, ProfileThread } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { findTimelineEvent } from '../primary-event.ts';
import { groupSamples, type SampleGroup, sortByTime } from '../sample-groups.ts';

/** One row of the viewers: a thread's samples of one event. */
export interface ChromeTrack {
  readonly group: SampleGroup;
  /** Index into the tracks' processes. */
  readonly process: number;
  /** Unique in the trace, positive. The recorded tid for the event that makes the timeline, unless another thread has it. */
  readonly tid: number;
  /**
   * `worker`, `postgres [main]`, `worker page-faults [tid 101]`: with the recorded tid where {@link tid} is another, and where other
   * tracks of the process or the process itself would be called the same.
   */
  readonly label: string;
  /** Whether it is the idle task's, or of a thread unknown. */
  readonly isIdle: boolean;
}

export interface ChromeProcess {
  /** Unique in the trace, positive. The recorded pid, unless another process had it before. */
  readonly pid: number;
  /** `postgres`, `swapper [pid 0]`: with the recorded pid where {@link pid} is another. */
  readonly label: string;
}

export interface ChromeTracks {
  readonly processes: readonly ChromeProcess[];
  /** Those of the event that {@link findTimelineEvent} finds first, then event by event; of each the busiest first. */
  readonly tracks: readonly ChromeTrack[];
}

/**
 * Decides what becomes a track, and gives each the numbers and names by which the viewers tell it from others.
 *
 * - One track per thread and event. That of the event which {@link findTimelineEvent} finds bears the thread's own
 *   tid; those of further events stand in the same process under numbers of their own, with the event in the label.
 * - A thread keeps one track over exec and renaming, under its last name.
 * - The idle task (tid 0) and an unknown thread (−1) run on several CPUs at once: they get a track per CPU.
 * - pid and tid ≤ 0, and numbers that were used again, are mapped to numbers that occur nowhere in the recording.
 */
export function chromeTracks(profile: Profile, samples: SampleTable): ChromeTracks {
  const { tasks, threads } = profile;
  const timeline = findTimelineEvent(profile);
  const groups = groupSamples(
    samples,
    (row) => tasks[samples.task[row]].thread,
    (row) => (threads[tasks[samples.task[row]].thread].tid > 0 ? -1 : samples.cpu[row]),
  );
  sortByTime(groups, samples);
  groups.sort((a, b) => Number(b.event === timeline) - Number(a.event === timeline) || a.event - b.event || b.period - a.period);

  const unused = unusedNumbers(profile);
  const processNumbers = new Map<number, number>();
  const processes: ChromeProcess[] = [];
  const takenPids = new Set<number>();
  const takenTids = new Set<number>();
  const drafts = groups.map((group) => {
    const thread = threads[group.subject];
    let process = processNumbers.get(thread.process);
    if (process === undefined) {
      const recorded = profile.processes[thread.process];
      const pid = claim(recorded.pid, takenPids, unused);
      const name = recorded.name || thread.name || 'unknown';
      process = processes.push({ pid, label: pid === recorded.pid ? name : `${name} [pid ${recorded.pid}]` }) - 1;
      processNumbers.set(thread.process, process);
    }
    const isTimeline = group.event === timeline;
    const tid = isTimeline ? claim(thread.tid, takenTids, unused) : unused();
    const name = threadName(thread, group.part);
    return { group, process, tid, thread, label: isTimeline ? name : `${name} ${profile.events[group.event].name}` };
  });
  const uses = processes.map(({ label }) => new Map([[label, 1]]));
  for (const { process, label } of drafts) uses[process].set(label, (uses[process].get(label) ?? 0) + 1);
  const tracks = drafts.map(({ thread, label, ...track }): ChromeTrack => {
    const isIdle = thread.tid <= 0;
    const needsTid = !isIdle && (track.tid !== thread.tid || uses[track.process].get(label) !== 1);
    return { ...track, isIdle, label: needsTid ? `${label} [tid ${thread.tid}]` : label };
  });
  return { processes, tracks };
}

/** DevTools wants labels that differ from the process's: hence `[main]`. */
function threadName(thread: ProfileThread, cpu: number): string {
  const name = thread.name || 'unknown';
  if (thread.tid > 0) return thread.pid === thread.tid ? `${name} [main]` : name;
  return cpu < 0 ? `${name} [any CPU]` : `${name}/${cpu}`;
}

function claim(recorded: number, taken: Set<number>, unused: () => number): number {
  const number = recorded > 0 && !taken.has(recorded) ? recorded : unused();
  taken.add(number);
  return number;
}

function unusedNumbers(profile: Profile): () => number {
  let last = 0;
  for (const { pid, tid } of profile.threads) last = Math.max(last, pid, tid);
  return () => ++last;
}
