import * as abi from '../../perfdata/abi/constants.ts';
import { isSwitch, type SideBand } from '../../perfdata/records/side-band.ts';
import type { ProfileBuilder } from '../../profile/builder.ts';
import type { SwitchState } from '../../tracing/sched-switch.ts';
import type { DeferredCallchains } from '../callchains/deferred-callchains.ts';
import type { FrameResolver } from '../callchains/frames.ts';
import type { EventList } from '../events/events.ts';
import type { OffCpuState } from '../events/session-event.ts';
import type { CompiledFilter } from '../filter/filter.ts';
import type { SessionThread, TaskTable } from '../processes/tasks.ts';
import { hasStack, type RecordRow } from '../rows/record-row.ts';
import type { SwitchSample } from '../rows/switch-samples.ts';
import { BY_RECORD, bySampleOf, OffCpuWaits, type WaitSample } from './off-cpu-waits.ts';

/** What {@link OffCpuReplay} uses of the replay. */
export interface OffCpuParts {
  readonly events: EventList;
  readonly tasks: TaskTable;
  readonly filter: CompiledFilter;
  readonly frames: FrameResolver;
  readonly profile: ProfileBuilder;
  readonly deferred: DeferredCallchains;
  /** Lets a sample wait for the rest of its callchain. @returns its place; −1 if its chain is whole, or has just become so */
  readonly placeOf: (row: RecordRow, threadIndex: number, thread: SessionThread) => number;
  /** The total that a sample counts for, by its chain; −1 if it is left out, which has been counted. */
  readonly totalOf: (row: RecordRow, threadIndex: number, thread: SessionThread) => number;
}

/**
 * Makes samples of the times that threads were off the CPU. A sample is added when the thread leaves, with its stack at that moment, and gets its period when
 * the thread is back. Records come in time order.
 */
export class OffCpuReplay {
  readonly waits: OffCpuWaits;
  readonly #parts: OffCpuParts;
  /** Indexes of the events, by how the thread waited; undefined before there are any. */
  #eventOf: Readonly<Record<OffCpuState, number>> | undefined;
  /** Samples that wait for the rest of their callchains, by place. */
  readonly #unfinished = new Map<number, WaitSample>();
  /** Number of waits whose stacks were not recorded. */
  stacklessCount = 0;

  constructor(parts: OffCpuParts) {
    this.#parts = parts;
    this.waits = new OffCpuWaits(({ total, row, place }, startNs, endNs) => {
      parts.profile.noteEnd(endNs);
      if (place >= 0) parts.deferred.addPeriod(place, endNs - startNs);
      else parts.profile.addPeriod(total, row, endNs - startNs);
    });
  }

  /** To be called when the stack is known of the sample that waited for it at a place. */
  finishSample(place: number, total: number, row: number): void {
    const sample = this.#unfinished.get(place);
    if (sample === undefined) return;
    this.#unfinished.delete(place);
    sample.total = total;
    sample.row = row;
    sample.place = -1;
  }

  /** Replays a sample that was taken at a switch, where {@link RecordRow.chain} is the stack. The row is changed. */
  playSample(row: RecordRow, { source, prevTid, nextTid, state }: SwitchSample): void {
    const { waits } = this;
    const { tid, timeNs } = row;
    if (source === 'context-switches') {
      // No wait begins here: these samples do not tell when the thread is back. SWITCH records do, and one follows at once.
      waits.noteChain(tid, row);
      return;
    }
    if (prevTid > 0 && tid > 0) waits.noteThreadNumbers(prevTid, tid);
    const leaves = tid > 0 ? tid : waits.tidOf(prevTid);
    if (state === 'ended') waits.endThread(leaves, timeNs);
    const comesBack = state !== 'ended' && state !== 'unknown';
    const how = bySampleOf(row.event);
    if (waits.leave(leaves, timeNs, how, comesBack) && (tid > 0 || this.#restoreThread(row, leaves))) this.#begin(row, offCpuStateOf(state), how);
    if (nextTid > 0) waits.return(waits.tidOf(nextTid), timeNs);
  }

  /**
   * Gives the row of a switch the thread that the switch names. The kernel numbers a thread −1 in samples once it has ended, but it may still be preempted.
   * @returns whether the recording knows the thread
   */
  #restoreThread(row: RecordRow, tid: number): boolean {
    const pid = this.#parts.tasks.pidOf(tid);
    if (row.tid !== -1 || pid < 0) return false;
    row.pid = pid;
    row.tid = tid;
    return true;
  }

  /** Replays a record that is not a sample. The row of a switch is changed. */
  playSideBand(row: RecordRow, sideBand: SideBand): void {
    const { waits } = this;
    switch (sideBand.kind) {
      case 'fork':
        waits.beginThread(sideBand.record.tid);
        break;
      case 'comm':
        waits.reviveThread(sideBand.record.tid);
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
    if (waits.leave(tid, timeNs, BY_RECORD, isPreempted)) this.#begin(row, isPreempted ? 'preempted' : 'waiting', BY_RECORD);
  }

  #begin(row: RecordRow, state: OffCpuState, source: number): void {
    const { events, filter, tasks } = this.#parts;
    this.#eventOf ??= events.addOffCpuEvents();
    row.event = this.#eventOf[state];
    row.period = 0;
    row.detail = -1;
    const threadIndex = tasks.thread(row.pid, row.tid);
    const thread = tasks.threads[threadIndex];
    const isWanted = filter.isOpen || filter.acceptsMade(row, events.events[row.event].name, thread.comm);
    this.waits.begin(row.pid, row.tid, row.timeNs, source, isWanted ? this.#addSample(row, threadIndex, thread) : undefined);
  }

  /** @returns undefined if it is left out, which has been counted */
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

  /** The total that a sample counts for. If its stack is unknown, that is one frame that says so. */
  #totalOf(row: RecordRow, threadIndex: number, thread: SessionThread): number {
    const { frames, profile, tasks, totalOf } = this.#parts;
    if (hasStack(row)) return totalOf(row, threadIndex, thread);
    this.stacklessCount++;
    return profile.totals.intern(row.event, tasks.taskOf(threadIndex), frames.offCpuStack());
  }
}

/** How a thread waits that left its CPU in a state. One that has ended does not come back. */
function offCpuStateOf(state: SwitchState): OffCpuState {
  return state === 'ended' || state === 'unknown' ? 'waiting' : state;
}
