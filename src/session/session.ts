import { BufferSource, type RecordingSource } from '../base/byte-source.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { PerfconvError } from '../base/errors.ts';
import { COMM_LIMIT, SIMPLEPERF_COMM_LIMIT } from '../base/name-limits.ts';
import type { JitDump, OpenJitDump, RefusedJitDump } from '../jitdump/jitdump.ts';
import { dumpStacks } from '../perfdata/attr.ts';
import * as abi from '../perfdata/constants.ts';
import { readTracingDataRecord } from '../perfdata/features/tracing.ts';
import type { Features } from '../perfdata/features.ts';
import { type RecordingHeader, readHeader } from '../perfdata/file-header.ts';
import type { RecordCursor } from '../perfdata/record-cursor.ts';
import { type RecordVisitor, type WalkOptions, walkRecords } from '../perfdata/record-walk.ts';
import type { ProfileBuilder } from '../profile/builder.ts';
import { SIMPLEPERF_TYPE_START } from '../simpleperf/constants.ts';
import { isSimpleperfRecording } from '../simpleperf/features.ts';
import { isOffCpuRecording, OffCpuTimes } from '../simpleperf/off-cpu-times.ts';
import { RecordedSymbols } from '../simpleperf/recorded-symbols.ts';
import { BranchStacks } from './branch-stacks.ts';
import { CallchainTable } from './callchains.ts';
import { RecordingClock } from './clock.ts';
import type { Dso } from './dsos.ts';
import { type EmbeddedSymbols, embeddedSymbolsOf } from './embedded-symbols.ts';
import { type EventList, eventsOf } from './events.ts';
import { CompiledFilter, needsSampleTimes, type SampleFilter } from './filter.ts';
import { reportAtEnd } from './findings-at-end.ts';
import { type FrameOptions, FrameResolver } from './frames.ts';
import { JitCode } from './jit-code.ts';
import { Machine } from './machine.ts';
import { type AvailableMemory, MemoryBudget, SessionMemory } from './memory-budget.ts';
import { RecordCounts } from './record-counts.ts';
import { RecordExtras } from './record-extras.ts';
import { RecordOrder, type RecordOrderRules } from './record-order.ts';
import { RecordRow } from './record-row.ts';
import { type RecordObserver, Replay } from './replay.ts';
import { type DetailOptions, DetailReader } from './sample-details.ts';
import { type LeafRule, SampleReader } from './sample-reader.ts';
import type { SessionEvent } from './session-event.ts';
import { SideBandReader } from './side-band-reader.ts';
import { SimpleperfRecordReader } from './simpleperf-records.ts';
import { StackDumps } from './stack-dumps.ts';
import { SwitchSampleReader } from './switch-samples.ts';
import type { SessionProcess, SessionTask, SessionThread } from './tasks.ts';
import { findSampleTimes, notedSampleTimes } from './time-bounds.ts';
import type { TimeSpan } from './time-ranges.ts';
import type { UnwindEnds } from './unwind-ends.ts';
import type { UnwindFiles } from './unwind-files.ts';
import { UserRecordReader } from './user-records.ts';
import { type TruncatedStacks, UserStacks } from './user-stacks.ts';

export interface SessionOptions extends FrameOptions, WalkOptions {
  readonly filter: SampleFilter;
  readonly observer?: RecordObserver;
  /** Give switches off the CPU (simpleperf's --trace-offcpu) the time that the thread was away as their period, instead of the recorded 1. */
  readonly offCpuTimes: boolean;
  /** Make samples of the times off the CPU that follow from switches. */
  readonly findsOffCpu: boolean;
  /** What the leaf of a stack is. Default: `callchain-or-ip`; `callchain` with `compatPerf`. */
  readonly leaf?: LeafRule;
  /** Whether to unwind the stacks that were recorded with samples. By default they are. */
  readonly unwinds?: boolean;
  /** What becomes of unwound stacks that do not reach the start of their thread. */
  readonly truncated: TruncatedStacks;
  /** Reads rules for unwinding; without it, stacks are unwound by frame pointers only. */
  readonly unwindFiles?: UnwindFiles;
  /** Opens jitdump files; without it they are not read. */
  readonly openJitDump?: OpenJitDump;
  /** How much memory there is; without it, only what is out of proportion to the recording is left out. */
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
  /** Number of samples before filters; each member of a group counts. */
  readonly sampleCount: number;
  /** Number of samples that passed the filters but were left out, because their stacks do not reach the start of their thread (`truncated: 'drop'`). */
  readonly cutCount: number;
  /** DSO of a kernel address (a signed double) at the recording's end; −1 for none. */
  readonly kernelDsoAt: (address: number) => number;
  /** How the unwound stacks ended. */
  readonly unwindEnds: UnwindEnds;
  /** What JITs dumped of their code, by DSO. */
  readonly jitDumps: ReadonlyMap<number, JitDump>;
  /** Jitdump files that exist but are not trusted, by the name of the DSO whose code they would name. */
  readonly refusedJitDumps: ReadonlyMap<string, RefusedJitDump>;
  /** Symbols that are in the recording itself. */
  readonly embeddedSymbols: EmbeddedSymbols;
}

/**
 * Reads a recording from its first record to its last, and replays it in time order (without `sample_id_all`, in file order): who ran, what was mapped where,
 * and what each sample's stack was.
 * @param profile gets the samples, with their stacks and places
 * @throws PerfconvError if the input is not a recording or its header cannot be used; `unsupported` for filters that need what a stream has only at its end
 */
export async function runSession(source: RecordingSource, options: SessionOptions, profile: ProfileBuilder, diagnostics: Diagnostics): Promise<SessionResult> {
  const header = await readHeader(source, diagnostics);
  const sampleTimes = needsSampleTimes(options.filter) ? await findSampleTimes(source, header) : undefined;
  const session = new Session(source, header, options, sampleTimes, profile, diagnostics);
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

/** How much larger samples are with a copy of their stack: it takes about eight kilobytes, everything else half a kilobyte. */
const STACK_DUMP_SHARE = 16;

/**
 * About how many bytes of records there are apart from copies of stacks, for a first guess of sizes; 0 for a stream. The header is not trusted beyond what the
 * files have.
 */
function recordBytes(source: RecordingSource, { attrs, dataStart, dataEnd }: RecordingHeader): number {
  const own = Math.max(0, Math.min(dataEnd, source.sizeBytes ?? 0) - dataStart);
  const all = (source.parts ?? []).reduce((sum, part) => sum + (part.sizeBytes ?? 0), own);
  return dumpStacks(attrs) ? all / STACK_DUMP_SHARE : all;
}

/** The times off the CPU of simpleperf's switches, if they were asked for and recorded; marks the events of these switches. */
function offCpuTimesOf({ offCpuTimes }: SessionOptions, { features }: RecordingHeader, { events }: EventList): OffCpuTimes | undefined {
  if (!offCpuTimes || !isOffCpuRecording(features.simpleperf?.metaInfo, events.length)) return undefined;
  for (const event of events.slice(1)) event.isOffCpuTime = true;
  return new OffCpuTimes();
}

function orderRulesOf(source: RecordingSource, { mode, attrs }: RecordingHeader): RecordOrderRules {
  const isInFileOrder = mode === 'file' && attrs[0]?.attr.flags.has('sample_id_all') === false;
  return { isInFileOrder, partCount: source.parts?.length ?? 0 };
}

/** Reads a recording: sees each record once, in file order, and hands on a row for each that takes effect at a certain time. */
class Session implements RecordVisitor {
  readonly #header: RecordingHeader;
  readonly #diagnostics: Diagnostics;
  readonly #observer: RecordObserver | undefined;
  readonly #profile: ProfileBuilder;
  readonly #clock = new RecordingClock();
  readonly #events: EventList;
  readonly #filter: CompiledFilter;
  readonly #machine: Machine;
  readonly #memory: SessionMemory;
  readonly #counts = new RecordCounts();
  readonly #recordedSymbols = new RecordedSymbols();
  readonly #simpleperfOffCpu: OffCpuTimes | undefined;
  /** Reads what samples say about switches; undefined if nobody asks. */
  readonly #switchReader: SwitchSampleReader | undefined;
  // The readers of records, by kind.
  readonly #samples: SampleReader;
  readonly #sideBand: SideBandReader;
  readonly #userRecords: UserRecordReader;
  readonly #simpleperfRecords: SimpleperfRecordReader;
  // What becomes of the rows that they fill.
  readonly #order: RecordOrder;
  readonly #replay: Replay;
  readonly #userStacks: UserStacks;
  /** The current record, and its position in the file. */
  readonly #row = new RecordRow();
  #nr = -1;

  constructor(
    source: RecordingSource,
    header: RecordingHeader,
    options: SessionOptions,
    sampleTimes: TimeSpan | undefined,
    profile: ProfileBuilder,
    diagnostics: Diagnostics,
  ) {
    const { features } = header;
    const { compatPerf, observer, leaf = compatPerf ? 'callchain' : 'callchain-or-ip', unwinds = true } = options;
    const isSimpleperf = isSimpleperfRecording(features);
    const clock = this.#clock;
    const events = eventsOf(header, compatPerf);
    const extras = new RecordExtras();
    const stackDumps = new StackDumps(header.littleEndian);
    const wantsBranches = profile.branches !== undefined || profile.samples?.branches !== undefined;
    const branchStacks = wantsBranches ? new BranchStacks(header.littleEndian) : undefined;
    const chains = new CallchainTable(recordBytes(source, header));
    this.#header = header;
    this.#diagnostics = diagnostics;
    this.#observer = observer;
    this.#profile = profile;
    this.#events = events;
    this.#filter = new CompiledFilter(options.filter, events.events, clock, () => sampleTimes ?? notedSampleTimes(features), diagnostics.option);
    this.#simpleperfOffCpu = offCpuTimesOf(options, header, events);
    this.#memory = new SessionMemory(new MemoryBudget(source, diagnostics.option, options.availableMemory), observer?.bytesPerRecord ?? 0);
    // perf script does not read jitdump files.
    const openJitDump = compatPerf ? undefined : options.openJitDump;
    this.#machine = new Machine(features, compatPerf, (tasks) => new JitCode(openJitDump, clock, events.events, tasks, diagnostics), diagnostics);

    const details = options.details && new DetailReader(options.details);
    // simpleperf's switches have their times already.
    const findsOffCpu = options.findsOffCpu && this.#simpleperfOffCpu === undefined;
    const switches = findsOffCpu ? new SwitchSampleReader(features) : undefined;
    this.#switchReader = switches;
    const wantedDumps = unwinds ? stackDumps : undefined;
    this.#samples = new SampleReader(
      { events, chains, clock, extras, leaf, details, stackDumps: wantedDumps, branchStacks, compatPerf, switches },
      diagnostics,
    );
    const readsAll = observer !== undefined || this.#simpleperfOffCpu !== undefined || findsOffCpu || profile.threadEvents !== undefined;
    const commLimit = isSimpleperf ? SIMPLEPERF_COMM_LIMIT : COMM_LIMIT;
    this.#sideBand = new SideBandReader({ eventIds: events.ids, chains, clock, extras, commLimit, readsAll }, diagnostics);
    this.#userRecords = new UserRecordReader(events, features, header.littleEndian, diagnostics);
    this.#simpleperfRecords = new SimpleperfRecordReader(events.ids, this.#recordedSymbols, diagnostics);

    const frameRules = { ...options, callersAreCalls: isSimpleperf, leafIsSampleIp: leaf === 'ip', showsCutAsPerf: compatPerf && options.truncated === 'keep' };
    const frames = new FrameResolver(chains, this.#machine.kernels, profile, frameRules, diagnostics);
    const { dsos, jitCode } = this.#machine;
    const unwindingParts = { dumps: stackDumps, chains, frames, dsos, jitDumps: jitCode.dumps, features, files: options.unwindFiles };
    this.#userStacks = new UserStacks(unwindingParts, options, diagnostics);
    const replayParts = {
      machine: this.#machine,
      events,
      chains,
      extras,
      userStacks: this.#userStacks,
      branchStacks,
      frames,
      filter: this.#filter,
      profile,
      observer,
      simpleperfOffCpu: this.#simpleperfOffCpu,
      findsOffCpu,
      memory: this.#memory,
      keepsOwnPeriod: isSimpleperf && !compatPerf,
      leafIsSampleIp: leaf === 'ip',
    };
    this.#replay = new Replay(replayParts, diagnostics);
    this.#order = new RecordOrder(orderRulesOf(source, header), this.#replay.deliver);
    this.#memory.add(chains, extras, stackDumps, this.#userStacks, this.#machine, this.#order.queue, this.#replay, profile);
    if (branchStacks !== undefined) this.#memory.add(branchStacks);
  }

  visit(record: RecordCursor): void {
    // hot
    const { type } = record;
    this.#nr++;
    this.#counts.add(type);
    if (type === abi.PERF_RECORD_SAMPLE) {
      if (this.#samples.read(record, this.#nr, this.#row)) this.#order.add(this.#row);
      else this.#observeTimeless(record);
    } else if (type < abi.PERF_RECORD_USER_TYPE_START) {
      if (this.#sideBand.read(record, this.#nr, this.#row)) this.#order.add(this.#row);
      else this.#observeTimeless(record);
    } else {
      this.#observeTimeless(record);
      if (type === abi.PERF_RECORD_FINISHED_ROUND) this.#order.finishRound();
      else if (type >= SIMPLEPERF_TYPE_START) this.#simpleperfRecords.read(record);
      else this.#userRecords.read(record);
    }
  }

  /** Reads what a pipe has as a record, and a file as a feature. */
  visitTracingData(bytes: Uint8Array, fileOffset: number): void {
    const { features } = this.#header;
    readTracingDataRecord(features, bytes, fileOffset, this.#diagnostics);
    if (features.tracingData !== undefined) this.#events.applyTracepoints(features.tracingData.formats);
  }

  /** Applies a record of what was there before the recording's first record. */
  visitInitial(record: RecordCursor): void {
    if (record.type >= abi.PERF_RECORD_USER_TYPE_START || record.type === abi.PERF_RECORD_SAMPLE) return;
    const sideBand = this.#sideBand.readTimeless(record);
    if (sideBand !== undefined) this.#machine.apply(sideBand, -1);
  }

  get isBlocked(): boolean {
    return this.#order.isBlocked;
  }

  async settle(): Promise<void> {
    while (this.#order.isBlocked) {
      await this.#userStacks.settle();
      this.#order.resume();
    }
  }

  endPiece(part: number, isLast: boolean): number {
    return this.#order.endPiece(part, isLast);
  }

  whyFull(readBytes: number): string | undefined {
    // Samples that wait will be kept as well.
    return this.#memory.whyFull(readBytes, this.#nr, this.#order.queue.size * this.#profile.bytesPerSample);
  }

  async finish(): Promise<SessionResult> {
    this.#order.finish();
    await this.settle();
    this.#replay.finish();
    const { features } = this.#header;
    if (this.#header.lateFeatures !== undefined) this.#nameEventsLate();
    // What is returned must not refer to `this`, which would keep the callchains in memory.
    const { kernels, tasks, jitCode } = this.#machine;
    const { dsos } = this.#machine.dsos;
    const { events } = this.#events;
    this.#machine.dsos.applyBuildIds([...(features.buildIds ?? []), ...this.#userRecords.buildIds]);
    reportAtEnd(
      {
        features,
        events,
        cpus: this.#userRecords.cpus,
        filter: this.#filter,
        order: this.#order,
        replay: this.#replay,
        memory: this.#memory,
        simpleperfOffCpu: this.#simpleperfOffCpu,
      },
      this.#diagnostics,
    );
    return {
      header: this.#header,
      features,
      events,
      dsos,
      processes: tasks.processes,
      threads: tasks.threads,
      tasks: tasks.tasks,
      counts: this.#counts,
      baseTime: this.#clock.base,
      sampleCount: this.#replay.sampleCount,
      cutCount: this.#replay.cutCount,
      unwindEnds: this.#userStacks.ends,
      jitDumps: jitCode.dumps,
      refusedJitDumps: jitCode.refused,
      kernelDsoAt: (address) => kernels.find(address),
      embeddedSymbols: embeddedSymbolsOf(dsos, features.simpleperf?.files ?? [], this.#recordedSymbols),
    };
  }

  /**
   * Names events by the features at the end of a file that was still being written when reading began; in all other
   * recordings the names come before the first sample.
   * @throws PerfconvError `unsupported` when a filter has used a name that turns out to be wrong, or switches were not recognized as such
   */
  #nameEventsLate(): void {
    const { eventDesc } = this.#header.features;
    if (eventDesc === undefined) return;
    const names = this.#events.events.map(({ name }) => name);
    this.#events.applyDescriptions(eventDesc);
    for (const [index, { name }] of this.#events.events.entries()) {
      if (this.#filter.acceptsEvent(names[index]) === this.#filter.acceptsEvent(name)) continue;
      throw new PerfconvError(
        'unsupported',
        `${this.#diagnostics.option('event')} does not work while perf is still writing the recording, which names its events only at its end: ${names[index]} is really ${name}; convert it again now that it is complete`,
      );
    }
    const missed = this.#events.events.find(
      (event) => event.payload === 'none' && !event.isOffCpuTime && (this.#switchReader?.useOf(event) ?? 'none') !== 'none',
    );
    if (missed === undefined) return;
    throw new PerfconvError(
      'unsupported',
      `${this.#diagnostics.option('offCpu')} does not work while perf is still writing the recording, which names its events only at its end: ${missed.name} reports switches; convert it again now that it is complete`,
    );
  }

  /** Shows the observer a record that has no time of its own, or none that can be read. */
  #observeTimeless({ type, misc }: RecordCursor): void {
    if (this.#observer === undefined) return;
    this.#row.setRecord(this.#nr, Number.NaN, -1, -1, -1);
    this.#observer.sideBand(this.#row, { kind: 'other', type, misc });
  }
}
