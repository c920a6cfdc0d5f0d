import * as abi from '../perfdata/constants.ts';
import { isSwitch, type SideBand } from '../perfdata/records/side-band.ts';
import type { ProfileBuilder } from '../profile/builder.ts';
import type { SwitchState } from '../tracing/sched-switch.ts';
import type { DeferredCallchains } from './deferred-callchains.ts';
import type { EventList, OffCpuState } from './events.ts';
import type { CompiledFilter } from './filter.ts';
import type { FrameResolver } from './frames.ts';
import { BY_RECORD, BY_SAMPLE, OffCpuWaits, type WaitSample } from './off-cpu-waits.ts';
import { hasStack, type RecordRow } from './record-row.ts';
import type { SwitchSample } from './switch-samples.ts';
import type { SessionThread, TaskTable } from './tasks.ts';

/** What the replay does for it. */
export interface OffCpuParts {
  readonly events: EventList;
  readonly tasks: TaskTable;
  readonly filter: CompiledFilter;
  readonly frames: FrameResolver;
  readonly profile: ProfileBuilder;
  readonly deferred: DeferredCallchains;
  /** Lets a sample wait for the rest of its callchain. @returns its place; −1 where its chain is whole, now at the latest */
  readonly placeOf: (row: RecordRow, threadIndex: number, thread: SessionThread) => number;
  /** What a sample is added up under, by its chain; −1 where it is left out, which was counted. */
  readonly totalOf: (row: RecordRow, threadIndex: number, thread: SessionThread) => number;
}

/**
 * Makes samples of the times that threads were off the CPU. They come when the thread leaves, with the stack that it has there, and get their
 * period when it is back. Records come in the order of time.
 */
export class OffCpuReplay {
  readonly waits: OffCpuWaits;
  readonly #parts: OffCpuParts;
  /** Indexes of the events, by how the thread waited; undefined before there are any. */
  #eventOf: Readonly<Record<OffCpuState, number>> | undefined;
  /** By place, samples that wait for the rest of their callchains. */
  readonly #unfinished = new Map<number, WaitSample>();
  /** Waits whose stacks were not recorded. */
  stacklessCount = 0;

  constructor(parts: OffCpuParts) {
    this.#parts = parts;
    this.waits = new OffCpuWaits(({ total, row, place }, startNs, endNs) => {
      parts.profile.noteEnd(endNs);
      if (place >= 0) parts.deferred.addPeriod(place, endNs - startNs);
      else parts.profile.addPeriod(total, row, endNs - startNs);
    });
  }

  /** The stack is known of a sample that waited for that at a place. */
  finishSample(place: number, total: number, row: number): void {
    const sample = this.#unfinished.get(place);
    if (sample === undefined) return;
    this.#unfinished.delete(place);
    sample.total = total;
    sample.row = row;
    sample.place = -1;
  }

  /** A sample was taken for a switch, at which {@link RecordRow.chain} is the stack. It is changed. */
  playSample(row: RecordRow, { source, prevTid, nextTid, state }: SwitchSample): void {
    const { waits } = this;
    const { tid, timeNs } = row;
    if (source === 'context-switches') {
      // No wait begins here: these samples do not tell when the thread is back. SWITCH records do, and one follows at once.
      waits.noteChain(tid, row);
      return;
    }
    if (prevTid > 0 && tid > 0) waits.learn(prevTid, tid);
    const leaves = tid > 0 ? tid : waits.tidOf(prevTid);
    if (state === 'ended') waits.endThread(leaves, timeNs);
    if (waits.leave(leaves, timeNs, BY_SAMPLE) && tid > 0) this.#begin(row, offCpuStateOf(state), BY_SAMPLE);
    if (nextTid > 0) waits.return(waits.tidOf(nextTid), timeNs);
  }

  /** A record that is no sample. The row of one that is a switch is changed. */
  playSideBand(row: RecordRow, sideBand: SideBand): void {
    const { waits } = this;
    switch (sideBand.kind) {
      case 'fork':
        waits.beginThread(sideBand.record.tid);
        break;
      case 'comm':
        waits.goOn(sideBand.record.tid);
        if (sideBand.record.isExec) waits.startProgram(sideBand.record.pid, row.timeNs);
        break;
      case 'exit':
        waits.endThread(sideBand.record.tid, row.timeNs);
        break;
      case 'other':
        if (isSwitch(sideBand)) this.#playSwitch(row, sideBand.misc);
        break;
    }
  }

  #playSwitch(row: RecordRow, misc: number): void {
    const { waits } = this;
    const { tid, timeNs } = row;
    if ((misc & abi.PERF_RECORD_MISC_SWITCH_OUT) === 0) {
      waits.return(tid, timeNs);
      return;
    }
    const isPreempted = (misc & abi.PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) !== 0;
    const noted = waits.takeChain(tid);
    if (noted !== undefined) Object.assign(row, noted);
    if (waits.leave(tid, timeNs, BY_RECORD)) this.#begin(row, isPreempted ? 'preempted' : 'waiting', BY_RECORD);
  }

  #begin(row: RecordRow, state: OffCpuState, source: number): void {
    const { events, filter, tasks } = this.#parts;
    this.#eventOf ??= events.addOffCpuEvents();
    row.event = this.#eventOf[state];
    row.period = 0;
    row.periodRemainder = 0;
    row.detail = -1;
    const threadIndex = tasks.thread(row.pid, row.tid);
    const thread = tasks.threads[threadIndex];
    const isWanted = filter.isOpen || filter.accepts(row, events.events[row.event].name, thread.comm, false);
    this.waits.begin(row.pid, row.tid, row.timeNs, source, isWanted ? this.#addSample(row, threadIndex, thread) : undefined);
  }

  /** @returns undefined where it is left out, which was counted */
  #addSample(row: RecordRow, threadIndex: number, thread: SessionThread): WaitSample | undefined {
    const place = row.kernelChain < 0 ? -1 : this.#parts.placeOf(row, threadIndex, thread);
    if (place >= 0) {
      const sample = { total: -1, row: -1, place };
      this.#unfinished.set(place, sample);
      return sample;
    }
    const total = this.#totalOf(row, threadIndex, thread);
    return total < 0 ? undefined : { total, row: this.#parts.profile.addSample(total, row), place };
  }

  /** Where nothing tells the stack, it is one frame that says so. */
  #totalOf(row: RecordRow, threadIndex: number, thread: SessionThread): number {
    const { frames, profile, tasks, totalOf } = this.#parts;
    if (hasStack(row)) return totalOf(row, threadIndex, thread);
    this.stacklessCount++;
    return profile.totals.intern(row.event, tasks.taskOf(threadIndex), frames.offCpuStack());
  }
}

/** How a thread waits that left its CPU in a state. What has ended is gone before it can come back. */
function offCpuStateOf(state: SwitchState): OffCpuState {
  return state === 'ended' || state === 'unknown' ? 'waiting' : state;
}
