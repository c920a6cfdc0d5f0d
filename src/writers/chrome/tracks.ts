import type { Profile, ProfileThread } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { findTimelineEvent } from '../primary-event.ts';
import { groupSamples, type SampleGroup, sortByTime } from '../sample-groups.ts';

/** A track in the viewers: the samples of one thread and event. */
export interface ChromeTrack {
  readonly group: SampleGroup;
  /** Index into the tracks' processes. */
  readonly process: number;
  /**
   * Positive, and unique in the trace. For the timeline event (see {@link findTimelineEvent}) it is the recorded tid,
   * unless another thread has that already.
   */
  readonly tid: number;
  /**
   * `worker`, `postgres [main]`, `worker page-faults [tid 101]`. The recorded tid is shown if {@link tid} is a
   * different number, or if the process or another of its tracks would have the same label.
   */
  readonly label: string;
  /** Whether it belongs to the idle task or to an unknown thread. */
  readonly isIdle: boolean;
}

export interface ChromeProcess {
  /** Positive, and unique in the trace. The recorded pid, unless another process has that already. */
  readonly pid: number;
  /** `postgres`, `swapper [pid 0]`. The recorded pid is shown if {@link pid} is a different number. */
  readonly label: string;
}

export interface ChromeTracks {
  readonly processes: readonly ChromeProcess[];
  /** Those of the timeline event come first, then those of the other events; within an event the busiest first. */
  readonly tracks: readonly ChromeTrack[];
}

/**
 * Decides what becomes a track, and gives the tracks the numbers and names by which viewers identify them.
 *
 * - There is one track per thread and event. The track of the timeline event has the tid of the thread. Those of other
 *   events are in the same process, with numbers of their own and the event in the label.
 * - A thread keeps its track when it is renamed or calls exec. Its last name is shown.
 * - The idle task (tid 0) and unknown threads (−1) run on several CPUs at once, so they have a track per CPU.
 * - A pid or tid that is not positive, or was used again, is replaced by a number that does not occur in the recording.
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

/** The name of a thread. The main thread gets `[main]`, because DevTools needs labels different from the process's. */
function threadName(thread: ProfileThread, cpu: number): string {
  const name = thread.name || 'unknown';
  if (thread.tid > 0) return thread.pid === thread.tid ? `${name} [main]` : name;
  return cpu < 0 ? `${name} [any CPU]` : `${name}/${cpu}`;
}

/** The recorded number if it is positive and not taken yet, else an unused one. */
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
