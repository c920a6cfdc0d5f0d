import { ascendingOrder } from '../../base/tables/ascending-order.ts';
import { grown } from '../../base/tables/growable.ts';
import type { Profile } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import * as threadEvent from '../../profile/thread-events.ts';
import { waitOf } from '../primary-event.ts';
import type { FirefoxThread } from './threads.ts';

/** Kinds of markers. */
export const OFF_CPU = 0;
export const RENAMED = 1;
export const EXECED = 2;
export const LOST = 3;
export const TRACEPOINT = 4;
export const WAIT = 5;

/** Values of markers of the kind {@link OFF_CPU}. */
const WAITING = 0;
export const PREEMPTED = 1;

/** More texts of tracepoints would make the file too large to open. Their samples are in the file in any case. */
const MAX_TRACEPOINTS = 200_000;

/** When a thread began and ended, in nanoseconds; −1 if that is not known. */
export interface ThreadLife {
  beganNs: number;
  endedNs: number;
}

/**
 * What happened to the threads of the file: markers, and when threads began and ended. A thread of the recording that has several tracks has its markers on the
 * first one. Events of threads without samples are left out, except lost records, which are then on the first track of the file.
 */
export class MarkerList {
  kind = new Uint8Array(256);
  startNs = new Float64Array(256);
  /** −1 for a marker that is not an interval. */
  endNs = new Float64Array(256);
  /** By kind: why a thread left the CPU, a string of the profile, how many records, a row of the sample table (of tracepoints and waits). */
  value = new Float64Array(256);
  /** How many tracepoints' texts were left out because there are too many. */
  omittedTracepoints = 0;
  /** When the profile ends, in nanoseconds: times off the CPU may end after the last sample. */
  profileEndNs: number;
  #track = new Float64Array(256);
  #size = 0;
  readonly #lives: readonly ThreadLife[];
  /** By process: its main thread, −1 if that does not occur in the recording. */
  readonly #mainThreads: Int32Array;
  readonly #starts: Uint32Array;
  readonly #order: Uint32Array;

  /** @param samplesEndNs when the last sample ends; what happens later is left out, except the ends of times off the CPU that began before */
  constructor(profile: Profile, samples: SampleTable, threads: readonly FirefoxThread[], samplesEndNs: number) {
    this.profileEndNs = samplesEndNs;
    /** By thread of the profile: its first track, −1 for none. */
    const trackOf = new Int32Array(profile.threads.length).fill(-1);
    for (let track = threads.length - 1; track >= 0; track--) trackOf[threads[track].group.subject] = track;
    this.#lives = profile.threads.map(() => ({ beganNs: -1, endedNs: -1 }));
    this.#mainThreads = new Int32Array(profile.processes.length).fill(-1);
    for (const [index, { pid, process, tid }] of profile.threads.entries()) if (tid === pid) this.#mainThreads[process] = index;
    // Waits tell more about the same switches.
    const hasWaits = profile.events.some((event) => event.samples > 0 && waitOf(event) !== undefined);
    if (hasWaits) this.#addWaits(profile, samples, trackOf);
    this.#addThreadEvents(profile, trackOf, !hasWaits);
    this.#addTracepoints(profile, samples, trackOf);
    // By track, and within a track by time.
    const byTime = ascendingOrder(this.startNs.subarray(0, this.#size));
    const order = ascendingOrder(Float64Array.from(byTime, (marker) => this.#track[marker]));
    this.#order = order.map((at) => byTime[at]);
    this.#starts = new Uint32Array(threads.length + 1);
    for (let marker = 0; marker < this.#size; marker++) this.#starts[this.#track[marker] + 1]++;
    for (let track = 0; track < threads.length; track++) this.#starts[track + 1] += this.#starts[track];
  }

  get size(): number {
    return this.#size;
  }

  /** Numbers of the markers of a track, in time order. */
  of(track: number): Uint32Array {
    return this.#order.subarray(this.#starts[track], this.#starts[track + 1]);
  }

  /** @param thread index into the profile's threads */
  lifeOf(thread: number): ThreadLife {
    return this.#lives[thread];
  }

  /** The life of a process's main thread. @param process index into the profile's processes */
  lifeOfProcess(process: number): ThreadLife | undefined {
    return this.#lives[this.#mainThreads[process]];
  }

  #addThreadEvents({ threadEvents }: Profile, trackOf: Int32Array, showsSwitches: boolean): void {
    if (threadEvents === undefined) return;
    const limitNs = this.profileEndNs;
    /** By thread: the marker of its current time off the CPU, −1 while it runs. */
    const offCpu = new Int32Array(trackOf.length).fill(-1);
    for (let row = 0; row < threadEvents.size; row++) {
      const kind = threadEvents.kind[row];
      const thread = threadEvents.thread[row];
      const timeNs = threadEvents.timeNs[row];
      const track = thread < 0 ? -1 : trackOf[thread];
      if (kind === threadEvent.RECORDS_LOST) {
        if (timeNs >= 0 && timeNs <= limitNs) this.#add(Math.max(0, track), LOST, timeNs, -1, threadEvents.value[row]);
        continue;
      }
      if (thread < 0) continue;
      if (kind === threadEvent.THREAD_BEGAN) this.#lives[thread].beganNs = Math.max(0, timeNs);
      else if (kind === threadEvent.THREAD_ENDED) this.#lives[thread].endedNs = Math.max(0, timeNs);
      if (track < 0) continue;
      if (offCpu[thread] >= 0 && (kind === threadEvent.SWITCHED_IN || kind === threadEvent.THREAD_ENDED)) {
        this.#endOffCpu(offCpu[thread], timeNs);
        offCpu[thread] = -1;
      }
      if (timeNs < 0 || timeNs > limitNs) continue;
      if (kind === threadEvent.THREAD_RENAMED) this.#add(track, RENAMED, timeNs, -1, threadEvents.value[row]);
      else if (kind === threadEvent.THREAD_EXECED) this.#add(track, EXECED, timeNs, -1, threadEvents.value[row]);
      else if (showsSwitches && (kind === threadEvent.SWITCHED_OUT || kind === threadEvent.PREEMPTED)) {
        offCpu[thread] = this.#add(track, OFF_CPU, timeNs, timeNs, kind === threadEvent.PREEMPTED ? PREEMPTED : WAITING);
      }
    }
    for (const marker of offCpu) if (marker >= 0) this.#endOffCpu(marker, this.profileEndNs);
  }

  #endOffCpu(marker: number, timeNs: number): void {
    this.endNs[marker] = Math.max(this.startNs[marker], timeNs);
    this.profileEndNs = Math.max(this.profileEndNs, timeNs);
  }

  #addWaits({ events, tasks }: Profile, { event, period, size, task, timeNs }: SampleTable, trackOf: Int32Array): void {
    const isWait = events.map((own) => waitOf(own) !== undefined);
    for (let row = 0; row < size; row++) {
      if (!isWait[event[row]] || !(timeNs[row] >= 0)) continue;
      this.#endOffCpu(this.#add(trackOf[tasks[task[row]].thread], WAIT, timeNs[row], -1, row), timeNs[row] + period[row]);
    }
  }

  #addTracepoints({ events, tasks }: Profile, { detail, event, size, task, timeNs }: SampleTable, trackOf: Int32Array): void {
    if (detail.length === 0 || events.every(({ showPayload }) => showPayload === undefined)) return;
    let count = 0;
    for (let row = 0; row < size; row++) {
      if (events[event[row]].showPayload === undefined || detail[row] < 0 || !(timeNs[row] >= 0)) continue;
      if (++count > MAX_TRACEPOINTS) this.omittedTracepoints++;
      else this.#add(trackOf[tasks[task[row]].thread], TRACEPOINT, timeNs[row], -1, row);
    }
  }

  #add(track: number, kind: number, startNs: number, endNs: number, value: number): number {
    const marker = this.#size++;
    if (marker === this.kind.length) {
      this.kind = grown(this.kind, marker + 1);
      this.startNs = grown(this.startNs, marker + 1);
      this.endNs = grown(this.endNs, marker + 1);
      this.value = grown(this.value, marker + 1);
      this.#track = grown(this.#track, marker + 1);
    }
    this.kind[marker] = kind;
    this.startNs[marker] = startNs;
    this.endNs[marker] = endNs;
    this.value[marker] = value;
    this.#track[marker] = track;
    return marker;
  }
}
