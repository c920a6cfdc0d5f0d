import type { Diagnostics } from '../base/diagnostics.ts';
import { KeyedPairs } from '../base/keyed-pairs.ts';
import { TupleInterner } from '../base/tuple-interner.ts';
import { isSwitchIn, type SideBand } from '../perfdata/records/side-band.ts';
import type { OffCpuTimes, PeriodSink } from '../simpleperf/off-cpu-times.ts';
import type { AddressSpace } from './address-space.ts';
import type { CallchainTable } from './callchains.ts';
import type { SessionEvent } from './events.ts';
import type { CompiledFilter } from './filter.ts';
import type { FrameResolver, FrameSink } from './frames.ts';
import type { JitCode } from './jit-code.ts';
import type { Kernels } from './kernels.ts';
import { changesMachine, type Machine } from './machine.ts';
import type { PeriodRemainders } from './period-remainders.ts';
import { ReadGrowth, type ReadSample } from './read-growth.ts';
import type { QueuedRow } from './record-queue.ts';
import { NO_SAMPLE } from './sample-reader.ts';
import type { TaskTable } from './tasks.ts';

/** Where a session's samples and frames go, in time order. */
export interface SessionSink extends FrameSink, PeriodSink {
  /** Bytes that it keeps so far. */
  readonly heldBytes: number;
  /** Bytes that it keeps of each sample; 0 where it only adds up. */
  readonly bytesPerSample: number;
  /**
   * Index of what samples of an event in a task with a stack are added up under.
   * @param event, task indexes into the session's tables
   * @param stack what {@link FrameSink.internStack} gave, −1 for none
   */
  internTotal(event: number, task: number, stack: number): number;
  /**
   * @param total what {@link internTotal} gave
   * @param timeNs nanoseconds since the session's base time, NaN where the sample has none
   * @param cpu −1 where the sample has none
   * @param detail row of its details, −1 where none are kept
   * @returns what {@link PeriodSink.addPeriod} takes for it
   */
  sample(total: number, timeNs: number, cpu: number, period: number, ipLo: number, ipHi: number, detail: number): number;
}

/**
 * Sees every record of the file once, in time order, filters or not. A sample that stands for several (READ of a
 * group) is seen once.
 */
export interface RecordObserver {
  /** Bytes that it keeps of each record; nothing by default. */
  readonly bytesPerRecord?: number;
  /**
   * @param nr position in the file, from 0
   * @param periodRemainder the exact period minus its double; 0 up to 2^53
   */
  sample(
    nr: number,
    timeNs: number,
    event: number,
    thread: number,
    pid: number,
    tid: number,
    period: number,
    ipLo: number,
    ipHi: number,
    periodRemainder: number,
  ): void;
  /** @param pid, tid −1 where the record does not tell */
  sideBand(nr: number, timeNs: number, pid: number, tid: number, record: SideBand): void;
}

/** What a replay works on and whom it tells. */
export interface ReplayParts {
  readonly machine: Machine;
  readonly events: readonly SessionEvent[];
  readonly chains: CallchainTable;
  readonly frames: FrameResolver;
  readonly filter: CompiledFilter;
  readonly sink: SessionSink;
  readonly observer: RecordObserver | undefined;
  readonly offCpu: OffCpuTimes | undefined;
  /** Of the records whose periods are their own. */
  readonly periodRemainders: PeriodRemainders;
  /** Tells the filter what times count from, before it is first asked. @returns false as long as that is not known */
  readonly prepareFilter: () => boolean;
  /** Whether there is memory for more stacks, totals, tasks and maps. Asked now and then. */
  readonly hasRoom: () => boolean;
}

/** About what a decoded record takes as an object: by itself, and for each byte that it had (names, lists of values). Observed: Node 20. */
const OBJECT_BYTES = 160;
const OBJECT_BYTES_PER_BYTE = 2;
const TUPLE_BYTES = 20;
/** After how many records the replay asks again whether there is room for more. A power of two. */
const RECORDS_PER_QUESTION = 1 << 14;

/**
 * Plays the records of a recording in the order of time: lets each take effect on the machine, and gives each sample the
 * stack of places that it was in.
 */
export class Replay {
  readonly #machine: Machine;
  /** The machine's, for the loop over samples. */
  readonly #tasks: TaskTable;
  readonly #kernels: Kernels;
  readonly #jitCode: JitCode;
  readonly #events: readonly SessionEvent[];
  readonly #chains: CallchainTable;
  readonly #frames: FrameResolver;
  readonly #filter: CompiledFilter;
  readonly #sink: SessionSink;
  readonly #observer: RecordObserver | undefined;
  readonly #offCpu: OffCpuTimes | undefined;
  readonly #periodRemainders: PeriodRemainders;
  readonly #prepareFilter: () => boolean;
  readonly #hasRoom: () => boolean;
  readonly #readGrowth: ReadGrowth;
  /** (event, task, state of the address space), each as one number; and totals by chain + 1 and that number. */
  readonly #surroundings = new TupleInterner(3);
  #totals = new KeyedPairs();
  #kernelGeneration = -1;
  /** What waits in the queue and is more than a row, and the places of this list that are free again. */
  readonly #waiting: (SideBand | ReadSample | undefined)[] = [];
  readonly #freePlaces: number[] = [];
  /** About what each of them takes, and all together. */
  readonly #waitingBytes: number[] = [];
  #allWaitingBytes = 0;
  #sampleCount = 0;
  #deliveredCount = 0;
  /** Whether there is no room: samples are left out whose threads or stacks have not been met. */
  #isFull = false;
  /** Whether, besides, a record was left out that said what ran or was mapped from then on: so all samples are. */
  #isLost = false;
  #leftOutCount = 0;
  #lastObservedNr = -1;
  #isFilterReady = false;

  constructor(parts: ReplayParts, diagnostics: Diagnostics) {
    this.#machine = parts.machine;
    this.#tasks = parts.machine.tasks;
    this.#kernels = parts.machine.kernels;
    this.#jitCode = parts.machine.jitCode;
    this.#events = parts.events;
    this.#chains = parts.chains;
    this.#frames = parts.frames;
    this.#filter = parts.filter;
    this.#sink = parts.sink;
    this.#observer = parts.observer;
    this.#offCpu = parts.offCpu;
    this.#periodRemainders = parts.periodRemainders;
    this.#prepareFilter = parts.prepareFilter;
    this.#hasRoom = parts.hasRoom;
    this.#readGrowth = new ReadGrowth(diagnostics);
  }

  /** Samples so far, before filters, group members counted each. */
  get sampleCount(): number {
    return this.#sampleCount;
  }

  /** Samples that were left out because there was no room. */
  get leftOutCount(): number {
    return this.#leftOutCount;
  }

  /** About what the objects take that wait for their turn, and the last values of counters. */
  get heldObjectBytes(): number {
    return this.#allWaitingBytes + this.#periodRemainders.heldObjectBytes + this.#readGrowth.heldObjectBytes;
  }

  /** Bytes of the tables by which totals are found, and of what is mapped. */
  get heldBytes(): number {
    return this.#surroundings.size * TUPLE_BYTES + this.#tasks.mapBytes;
  }

  /**
   * Keeps what does not fit into a row until its turn.
   * @param recordBytes size of its record
   * @returns what stands for it in the column of events
   */
  wait(waiting: SideBand | ReadSample, recordBytes: number): number {
    const place = this.#freePlaces.pop() ?? this.#waiting.length;
    this.#waiting[place] = waiting;
    const bytes = OBJECT_BYTES + recordBytes * OBJECT_BYTES_PER_BYTE;
    this.#waitingBytes[place] = bytes;
    this.#allWaitingBytes += bytes;
    return -1 - place;
  }

  /** Plays the next record. */
  readonly deliver = (row: QueuedRow): void => {
    // hot
    if ((++this.#deliveredCount & (RECORDS_PER_QUESTION - 1)) === 0) this.#isFull ||= !this.#hasRoom();
    if (row.timeNs >= this.#jitCode.nextTimeNs) this.#jitCode.applyUpTo(row.timeNs);
    if (row.event >= 0) this.#deliverSample(row, this.#periodRemainders.isEmpty ? 0 : this.#periodRemainders.take(row.nr));
    else this.#deliverWaiting(row, -1 - row.event);
  };

  /** @param periodRemainder the exact period minus its double */
  #deliverSample(row: QueuedRow, periodRemainder: number): void {
    // hot
    const tasks = this.#tasks;
    if (this.#isFull && (this.#isLost || !tasks.has(row.pid, row.tid))) {
      this.#leaveOut(row);
      return;
    }
    const threadIndex = tasks.thread(row.pid, row.tid);
    if (this.#observer !== undefined && row.nr !== this.#lastObservedNr) {
      this.#lastObservedNr = row.nr;
      this.#observer.sample(row.nr, row.timeNs, row.event, threadIndex, row.pid, row.tid, row.period, row.ipLo, row.ipHi, periodRemainder);
    }
    if (row.chain === NO_SAMPLE) return;
    this.#sampleCount++;
    this.#offCpu?.see(row.tid, row.timeNs);
    const thread = tasks.threads[threadIndex];
    if (tasks.processes[thread.process].space.fallback !== undefined && row.chain >= 0 && this.#chains.startsInUserCode(row.chain)) {
      tasks.finishExec(thread.process);
    }
    if (!this.#filter.isOpen) {
      this.#isFilterReady ||= this.#prepareFilter();
      if (!this.#filter.takes(this.#events[row.event].name, row.pid, row.tid, thread.comm, row.cpu, row.timeNs)) return;
    }
    const { space } = tasks.processes[thread.process];
    const { last } = thread;
    if (last.event !== row.event || last.generation !== space.generation) {
      last.event = row.event;
      last.generation = space.generation;
      last.surroundings = this.#surroundings.intern(row.event, tasks.taskOf(threadIndex), space.generation);
    }
    const total = this.#totalOf(row.chain, last.surroundings, row.event, threadIndex, space);
    if (total < 0) {
      this.#leftOutCount++;
      return;
    }
    const isOffCpuTime = this.#offCpu !== undefined && this.#events[row.event].isOffCpuTime;
    const sinkRow = this.#sink.sample(total, row.timeNs, row.cpu, isOffCpuTime ? 0 : row.period, row.ipLo, row.ipHi, row.detail);
    if (isOffCpuTime) this.#offCpu?.leave(row.tid, total, sinkRow, row.timeNs);
    else if (periodRemainder !== 0) this.#sink.addPeriod(total, sinkRow, periodRemainder);
  }

  /** What a sample is added up under: found by its chain, which is most often seen again in the same surroundings. −1: there is no room for it. */
  #totalOf(chain: number, surroundings: number, event: number, threadIndex: number, space: AddressSpace): number {
    // hot
    if (this.#kernels.generation !== this.#kernelGeneration) {
      this.#kernelGeneration = this.#kernels.generation;
      this.#totals = new KeyedPairs();
    }
    const known = this.#totals.find(chain + 1, surroundings);
    if (known >= 0) return known;
    if (this.#isFull) return -1;
    const stack = chain < 0 ? -1 : this.#frames.stackOf(chain, space);
    const total = this.#sink.internTotal(event, this.#tasks.taskOf(threadIndex), stack);
    this.#totals.set(chain + 1, surroundings, total);
    return total;
  }

  #deliverWaiting(row: QueuedRow, place: number): void {
    const record = this.#waiting[place];
    this.#waiting[place] = undefined;
    this.#allWaitingBytes -= this.#waitingBytes[place];
    this.#freePlaces.push(place);
    if (record === undefined) return;
    if (record.kind === 'read') {
      this.#deliverRead(row, record);
      return;
    }
    this.#observer?.sideBand(row.nr, row.timeNs, row.pid, row.tid, record);
    if (this.#offCpu !== undefined && isSwitchIn(record)) this.#offCpu.see(row.tid, row.timeNs);
    if (this.#isFull) this.#isLost ||= changesMachine(record);
    else this.#machine.apply(record, row.nr);
  }

  #leaveOut(row: QueuedRow): void {
    if (row.chain === NO_SAMPLE) return;
    this.#sampleCount++;
    this.#leftOutCount++;
  }

  #deliverRead(row: QueuedRow, read: ReadSample): void {
    const own = { period: row.period, remainder: this.#periodRemainders.take(row.nr) };
    const hasDelivered = this.#readGrowth.take(read, own, (event, period, remainder) => {
      row.event = event;
      row.period = period;
      this.#deliverSample(row, remainder);
    });
    if (hasDelivered) return;
    Object.assign(row, { event: read.event, period: 0, chain: NO_SAMPLE });
    this.#deliverSample(row, 0);
  }
}
