import type { Profile, ProfileEvent, ProfileThread } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { findTimelineEvent, waitOf } from '../primary-event.ts';
import { cpuOfSharedThreads, type GroupKind, groupSamples, type SampleGroup, sortByTime, subjectsOf } from '../sample-groups.ts';
import { cpuLabel, processLabel, threadLabel } from '../thread-names.ts';
import { overlapRows } from './rows.ts';
import { type EventScale, eventScales } from './stack-timeline.ts';

/** Above this number of threads with samples of the timeline event, tracks of threads are too many to look at. */
const MAX_THREAD_TRACKS = 30;

/** A track in the viewers: samples of one event, no two of which overlap. */
export interface ChromeTrack {
  /** Index into the profile's events. */
  readonly event: number;
  /** Rows of the sample table, in time order. */
  readonly rows: Uint32Array;
  /** Index into the tracks' processes. */
  readonly process: number;
  /**
   * Positive, and unique in the trace. For tracks of threads of the timeline event (see {@link findTimelineEvent}) it
   * is the recorded tid, unless another thread has that already.
   */
  readonly tid: number;
  /**
   * Its name within its process: `worker`, `postgres [main]`, `worker page-faults [tid 101]`. It contains the recorded tid only if {@link tid} is a different
   * number, since viewers of X events add the latter.
   */
  readonly name: string;
  /**
   * Its name among the tracks of all processes, with the recorded numbers: `postgres (100) / walwriter (101)`, `postgres (100) page-faults`; `CPU 3`,
   * `all threads row 2`. Unique in the trace.
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
  readonly group: GroupKind;
  readonly processes: readonly ChromeProcess[];
  /** Those of the timeline event come first, then those of the other events; within an event, the busiest first. */
  readonly tracks: readonly ChromeTrack[];
  /** By event. */
  readonly scales: readonly EventScale[];
}

export interface ChromeTracksOptions {
  /** Whether a thread's times off the CPU share a track. */
  readonly joinsWaits: boolean;
  /** If absent, chosen by the number of threads: `thread` up to 30, else `cpu`; `all` if some samples carry no CPU. */
  readonly group?: GroupKind | undefined;
}

/**
 * Decides what becomes a track, and gives the tracks the numbers and names by which viewers identify them.
 *
 * Tracks of threads:
 * - There is one track per thread and event. The track of the timeline event has the tid of the thread. Those of other
 *   events are in the same process, with numbers of their own and the event in the label.
 * - A thread keeps its track when it is renamed or calls exec. Its last name is shown.
 * - The idle task and unknown threads have a track per CPU: see {@link cpuOfSharedThreads}.
 * - With `joinsWaits`, a thread's times off the CPU are one track, however it waited, since they do not overlap.
 * - A pid or tid that is not positive, or was used again, is replaced by a number that does not occur in the recording.
 *
 * Tracks of processes, of CPUs, or of everything: as many rows as there were threads running at once, see {@link overlapRows}.
 */
export function chromeTracks(profile: Profile, samples: SampleTable, { joinsWaits, group }: ChromeTracksOptions): ChromeTracks {
  const timeline = findTimelineEvent(profile);
  const chosen = group ?? chooseGroup(profile, samples, timeline);
  const groups = sortedGroups(profile, samples, timeline, { kind: chosen, joinsWaits });
  const scales = eventScales(profile, samples, groups);
  if (chosen === 'thread') return { group: chosen, scales, ...threadTracks(profile, groups, timeline) };
  return { group: chosen, scales, ...sharedTracks(profile, samples, { groups, timeline, kind: chosen, scales }) };
}

function chooseGroup({ tasks }: Profile, samples: SampleTable, timeline: number): GroupKind {
  const threads = new Set<number>();
  let hasCpus = true;
  for (let row = 0; row < samples.size; row++) {
    if (samples.event[row] === timeline) threads.add(tasks[samples.task[row]].thread);
    if (samples.cpu[row] < 0) hasCpus = false;
  }
  if (threads.size <= MAX_THREAD_TRACKS) return 'thread';
  return hasCpus ? 'cpu' : 'all';
}

/** The timeline event first, then the busiest. */
function sortedGroups(
  profile: Profile,
  samples: SampleTable,
  timeline: number,
  { kind, joinsWaits }: { readonly kind: GroupKind; readonly joinsWaits: boolean },
): SampleGroup[] {
  const groups = groupSamples(
    samples,
    subjectsOf(profile, samples, kind),
    kind === 'thread' ? cpuOfSharedThreads(profile, samples) : () => -1,
    joinsWaits && kind === 'thread' ? sharedEvents(profile, timeline) : undefined,
  );
  sortByTime(groups, samples);
  return groups.sort((a, b) => Number(b.event === timeline) - Number(a.event === timeline) || a.event - b.event || b.period - a.period);
}

/** By event: the event whose tracks its samples are on. Undefined if each event has its own. */
function sharedEvents({ events }: Profile, timeline: number): Uint32Array | undefined {
  const waits = [timeline, ...events.keys()].find((index) => events[index] !== undefined && events[index].samples > 0 && waitOf(events[index]) !== undefined);
  if (waits === undefined) return undefined;
  return Uint32Array.from(events, (event, index) => (waitOf(event) === undefined ? index : waits));
}

/** What tracks of CPUs, or of everything, belong to. */
const MACHINE: ChromeProcess = { pid: 1, label: 'all processes' };

type Tracks = Pick<ChromeTracks, 'processes' | 'tracks'>;

function threadTracks(profile: Profile, groups: readonly SampleGroup[], timeline: number): Tracks {
  const { threads } = profile;
  const unused = unusedNumbers(profile);
  const processes = new ProcessNumbers(profile, unused);
  const takenTids = new Set<number>();
  const uniqueLabel = labelCounter();
  const tracks = groups.map(({ event, rows, subject, part }): ChromeTrack => {
    const thread = threads[subject];
    const process = processes.of(thread.process, thread.name);
    const isTimeline = event === timeline;
    const tid = isTimeline ? claim(thread.tid, takenTids, unused) : unused();
    const isIdle = thread.tid <= 0;
    // Where a recording has only times off the CPU, a track that does not say so would seem to show what ran.
    const ofEvent = waitOf(profile.events[event]) !== undefined ? ' off-CPU' : isTimeline ? '' : ` ${profile.events[event].name}`;
    const ofRecordedTid = isIdle || tid === thread.tid ? '' : ` [tid ${thread.tid}]`;
    return {
      event,
      rows,
      process,
      tid,
      isIdle,
      name: nameInProcess(thread, part) + ofEvent + ofRecordedTid,
      label: uniqueLabel((isIdle ? nameInProcess(thread, part) : threadLabel(profile, subject)) + ofEvent),
    };
  });
  return { processes: processes.list, tracks };
}

interface SharedTracksInput {
  readonly groups: readonly SampleGroup[];
  /** Index of the timeline event. */
  readonly timeline: number;
  readonly kind: Exclude<GroupKind, 'thread'>;
  /** By event. */
  readonly scales: readonly EventScale[];
}

function sharedTracks(profile: Profile, samples: SampleTable, { groups, timeline, kind, scales }: SharedTracksInput): Tracks {
  const { tasks } = profile;
  const processes = new ProcessNumbers(profile, unusedNumbers(profile));
  let lastTid = 0;
  const uniqueLabel = labelCounter();
  const tracks = groups.flatMap(({ event, rows, subject }): ChromeTrack[] => {
    const process = kind === 'process' ? processes.of(subject, '') : 0;
    const title = sharedTitle(profile, kind, subject);
    const { rowOf, count } = overlapRows(samples, rows, scales[event], {
      subjectOf: (row) => tasks[samples.task[row]].thread,
      isOneAtATime: kind === 'cpu' && subject >= 0,
    });
    return divided(rows, rowOf, count).map((own, row) => {
      const label = uniqueLabel(sharedLabel(title, row, profile.events[event], event === timeline));
      return { event, rows: own, process, tid: ++lastTid, isIdle: false, name: label, label };
    });
  });
  return { processes: kind === 'process' ? processes.list : [MACHINE], tracks };
}

/**
 * One track of everything for each event. Only its numbers and names are set, since the samples come from elsewhere.
 * @param events the timeline event first
 */
export function mergedTracks(profile: Profile, events: readonly number[], scales: readonly EventScale[], title: string): ChromeTracks {
  const tracks = events.map((event, index): ChromeTrack => {
    const label = sharedLabel(title, 0, profile.events[event], index === 0);
    return { event, rows: new Uint32Array(0), process: 0, tid: index + 1, isIdle: false, name: label, label };
  });
  return { group: 'all', scales, processes: [MACHINE], tracks };
}

function sharedTitle(profile: Profile, kind: SharedTracksInput['kind'], subject: number): string {
  switch (kind) {
    case 'process':
      return processLabel(profile, subject);
    case 'cpu':
      return cpuLabel(subject);
    case 'all':
      return 'all threads';
  }
}

/** `CPU 3`, `all threads row 2 page-faults` */
function sharedLabel(title: string, row: number, event: ProfileEvent, isTimeline: boolean): string {
  const showsEvent = !isTimeline || waitOf(event) !== undefined;
  return `${title}${row === 0 ? '' : ` row ${row + 1}`}${showsEvent ? ` ${event.name}` : ''}`;
}

function divided(rows: Uint32Array, partOf: Uint32Array, count: number): Uint32Array[] {
  if (count === 1) return [rows];
  const sizes = new Uint32Array(count);
  for (const part of partOf) sizes[part]++;
  const parts = Array.from(sizes, (size) => new Uint32Array(size));
  sizes.fill(0);
  for (let i = 0; i < rows.length; i++) parts[partOf[i]][sizes[partOf[i]]++] = rows[i];
  return parts;
}

/** The numbers and names of processes, assigned when they are first asked for. */
class ProcessNumbers {
  readonly list: ChromeProcess[] = [];
  readonly #profile: Profile;
  readonly #unused: () => number;
  readonly #indexes = new Map<number, number>();
  readonly #taken = new Set<number>();

  constructor(profile: Profile, unused: () => number) {
    this.#profile = profile;
    this.#unused = unused;
  }

  /** Index in {@link list} of a process of the profile. @param otherName what to call it if it has no name */
  of(process: number, otherName: string): number {
    const known = this.#indexes.get(process);
    if (known !== undefined) return known;
    const recorded = this.#profile.processes[process];
    const pid = claim(recorded.pid, this.#taken, this.#unused);
    const name = recorded.name || otherName || 'unknown';
    const index = this.list.push({ pid, label: pid === recorded.pid ? name : `${name} [pid ${recorded.pid}]` }) - 1;
    this.#indexes.set(process, index);
    return index;
  }
}

/** The name of a thread. The main thread gets `[main]`, because DevTools needs names different from the process's. */
function nameInProcess(thread: ProfileThread, cpu: number): string {
  if (thread.tid > 0) return thread.pid === thread.tid ? `${thread.name || 'unknown'} [main]` : thread.name || 'unknown';
  if (thread.tid < 0) return cpu < 0 ? 'unknown thread' : `unknown thread, CPU ${cpu}`;
  return cpu < 0 ? `${thread.name || 'idle'} [any CPU]` : `${thread.name || 'idle'}/${cpu}`;
}

/** A function that makes equal labels distinct: the second `ls (7)`, whose pid was used again, becomes `ls (7) #2`. */
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
