import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { isSwitch, isSwitchIn, type SideBand } from '../perfdata/records/side-band.ts';
import type { ProfileBuilder } from '../profile/builder.ts';
import type { OffCpuTimes } from '../simpleperf/off-cpu-times.ts';
import type { BranchStacks } from './callchains/branch-stacks.ts';
import type { CallchainTable } from './callchains/callchains.ts';
import { ChainTotals } from './callchains/chain-totals.ts';
import { DeferredCallchains } from './callchains/deferred-callchains.ts';
import type { FrameResolver } from './callchains/frames.ts';
import type { EventList } from './events/events.ts';
import type { SessionEvent } from './events/session-event.ts';
import type { CompiledFilter } from './filter/filter.ts';
import type { SessionMemory } from './memory-budget.ts';
import { OffCpuReplay } from './off-cpu/off-cpu-replay.ts';
import { SimpleperfSwitches } from './off-cpu/simpleperf-switches.ts';
import type { JitCode } from './processes/jit-code.ts';
import { changesMachine, type Machine } from './processes/machine.ts';
import type { SessionThread, TaskTable } from './processes/tasks.ts';
import { noteThreadEvent } from './processes/thread-events.ts';
import type { DetailReader } from './reading/sample-details.ts';
import { ReadGrowth, type ReadSample } from './rows/read-growth.ts';
import type { RecordExtras } from './rows/record-extras.ts';
import type { Deliver } from './rows/record-queue.ts';
import { DROPPED, NOT_UNWOUND, type RecordRow } from './rows/record-row.ts';
import type { SwitchSample } from './rows/switch-samples.ts';
import type { UserStacks } from './unwinding/user-stacks.ts';

/**
 * Sees every record of the file once, whatever the filters: records with a time in time order, samples without one in their place in the file, all others
 * without one and those that are not decoded as soon as they are read. A sample that counts as several (READ of a group) is seen once. One for whose thread
 * there is no memory is not seen.
 */
export interface RecordObserver {
  /** Bytes that it keeps of each record; nothing by default. */
  readonly bytesPerRecord?: number;
  /** @param row reused for the next record; its task and stack are not known yet */
  sample(row: Readonly<RecordRow>): void;
  /** @param row the record's position, time, pid and tid: NaN and −1 where it has none; reused for the next record */
  sideBand(row: Readonly<RecordRow>, record: SideBand): void;
}

/** What a replay works on. */
export interface ReplayParts {
  readonly machine: Machine;
  readonly events: EventList;
  readonly chains: CallchainTable;
  readonly extras: RecordExtras;
  readonly userStacks: UserStacks;
  /** Where the branches of samples wait; undefined if nobody wants them. */
  readonly branchStacks: BranchStacks | undefined;
  readonly frames: FrameResolver;
  /** Knows which details of samples are wanted; undefined if none are. */
  readonly details: DetailReader | undefined;
  readonly filter: CompiledFilter;
  /** Where the samples go. */
  readonly profile: ProfileBuilder;
  readonly observer: RecordObserver | undefined;
  /** Times off the CPU in simpleperf's recordings. */
  readonly simpleperfOffCpu: OffCpuTimes | undefined;
  /** Whether to find the times off the CPU that follow from switches. */
  readonly findsOffCpu: boolean;
  readonly memory: SessionMemory;
  /** See {@link ReadGrowth}. */
  readonly keepsOwnPeriod: boolean;
  /** Stacks begin with the samples' own addresses, whatever the callchains say. */
  readonly leafIsSampleIp: boolean;
}

/** After how many records the replay asks again whether there is memory for more. A power of two. */
const RECORDS_PER_QUESTION = 1 << 14;

/** Replays the records of a recording in time order: applies each to the machine, and gives each sample its stack. */
export class Replay {
  readonly #machine: Machine;
  /** Parts of the machine, for the loop over samples. */
  readonly #tasks: TaskTable;
  readonly #jitCode: JitCode;
  readonly #events: readonly SessionEvent[];
  readonly #chains: CallchainTable;
  readonly #extras: RecordExtras;
  readonly #userStacks: UserStacks;
  readonly #branchStacks: BranchStacks | undefined;
  readonly #frames: FrameResolver;
  readonly #details: DetailReader | undefined;
  readonly #filter: CompiledFilter;
  readonly #profile: ProfileBuilder;
  readonly #observer: RecordObserver | undefined;
  readonly #simpleperfSwitches: SimpleperfSwitches | undefined;
  /** Finds the times off the CPU that follow from switches; undefined if nobody asked for them. */
  readonly offCpuReplay: OffCpuReplay | undefined;
  /** Whether one of the two needs to know which threads are on a CPU. */
  readonly #watchesThreads: boolean;
  readonly #memory: SessionMemory;
  readonly #readGrowth: ReadGrowth;
  readonly #deferred: DeferredCallchains;
  readonly #chainTotals: ChainTotals;
  #sampleCount = 0;
  #deliveredCount = 0;
  /** Whether there is no more memory: samples whose threads or stacks are new are left out. */
  #isFull = false;
  /** Whether a record was left out, too, that said what ran or was mapped from then on: then all further samples are left out. */
  #isLost = false;
  #leftOutCount = 0;
  #cutCount = 0;
  #lastObservedNr = -1;

  constructor(parts: ReplayParts, diagnostics: Diagnostics) {
    this.#machine = parts.machine;
    this.#tasks = parts.machine.tasks;
    this.#jitCode = parts.machine.jitCode;
    this.#events = parts.events.events;
    this.#chains = parts.chains;
    this.#extras = parts.extras;
    this.#userStacks = parts.userStacks;
    this.#branchStacks = parts.branchStacks;
    this.#frames = parts.frames;
    this.#details = parts.details;
    this.#filter = parts.filter;
    this.#profile = parts.profile;
    this.#observer = parts.observer;
    this.#simpleperfSwitches = parts.simpleperfOffCpu && new SimpleperfSwitches(parts.simpleperfOffCpu, parts.profile);
    this.#chainTotals = new ChainTotals(this.#tasks, parts.machine.kernels, parts.frames, parts.profile);
    this.#deferred = new DeferredCallchains(parts.chains, parts.frames, parts.profile, parts.leafIsSampleIp, (place, total, row) =>
      this.offCpuReplay?.finishSample(place, total, row),
    );
    const placeOf = (row: RecordRow, threadIndex: number, thread: SessionThread) => this.#placeOf(row, threadIndex, thread);
    const totalOf = (row: RecordRow, threadIndex: number, thread: SessionThread) => {
      const total = this.#totalOf(row, threadIndex, thread);
      if (total < 0) this.#leaveOut(row);
      return total;
    };
    this.offCpuReplay = parts.findsOffCpu ? new OffCpuReplay({ ...parts, tasks: this.#tasks, deferred: this.#deferred, placeOf, totalOf }) : undefined;
    this.#watchesThreads = this.#simpleperfSwitches !== undefined || this.offCpuReplay !== undefined;
    this.#memory = parts.memory;
    this.#readGrowth = new ReadGrowth(parts.keepsOwnPeriod, diagnostics);
  }

  /** Number of samples so far, before filters; each member of a group counts. */
  get sampleCount(): number {
    return this.#sampleCount;
  }

  /** Number of samples that were left out because there was no memory for their stacks or threads, also of those that switches would have become. */
  get leftOutCount(): number {
    return this.#leftOutCount;
  }

  /** Bytes of the table by which totals are found, and of samples whose callchains are not whole. */
  get heldBytes(): number {
    return this.#chainTotals.heldBytes + this.#deferred.heldBytes;
  }

  /** What became of callchains whose user part comes in separate records. */
  get deferred(): Pick<DeferredCallchains, 'unjoinedCount' | 'unusedCount'> {
    return this.#deferred;
  }

  /** About how many bytes the last values of counters need, and threads that are off their CPU. */
  get heldObjectBytes(): number {
    return this.#readGrowth.heldObjectBytes + (this.offCpuReplay?.waits.heldObjectBytes ?? 0);
  }

  /** Number of samples that were left out because their stacks do not reach the start of their thread. */
  get cutCount(): number {
    return this.#cutCount;
  }

  /** Replays the next record. @returns false if its stack waits for a file: then nothing has happened that delivering it again would repeat */
  readonly deliver: Deliver = (row) => {
    // hot
    if (row.timeNs >= this.#jitCode.nextTimeNs) this.#jitCode.applyUpTo(row.timeNs);
    if ((row.stackDump >= 0 || (row.event >= 0 && this.#userStacks.mendsChains)) && !this.#unwind(row)) return false;
    if (this.#watchesThreads) this.offCpuReplay?.waits.passTime(row.timeNs);
    if ((++this.#deliveredCount & (RECORDS_PER_QUESTION - 1)) === 0) this.#isFull ||= !this.#memory.hasMemory();
    if (row.extra < 0) this.#deliverSample(row);
    else this.#deliverExtra(row);
    if (row.branches >= 0) this.#branchStacks?.free(row.branches);
    return true;
  };

  /** Replays the next record, or a sample that was made from a hardware trace: the observer does not see it, and it may name its thread alone. */
  readonly deliverMade: Deliver = (row) => {
    // hot
    if (row.event >= 0 && this.#events[row.event].isOfTrace) {
      this.#lastObservedNr = row.nr;
      if (row.pid < 0 && row.tid >= 0) row.pid = this.#tasks.pidOf(row.tid);
    }
    return this.deliver(row);
  };

  /** Unwinds a sample's stack from its registers and dump, if anybody wants it. @returns false if that waits for a file */
  #unwind(row: RecordRow): boolean {
    const event = this.#events[row.event];
    if (!this.#isFull) {
      const { process, comm } = this.#tasks.threads[this.#tasks.thread(row.pid, row.tid)];
      // A sample's READ values are of several events, and a switch begins a sample of another event: only thread and CPU are checked here.
      const isWanted = this.#filter.isOpen || (row.extra >= 0 ? this.#filter.acceptsThread(row, comm) : this.#filter.accepts(row, event.name, comm));
      if (isWanted) return this.#userStacks.unwind(row, event, this.#tasks.processes[process]);
    }
    this.#userStacks.drop(row);
    return true;
  }

  #deliverSample(row: RecordRow): void {
    // hot
    this.#sampleCount++;
    if (this.#hasNoMemoryFor(row)) {
      this.#leftOutCount++;
      return;
    }
    const threadIndex = this.#threadOfSample(row);
    if (this.#watchesThreads) this.#seeThread(row);
    const thread = this.#tasks.threads[threadIndex];
    if (this.#tasks.processes[thread.process].space.fallback !== undefined) this.#finishExec(row, thread);
    if (!this.#filter.isOpen && !this.#filter.accepts(row, this.#events[row.event].name, thread.comm)) return;
    if (row.kernelChain < 0 || this.#placeOf(row, threadIndex, thread) < 0) {
      const total = this.#totalOf(row, threadIndex, thread);
      if (total < 0) {
        this.#leaveOut(row);
        return;
      }
      this.#addTo(total, row);
    }
    if (row.branches >= 0) this.#keepBranches(row, thread);
    if (row.detail >= 0 && this.#details?.locates(this.#events[row.event]) === true) this.#locateFault(row, thread);
  }

  #addTo(total: number, row: RecordRow): void {
    // hot
    if (this.#simpleperfSwitches !== undefined && this.#events[row.event].isOffCpuTime) this.#simpleperfSwitches.addSwitch(total, row);
    else this.#addSample(total, row);
  }

  /** Keeps the branches of the sample that was added last. */
  #keepBranches(row: RecordRow, { process }: SessionThread): void {
    this.#branchStacks?.keep(row, this.#events[row.event], this.#tasks.processes[process].space, this.#frames, this.#profile);
  }

  /** Finds what is at the address of a page fault. */
  #locateFault({ detail }: RecordRow, { process }: SessionThread): void {
    const details = this.#profile.samples?.details;
    if (details === undefined || !details.has(detail, 'addr')) return;
    const { space } = this.#tasks.processes[process];
    details.setPlace(detail, this.#frames.dataPlaceOf(details.lo(detail, 'addr'), details.hi(detail, 'addr'), space));
  }

  /** Where a sample waits for the rest of its callchain; −1 if it does not. An unwound stack is whole already, and without memory no stack is completed. */
  #placeOf(row: RecordRow, threadIndex: number, { process }: SessionThread): number {
    if (this.#isFull || row.chain < 0 || row.unwound !== NOT_UNWOUND) return -1;
    return this.#deferred.add(row, threadIndex, this.#tasks.taskOf(threadIndex), this.#tasks.processes[process].space);
  }

  /** Takes a record of where a thread went back to user code: samples that wait for it get their stacks. */
  #joinDeferred(row: RecordRow): void {
    this.offCpuReplay?.waits.see(row.tid, row.timeNs);
    if (this.#hasNoMemoryFor(row)) return;
    const threadIndex = this.#tasks.thread(row.pid, row.tid);
    const { process } = this.#tasks.threads[threadIndex];
    if (this.#tasks.processes[process].space.fallback !== undefined) this.#tasks.finishExec(process);
    this.#deferred.join(row, threadIndex, this.#isFull ? undefined : this.#tasks.processes[process].space);
  }

  /**
   * To be called at the end of the recording: samples that still wait for the rest of their callchains count with what they have, and so do times off the CPU.
   */
  finish(): void {
    this.#deferred.finish();
    this.offCpuReplay?.waits.finish();
  }

  #leaveOut({ unwound }: RecordRow): void {
    if (unwound === DROPPED) this.#cutCount++;
    else this.#leftOutCount++;
  }

  #addSample(total: number, row: RecordRow): void {
    // hot
    const sampleRow = this.#profile.addSample(total, row);
    if (row.periodRemainder !== 0) this.#profile.addPeriod(total, sampleRow, row.periodRemainder);
  }

  /** Notes that a thread is on a CPU because it was sampled, unless the sample is about another time, or is of a switch. */
  #seeThread(row: RecordRow): void {
    if (this.#simpleperfSwitches !== undefined) this.#simpleperfSwitches.see(row);
    else if (this.#events[row.event].payload === 'none' && !this.#events[row.event].isOffCpuTime) this.offCpuReplay?.waits.see(row.tid, row.timeNs);
  }

  /** Whether there is no memory for the sample's thread, or what runs in it is no longer known. */
  #hasNoMemoryFor(row: RecordRow): boolean {
    return this.#isFull && (this.#isLost || !this.#tasks.has(row.pid, row.tid));
  }

  /** The thread of a sample; shows the observer the sample, once. */
  #threadOfSample(row: RecordRow): number {
    // hot
    const threadIndex = this.#tasks.thread(row.pid, row.tid);
    if (this.#observer !== undefined && row.nr !== this.#lastObservedNr) {
      this.#lastObservedNr = row.nr;
      this.#observer.sample(row);
    }
    return threadIndex;
  }

  /** Ends an exec if the process runs user code: that is its new program's. */
  #finishExec({ chain, unwound }: RecordRow, { process }: SessionThread): void {
    if (chain >= 0 ? this.#chains.startsInUserCode(chain) : unwound >= 0) this.#tasks.finishExec(process);
  }

  /** The total that a sample counts for: found by its stack if that was unwound, else by its chain. −1 if there is no memory for it, or it is to be left out. */
  #totalOf(row: RecordRow, threadIndex: number, thread: SessionThread): number {
    // hot
    const { event, unwound } = row;
    if (unwound === DROPPED) return -1;
    if (unwound !== NOT_UNWOUND) return this.#profile.totals.intern(event, this.#tasks.taskOf(threadIndex), unwound);
    const { space } = this.#tasks.processes[thread.process];
    const known = this.#chainTotals.find(row, threadIndex, thread, space);
    return known >= 0 || this.#isFull ? known : this.#chainTotals.add(row, threadIndex, thread, space);
  }

  #deliverExtra(row: RecordRow): void {
    const record = this.#extras.take(row.extra);
    if (record === undefined) return;
    if (record.kind === 'read') this.#deliverRead(row, record);
    else if (record.kind === 'switch') this.#deliverSwitch(row, record);
    else this.#deliverSideBand(row, record);
  }

  #deliverSwitch(row: RecordRow, record: SwitchSample): void {
    if (record.read === undefined) this.#deliverSample(row);
    else this.#deliverRead(row, record.read);
    if (this.offCpuReplay === undefined) return;
    if (!this.#hasNoMemoryFor(row)) this.offCpuReplay.playSample(row, record);
    else if (record.source === 'sched_switch') this.#leftOutCount++;
  }

  #deliverSideBand(row: RecordRow, record: SideBand): void {
    this.#observer?.sideBand(row, record);
    if (isSwitchIn(record)) this.#simpleperfSwitches?.see(row);
    if (record.kind === 'callchain') this.#joinDeferred(row);
    if (this.#isFull) this.#isLost ||= changesMachine(record);
    else this.#machine.apply(record, row.nr);
    if (this.#profile.threadEvents !== undefined && !this.#isFull) noteThreadEvent(this.#profile, this.#tasks, row, record);
    if (this.offCpuReplay === undefined) return;
    if (!this.#hasNoMemoryFor(row)) this.offCpuReplay.playSideBand(row, record);
    else if (isSwitch(record) && !isSwitchIn(record)) this.#leftOutCount++;
  }

  /** A sample with READ counts as one of each event whose value has grown; the observer sees it even if none has. */
  #deliverRead(row: RecordRow, read: ReadSample): void {
    const growth = this.#readGrowth;
    const count = growth.measure(read, row);
    for (let i = 0; i < count; i++) {
      row.event = growth.events[i];
      row.period = growth.periods[i];
      row.periodRemainder = growth.periodRemainders[i];
      this.#deliverSample(row);
    }
    if (count > 0 || this.#hasNoMemoryFor(row)) return;
    row.period = 0;
    row.periodRemainder = 0;
    this.#threadOfSample(row);
  }
}
