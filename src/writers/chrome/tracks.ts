import type { Profile, ProfileThread } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { findTimelineEvent } from '../primary-event.ts';
import { groupSamples, type SampleGroup, sortByTime } from '../sample-groups.ts';
import { threadLabel } from '../thread-names.ts';

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
   * What it is called within its process: `worker`, `postgres [main]`, `worker page-faults [tid 101]`. The recorded tid
   * is part of it only where {@link tid} is a different number, since viewers of X events add the latter.
   */
  readonly name: string;
  /**
   * What it is called beside the tracks of all processes: `postgres (100) / walwriter (101)`, `postgres (100)
   * page-faults`, with the recorded numbers. Unique in the trace.
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
  const uniqueLabel = labelCounter();
  const tracks = groups.map((group): ChromeTrack => {
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
    const isIdle = thread.tid <= 0;
    const ofEvent = isTimeline ? '' : ` ${profile.events[group.event].name}`;
    const ofRecordedTid = isIdle || tid === thread.tid ? '' : ` [tid ${thread.tid}]`;
    return {
      group,
      process,
      tid,
      isIdle,
      name: nameInProcess(thread, group.part) + ofEvent + ofRecordedTid,
      label: uniqueLabel((isIdle ? nameInProcess(thread, group.part) : threadLabel(profile, group.subject)) + ofEvent),
    };
  });
  return { processes, tracks };
}

/** The name of a thread. The main thread gets `[main]`, because DevTools needs names different from the process's. */
function nameInProcess(thread: ProfileThread, cpu: number): string {
  if (thread.tid > 0) return thread.pid === thread.tid ? `${thread.name || 'unknown'} [main]` : thread.name || 'unknown';
  if (thread.tid < 0) return cpu < 0 ? 'unknown thread' : `unknown thread, CPU ${cpu}`;
  return cpu < 0 ? `${thread.name || 'idle'} [any CPU]` : `${thread.name || 'idle'}/${cpu}`;
}

/** A function that tells equal labels apart: the second one of `ls (7)`, whose pid was used again, is `ls (7) #2`. */
function labelCounter(): (label: string) => string {
  const counts = new Map<string, number>();
  return (label) => {
    const count = (counts.get(label) ?? 0) + 1;
    counts.set(label, count);
    return count === 1 ? label : `${label} #${count}`;
  };
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
