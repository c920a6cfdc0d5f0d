import { BufferSource, type RecordingSource } from '../base/byte-source.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { PerfconvError } from '../base/errors.ts';
import { COMM_LIMIT, type NameLimit, SIMPLEPERF_COMM_LIMIT } from '../base/name-limits.ts';
import { RECORD_HEADER_BYTES } from '../base/record-layout.ts';
import type { JitDump, OpenJitDump, RefusedJitDump } from '../jitdump/jitdump.ts';
import * as abi from '../perfdata/constants.ts';
import { takeTracingData } from '../perfdata/features/tracing.ts';
import type { Features } from '../perfdata/features.ts';
import { type RecordingHeader, readHeader } from '../perfdata/file-header.ts';
import type { RecordCursor } from '../perfdata/record-cursor.ts';
import { type RecordVisitor, type WalkOptions, walkRecords } from '../perfdata/record-walk.ts';
import { readSideBand, type SideBand, withNamesInLimits } from '../perfdata/records/side-band.ts';
import { SIMPLEPERF_TYPE_START } from '../simpleperf/constants.ts';
import { isSimpleperfRecording } from '../simpleperf/features.ts';
import { isOffCpuRecording, OffCpuTimes } from '../simpleperf/off-cpu-times.ts';
import { CallchainTable } from './callchains.ts';
import { RecordingClock } from './clock.ts';
import type { Dso } from './dsos.ts';
import { type EventList, eventsOf, type SessionEvent } from './events.ts';
import { CompiledFilter, needsSampleTimes, type SampleFilter } from './filter.ts';
import { type FrameOptions, FrameResolver } from './frames.ts';
import { JitCode } from './jit-code.ts';
import { Machine } from './machine.ts';
import { type AvailableMemory, MemoryBudget } from './memory-budget.ts';
import { PartTimes } from './part-times.ts';
import { PeriodRemainders } from './period-remainders.ts';
import type { ReadSample } from './read-growth.ts';
import { RecordCounts } from './record-counts.ts';
import { QUEUED_ROW_BYTES, type QueuedRow, RecordQueue, shownTime } from './record-queue.ts';
import { type RecordObserver, Replay, type SessionSink } from './replay.ts';
import { type DetailOptions, DetailReader } from './sample-details.ts';
import { type LeafRule, SampleReader, type SampleTaker } from './sample-reader.ts';
import { SimpleperfRecordReader } from './simpleperf-records.ts';
import { EmbeddedSymbolStore, type EmbeddedSymbols } from './simpleperf-symbols.ts';
import type { SessionProcess, SessionTask, SessionThread, TaskTable } from './tasks.ts';
import { findSampleTimes, notedSampleTimes } from './time-bounds.ts';
import type { TimeSpan } from './time-ranges.ts';
import { reportLoss, reportUnreadStacks, reportUnused } from './unused-data.ts';
import { UserRecordReader } from './user-records.ts';

export interface SessionOptions extends FrameOptions, WalkOptions {
  readonly filter: SampleFilter;
  readonly observer?: RecordObserver;
  /** Give switches off the CPU (simpleperf's --trace-offcpu) the time away as their period, in place of the recorded 1. */
  readonly offCpuTimes: boolean;
  /** What the leaf of a stack is. Default: `callchain-or-ip`; `callchain` with `compatPerf`. */
  readonly leaf?: LeafRule;
  /** Opens jitdump files; without it they are not read. */
  readonly openJitDump?: OpenJitDump;
  /** The memory that there is; without it, only what is out of proportion to the recording is not kept. */
  readonly availableMemory?: AvailableMemory;
  /** Keep details of samples; by default none are kept. */
  readonly details?: DetailOptions;
}

/** What a session knows when it has come to the end of the recording. */
export interface SessionResult {
  readonly header: RecordingHeader;
  readonly features: Features;
  readonly events: readonly SessionEvent[];
  readonly dsos: readonly Dso[];
  readonly processes: readonly SessionProcess[];
  readonly threads: readonly SessionThread[];
  readonly tasks: readonly SessionTask[];
  readonly counts: RecordCounts;
  /** What relative times count from, in the recording's clock; 0 when no record carries a time. */
  readonly baseTime: bigint;
  /** Samples before filters, group members counted each. */
  readonly sampleCount: number;
  /** DSO of a kernel address (a signed double) at the recording's end; −1 for none. */
  readonly kernelDsoAt: (address: number) => number;
  /** What JITs dumped of their code, by DSO. */
  readonly jitDumps: ReadonlyMap<number, JitDump>;
  /** Jitdump files that are there and not believed, by the name of the DSO whose code they would name. */
  readonly refusedJitDumps: ReadonlyMap<string, RefusedJitDump>;
  /** Symbols that the recording holds itself. */
  readonly embeddedSymbols: EmbeddedSymbols;
}

/**
 * Reads a recording from its first record to its last and plays it in time order (one without `sample_id_all` in that of the
 * file): who ran, what was mapped where, and for each sample the stack of places it was in.
 * @throws PerfconvError when the input is no recording or its header cannot be used; `unsupported` for filters that need
 * what a stream holds at its end
 */
export async function runSession(source: RecordingSource, options: SessionOptions, sink: SessionSink, diagnostics: Diagnostics): Promise<SessionResult> {
  const header = await readHeader(source, diagnostics);
  const sampleTimes = needsSampleTimes(options.filter) ? await findSampleTimes(source, header, options) : undefined;
  const session = new Session(source, header, options, sampleTimes, sink, diagnostics);
  await walkInitialRecords(header, session, diagnostics);
  await walkRecords(source, header, session, options, diagnostics);
  return session.finish();
}

/** Takes the maps and names that simpleperf lists apart from the data section, because they were there before its first record. */
async function walkInitialRecords(header: RecordingHeader, session: Session, diagnostics: Diagnostics): Promise<void> {
  const bytes = header.features.simpleperf?.initMap;
  if (bytes === undefined) return;
  const section = new BufferSource(bytes, 'INIT_MAP');
  const visitor = { visit: (record: RecordCursor) => session.visitInitial(record), visitTracingData: () => {} };
  await walkRecords(section, { ...header, dataStart: 0, dataEnd: bytes.length }, visitor, {}, diagnostics);
}

/** How many bytes of records there are, for a first guess of sizes; 0 for a stream. What the header says is not trusted beyond what the files have. */
function recordBytes(source: RecordingSource, { dataStart, dataEnd }: RecordingHeader): number {
  const own = Math.max(0, Math.min(dataEnd, source.sizeBytes ?? 0) - dataStart);
  return (source.parts ?? []).reduce((sum, part) => sum + (part.sizeBytes ?? 0), own);
}

class Session implements RecordVisitor, SampleTaker {
  readonly #header: RecordingHeader;
  readonly #diagnostics: Diagnostics;
  readonly #observer: RecordObserver | undefined;
  readonly #clock = new RecordingClock();
  readonly #events: EventList;
  readonly #filter: CompiledFilter;
  readonly #chains: CallchainTable;
  readonly #machine: Machine;
  readonly #replay: Replay;
  readonly #queue = new RecordQueue();
  readonly #sink: SessionSink;
  readonly #budget: MemoryBudget;
  /** How much was read when that was last asked. */
  #readBytes = 0;
  /** Why there is no room for further stacks and threads. */
  #whyNoRoom: string | undefined;
  /** Of a directory's further files; undefined for a recording in one file. */
  readonly #partTimes: PartTimes | undefined;
  readonly #samples: SampleReader;
  readonly #userRecords: UserRecordReader;
  readonly #counts = new RecordCounts();
  readonly #commLimit: NameLimit;
  readonly #embeddedSymbols = new EmbeddedSymbolStore();
  readonly #simpleperfRecords: SimpleperfRecordReader;
  readonly #offCpu: OffCpuTimes | undefined;
  /**
   * Whether records take effect in the order of the file: before Linux 2.6.38 only samples told their times (no `sample_id_all`), and
   * sorting them would take them away from the maps and names that stand before them. Observed: perf 6.1 does so with files, not with pipes.
   */
  readonly #isInFileOrder: boolean;
  /** Of such records: the newest time so far, and how many were older. */
  #newestNs = Number.NEGATIVE_INFINITY;
  #olderCount = 0;
  readonly #immediate: QueuedRow = { timeNs: Number.NaN, nr: 0, event: 0, pid: 0, tid: 0, cpu: 0, chain: 0, period: 0, ipLo: 0, ipHi: 0, detail: -1 };
  #nr = -1;

  constructor(
    source: RecordingSource,
    header: RecordingHeader,
    options: SessionOptions,
    sampleTimes: TimeSpan | undefined,
    sink: SessionSink,
    diagnostics: Diagnostics,
  ) {
    this.#header = header;
    this.#isInFileOrder = header.mode === 'file' && header.attrs[0]?.attr.flags.has('sample_id_all') === false;
    // A directory may have no further files: then the rounds of `data` are those of the recording.
    this.#partTimes = source.parts?.length ? new PartTimes(source.parts.length) : undefined;
    this.#diagnostics = diagnostics;
    this.#observer = options.observer;
    this.#sink = sink;
    this.#budget = new MemoryBudget(source, options.availableMemory);
    this.#chains = new CallchainTable(recordBytes(source, header));
    const isSimpleperf = isSimpleperfRecording(header.features);
    this.#commLimit = isSimpleperf ? SIMPLEPERF_COMM_LIMIT : COMM_LIMIT;
    this.#events = eventsOf(header);
    // perf script does not read jitdump files.
    const openJitDump = options.compatPerf ? undefined : options.openJitDump;
    const openJitCode = (tasks: TaskTable) => new JitCode(openJitDump, this.#clock, this.#events.events, tasks, diagnostics);
    this.#machine = new Machine(header.features, options.compatPerf, openJitCode, diagnostics);
    const { leaf = options.compatPerf ? 'callchain' : 'callchain-or-ip' } = options;
    const frameRules = { ...options, callersAreCalls: isSimpleperf, leafIsSampleIp: leaf === 'ip' };
    const frames = new FrameResolver(this.#chains, this.#machine.kernels, sink, frameRules, diagnostics);
    this.#userRecords = new UserRecordReader(this.#events, header.features, header.littleEndian, diagnostics);
    const metaInfo = header.features.simpleperf?.metaInfo;
    this.#simpleperfRecords = new SimpleperfRecordReader(this.#events, this.#embeddedSymbols, diagnostics);
    const sampleRules = { leaf, readKeepsPeriod: isSimpleperf && !options.compatPerf };
    const periodRemainders = new PeriodRemainders();
    this.#samples = new SampleReader(
      this.#events,
      this.#chains,
      this.#clock,
      diagnostics,
      sampleRules,
      periodRemainders,
      this,
      options.details && new DetailReader(options.details),
    );
    if (options.offCpuTimes && isOffCpuRecording(metaInfo, this.#events.events.length)) {
      this.#offCpu = new OffCpuTimes(sink);
      for (const event of this.#events.events.slice(1)) event.isOffCpuTime = true;
    }
    const filter = new CompiledFilter(options.filter);
    this.#filter = filter;
    const { events } = this.#events;
    const prepareFilter = (): boolean => {
      if (this.#clock.hasBase) filter.setBase(this.#clock.base, sampleTimes ?? notedSampleTimes(header.features));
      return this.#clock.hasBase;
    };
    // The queue counts what it is delivering; those records need no further room in it, so only their rows are added here.
    const hasRoom = (): boolean => {
      this.#whyNoRoom = this.#whyExceeded(this.#queue.size * QUEUED_ROW_BYTES);
      return this.#whyNoRoom === undefined;
    };
    this.#replay = new Replay(
      {
        machine: this.#machine,
        events,
        chains: this.#chains,
        frames,
        filter,
        sink,
        observer: options.observer,
        offCpu: this.#offCpu,
        periodRemainders,
        prepareFilter,
        hasRoom,
      },
      diagnostics,
    );
  }

  visit(record: RecordCursor): void {
    // hot
    const { type } = record;
    this.#nr++;
    this.#counts.add(type);
    if (type === abi.PERF_RECORD_SAMPLE) {
      const isUsed = this.#samples.read(record.view, record.offset, record.size, record.misc, this.#nr, record.fileOffset);
      if (!isUsed) this.#observeUndecoded(type, record.misc);
    } else if (type === abi.PERF_RECORD_FINISHED_ROUND) {
      this.#observeUndecoded(type, record.misc);
      // The files of a directory have their own rounds, which say nothing of each other.
      if (this.#partTimes === undefined) this.#queue.finishRound(this.#replay.deliver);
    } else if (type >= abi.PERF_RECORD_USER_TYPE_START) {
      this.#observeUndecoded(type, record.misc);
      if (type >= SIMPLEPERF_TYPE_START) this.#simpleperfRecords.read(record);
      else this.#userRecords.read(record);
    } else {
      this.#handleSideBand(record);
    }
  }

  /** In a pipe, what a file has as a feature. */
  visitTracingData(bytes: Uint8Array, fileOffset: number): void {
    takeTracingData(this.#header.features, bytes, fileOffset, this.#diagnostics);
  }

  /** Takes a record of what there was before the first one. */
  visitInitial(record: RecordCursor): void {
    if (record.type >= abi.PERF_RECORD_USER_TYPE_START || record.type === abi.PERF_RECORD_SAMPLE) return;
    const end = record.offset + record.size;
    const trailer = this.#events.trailerOf(record.view, record.offset + RECORD_HEADER_BYTES, end);
    const sideBand = this.#readSideBand(record, end - (trailer?.sizeBytes ?? 0));
    if (sideBand !== undefined) this.#machine.apply(sideBand, -1);
  }

  endPiece(part: number, isLast: boolean): number {
    const times = this.#partTimes;
    if (times === undefined) return 0;
    this.#queue.flushUpTo(times.endPiece(part, this.#queue.takeNewestTime(), isLast), this.#replay.deliver);
    return times.newestOf(part);
  }

  whyFull(readBytes: number): string | undefined {
    this.#readBytes = readBytes;
    // Samples that wait will be kept as well.
    return this.#whyExceeded(this.#queue.size * (QUEUED_ROW_BYTES + this.#sink.bytesPerSample));
  }

  /** See {@link MemoryBudget.whyExceeded}. @param queuedBytes what the queue stands for */
  #whyExceeded(queuedBytes: number): string | undefined {
    const observed = this.#nr * (this.#observer?.bytesPerRecord ?? 0);
    const columnBytes = queuedBytes + observed + this.#chains.heldBytes + this.#replay.heldBytes + this.#sink.heldBytes;
    return this.#budget.whyExceeded(columnBytes, this.#replay.heldObjectBytes + this.#machine.heldObjectBytes, this.#readBytes);
  }

  finish(): SessionResult {
    this.#queue.finish(this.#replay.deliver);
    const { features } = this.#header;
    if (this.#header.lateFeatures !== undefined) this.#nameEventsLate();
    // Not `this` in what is given out: the callchains would stay in memory with it.
    const { kernels } = this.#machine;
    const { dsos } = this.#machine.dsos;
    this.#machine.dsos.applyBuildIds([...(features.buildIds ?? []), ...this.#userRecords.buildIds]);
    if (this.#replay.sampleCount > 0) reportUnreadStacks(this.#events.events, this.#diagnostics);
    const openCount = this.#offCpu?.openCount ?? 0;
    if (openCount > 0) {
      this.#diagnostics.add(
        'off-cpu-open',
        'info',
        'threads left the CPU and were not seen again, or at no known time: for how long is not known',
        undefined,
        openCount,
      );
    }
    if (this.#olderCount > 0) {
      const message = 'samples stand behind newer ones and stay there: they alone have times (no sample_id_all), and what they belong to stands before them';
      this.#diagnostics.add('file-order', 'info', message, undefined, this.#olderCount);
    }
    if (this.#replay.leftOutCount > 0) {
      const message = `samples were left out whose stacks or threads there was no room for: ${this.#whyNoRoom}`;
      this.#diagnostics.add('memory-limit-stacks', 'loss', message, undefined, this.#replay.leftOutCount);
    }
    if (this.#queue.lateCount > 0) {
      this.#diagnostics.add('out-of-order', 'info', 'records came after newer ones of an earlier round had been handled', undefined, this.#queue.lateCount);
    }
    return {
      header: this.#header,
      features,
      events: this.#events.events,
      dsos,
      processes: this.#machine.tasks.processes,
      threads: this.#machine.tasks.threads,
      tasks: this.#machine.tasks.tasks,
      counts: this.#counts,
      baseTime: this.#clock.base,
      sampleCount: this.#replay.sampleCount,
      jitDumps: this.#machine.jitCode.dumps,
      refusedJitDumps: this.#machine.jitCode.refused,
      kernelDsoAt: (address) => kernels.find(address),
      embeddedSymbols: this.#embeddedSymbols.symbolsOf(dsos, features.simpleperf?.files ?? []),
    };
  }

  /**
   * Names events by the features at the end of a file that was still being written when reading began; in all other
   * recordings the names come before the first sample.
   * @throws PerfconvError `unsupported` when a filter has used a name that turns out to be wrong
   */
  #nameEventsLate(): void {
    const { eventDesc } = this.#header.features;
    if (eventDesc === undefined) return;
    const names = this.#events.events.map(({ name }) => name);
    this.#events.applyDescriptions(eventDesc);
    for (const [index, { name }] of this.#events.events.entries()) {
      if (this.#filter.takesEvent(names[index]) === this.#filter.takesEvent(name)) continue;
      throw new PerfconvError(
        'unsupported',
        `--event does not work while perf is still writing the recording, which names its events only at its end: ${names[index]} is really ${name}; convert it again now that it is complete`,
      );
    }
  }

  /** See {@link SampleTaker}; side band records come this way, too. */
  takeSample(
    timeNs: number,
    nr: number,
    event: number,
    pid: number,
    tid: number,
    cpu: number,
    chain: number,
    period: number,
    ipLo: number,
    ipHi: number,
    detail: number,
  ): void {
    // hot
    if (!Number.isNaN(timeNs) && !this.#isInFileOrder) {
      this.#queue.push(timeNs, nr, event, pid, tid, cpu, chain, period, ipLo, ipHi, detail);
      return;
    }
    if (timeNs < this.#newestNs) this.#olderCount++;
    else if (timeNs < Number.POSITIVE_INFINITY) this.#newestNs = timeNs;
    const row = this.#immediate;
    row.timeNs = shownTime(timeNs);
    row.nr = nr;
    row.event = event;
    row.pid = pid;
    row.tid = tid;
    row.cpu = cpu;
    row.chain = chain;
    row.period = period;
    row.ipLo = ipLo;
    row.ipHi = ipHi;
    row.detail = detail;
    this.#replay.deliver(row);
  }

  takeReadSample(
    read: ReadSample,
    timeNs: number,
    nr: number,
    pid: number,
    tid: number,
    cpu: number,
    chain: number,
    ownPeriod: number,
    ipLo: number,
    ipHi: number,
    detail: number,
    recordBytes: number,
  ): void {
    this.takeSample(timeNs, nr, this.#replay.wait(read, recordBytes), pid, tid, cpu, chain, ownPeriod, ipLo, ipHi, detail);
  }

  #handleSideBand(cursor: RecordCursor): void {
    const { view, offset, size, type, misc } = cursor;
    const end = offset + size;
    const trailer = this.#events.trailerOf(view, offset + RECORD_HEADER_BYTES, end);
    const trailerBytes = trailer?.sizeBytes ?? 0;
    const fieldsEnd = end - trailerBytes;
    const record = this.#readSideBand(cursor, fieldsEnd);
    if (record === undefined) {
      this.#observeUndecoded(type, misc);
      return;
    }
    if (record.kind === 'other') {
      reportUnused(type, cursor.fileOffset, this.#diagnostics);
      if (this.#observer === undefined && this.#offCpu === undefined) return;
    }
    reportLoss(record, cursor.fileOffset, this.#diagnostics);
    const hasTime = trailer !== undefined && trailer.time >= 0;
    const timeNs = hasTime ? this.#clock.relative(view.lo(end - trailer.time), view.hi(end - trailer.time)) : Number.NaN;
    const hasTid = trailer !== undefined && trailer.tid >= 0;
    const pid = hasTid ? view.i32(end - trailer.tid) : -1;
    const tid = hasTid ? view.i32(end - trailer.tid + 4) : -1;
    this.takeSample(timeNs, this.#nr, this.#replay.wait(record, size), pid, tid, -1, -1, 0, 0, 0, -1);
  }

  /** Undefined, reported, for a record that is damaged. */
  #readSideBand({ view, offset, type, misc, fileOffset }: RecordCursor, fieldsEnd: number): SideBand | undefined {
    const record = fieldsEnd < offset + RECORD_HEADER_BYTES ? 'sample_id trailer overruns record' : readSideBand(view, offset, fieldsEnd, type, misc);
    if (typeof record !== 'string') return withNamesInLimits(record, this.#commLimit, fileOffset, this.#diagnostics);
    this.#diagnostics.add('bad-record', 'loss', `${abi.recordTypeName(type)}: ${record}; the record is skipped`, fileOffset);
    return undefined;
  }

  /** Shows the observer a record that has no time of its own, or none that can be read. */
  #observeUndecoded(type: number, misc: number): void {
    this.#observer?.sideBand(this.#nr, Number.NaN, -1, -1, { kind: 'other', type, misc });
  }
}
