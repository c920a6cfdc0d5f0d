import type { Diagnostics } from '../base/problems/diagnostics.ts';
import type { RecordingSource } from '../base/streams/byte-source.ts';
import type { OpenJitDump } from '../jitdump/jitdump.ts';
import type { Features } from '../perfdata/features/features.ts';
import type { RecordingHeader } from '../perfdata/header/file-header.ts';
import { dumpStacks } from '../perfdata/samples/attr.ts';
import type { WalkOptions } from '../perfdata/stream/record-visitor.ts';
import type { ProfileBuilder } from '../profile/builder.ts';
import { isOffCpuRecording, OffCpuTimes } from '../simpleperf/off-cpu-times.ts';
import { RecordedSymbols } from '../simpleperf/recorded-symbols.ts';
import { BranchStacks } from './callchains/branch-stacks.ts';
import { CallchainTable } from './callchains/callchains.ts';
import { type FrameOptions, FrameResolver } from './callchains/frames.ts';
import { RecordingClock } from './events/clock.ts';
import { type EventList, eventsOf } from './events/events.ts';
import type { SessionEvent } from './events/session-event.ts';
import { CompiledFilter, type SampleFilter } from './filter/filter.ts';
import { notedSampleTimes } from './filter/time-bounds.ts';
import type { TimeSpan } from './filter/time-ranges.ts';
import { type AvailableMemory, MemoryBudget, SessionMemory } from './memory-budget.ts';
import { JitCode } from './processes/jit-code.ts';
import { Machine } from './processes/machine.ts';
import type { TaskTable } from './processes/tasks.ts';
import { type DetailOptions, DetailReader } from './reading/sample-details.ts';
import { type LeafRule, SampleReader } from './reading/sample-reader.ts';
import { SideBandReader } from './reading/side-band-reader.ts';
import { SimpleperfRecordReader } from './reading/simpleperf-records.ts';
import { UserRecordReader } from './reading/user-records.ts';
import { type Recorder, recorderOf } from './recorder.ts';
import { type RecordObserver, Replay } from './replay.ts';
import { RecordExtras } from './rows/record-extras.ts';
import { RecordOrder, type RecordOrderRules } from './rows/record-order.ts';
import { StackDumps } from './rows/stack-dumps.ts';
import { SwitchSampleReader } from './rows/switch-samples.ts';
import { AuxTraces } from './traces/aux-traces.ts';
import type { UnwindFiles } from './unwinding/unwind-files.ts';
import { type TruncatedStacks, UserStacks } from './unwinding/user-stacks.ts';

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

/** What a session is made for. */
export interface SessionJob {
  readonly source: RecordingSource;
  readonly header: RecordingHeader;
  readonly options: SessionOptions;
  /** When the recording's samples begin and end; undefined if no filter needs it before they are read. */
  readonly sampleTimes: TimeSpan | undefined;
  /** Gets the samples, with their stacks and places. */
  readonly profile: ProfileBuilder;
  readonly diagnostics: Diagnostics;
}

/** What the readers of records fill and the replay takes from, and what both ask. */
interface SharedParts {
  readonly clock: RecordingClock;
  readonly events: EventList;
  readonly chains: CallchainTable;
  readonly extras: RecordExtras;
  readonly stackDumps: StackDumps;
  /** Where the branches of samples wait; undefined if nobody wants them. */
  readonly branchStacks: BranchStacks | undefined;
  /** Copies details of samples; undefined if nobody wants any. */
  readonly details: DetailReader | undefined;
  readonly filter: CompiledFilter;
  /** The times off the CPU of simpleperf's switches; undefined if nobody asked for them, or none were recorded. */
  readonly simpleperfOffCpu: OffCpuTimes | undefined;
  /** Whether to find the times off the CPU that follow from switches. */
  readonly findsOffCpu: boolean;
  readonly leaf: LeafRule;
  readonly recorder: Recorder;
  /** What is known about hardware traces. */
  readonly traces: AuxTraces;
}

/** The readers of records, by kind. */
interface ReaderParts {
  readonly samples: SampleReader;
  /** Reads what samples say about switches; undefined if nobody asks. */
  readonly switches: SwitchSampleReader | undefined;
  readonly sideBand: SideBandReader;
  readonly userRecords: UserRecordReader;
  readonly simpleperfRecords: SimpleperfRecordReader;
  /** What {@link simpleperfRecords} finds. */
  readonly recordedSymbols: RecordedSymbols;
}

/** What becomes of the rows that readers fill. */
interface RowParts {
  readonly machine: Machine;
  readonly userStacks: UserStacks;
  readonly replay: Replay;
  readonly order: RecordOrder;
  readonly memory: SessionMemory;
}

/** What a session consists of. */
export interface SessionParts extends SharedParts, ReaderParts, RowParts {}

/** Makes the parts of a session, and connects them. */
export function sessionPartsOf(job: SessionJob): SessionParts {
  const shared = sharedPartsOf(job);
  return { ...shared, ...readerPartsOf(job, shared), ...rowPartsOf(job, shared) };
}

function sharedPartsOf({ source, header, options, sampleTimes, profile, diagnostics }: SessionJob): SharedParts {
  const { features, littleEndian } = header;
  const { compatPerf, leaf = compatPerf ? 'callchain' : 'callchain-or-ip' } = options;
  const clock = new RecordingClock();
  const events = eventsOf(header, compatPerf);
  const simpleperfOffCpu = offCpuTimesOf(options, header, events);
  const wantsBranches = profile.branches !== undefined || profile.samples?.branches !== undefined;
  return {
    clock,
    events,
    chains: new CallchainTable(recordBytes(source, header)),
    extras: new RecordExtras(),
    stackDumps: new StackDumps(littleEndian),
    branchStacks: wantsBranches ? new BranchStacks(littleEndian) : undefined,
    details: options.details && new DetailReader(options.details),
    filter: new CompiledFilter(options.filter, events.events, clock, () => sampleTimes ?? notedSampleTimes(features), diagnostics.option),
    simpleperfOffCpu,
    // simpleperf's switches have their times already.
    findsOffCpu: options.findsOffCpu && simpleperfOffCpu === undefined,
    leaf,
    recorder: recorderOf(features),
    traces: new AuxTraces(events.ids, clock, compatPerf, diagnostics),
  };
}

function readerPartsOf({ header, options, profile, diagnostics }: SessionJob, shared: SharedParts): ReaderParts {
  const { features } = header;
  const { observer, unwinds = true, compatPerf } = options;
  const { events, chains, clock, extras, leaf, details, branchStacks, simpleperfOffCpu, findsOffCpu, recorder } = shared;
  const switches = findsOffCpu ? new SwitchSampleReader(features) : undefined;
  const stackDumps = unwinds ? shared.stackDumps : undefined;
  const recordedSymbols = new RecordedSymbols();
  const readsAll = observer !== undefined || simpleperfOffCpu !== undefined || findsOffCpu || profile.threadEvents !== undefined;
  return {
    samples: new SampleReader(
      { events, chains, clock, extras, leaf, details, stackDumps, branchStacks, compatPerf, switches, stackTables: features.hiperf?.stackTables },
      diagnostics,
    ),
    switches,
    sideBand: new SideBandReader({ eventIds: events.ids, chains, clock, extras, commLimit: recorder.commLimit, readsAll }, diagnostics),
    userRecords: new UserRecordReader(events, features, diagnostics),
    simpleperfRecords: new SimpleperfRecordReader(events.ids, recordedSymbols, diagnostics),
    recordedSymbols,
  };
}

function rowPartsOf(job: SessionJob, shared: SharedParts): RowParts {
  const { source, header, options, profile, diagnostics } = job;
  const { features } = header;
  const { compatPerf, observer } = options;
  const { events, chains, extras, stackDumps, branchStacks, details, filter, simpleperfOffCpu, findsOffCpu, recorder } = shared;
  const leafIsSampleIp = shared.leaf === 'ip';
  const machine = machineOf(job, shared);
  const memory = new SessionMemory(new MemoryBudget(source, diagnostics.option, options.availableMemory), observer?.bytesPerRecord ?? 0);
  const frameRules = { ...options, callersAreCalls: recorder.callersAreCalls, leafIsSampleIp, showsCutAsPerf: compatPerf && options.truncated === 'keep' };
  const frames = new FrameResolver(chains, machine.kernels, profile, frameRules, diagnostics);
  const { dsos, jitCode } = machine;
  const unwindingParts = { dumps: stackDumps, chains, frames, dsos, jitDumps: jitCode.dumps, features, files: options.unwindFiles };
  const userStacks = new UserStacks(unwindingParts, options, diagnostics);
  const replay = new Replay(
    {
      machine,
      events,
      chains,
      extras,
      userStacks,
      branchStacks,
      frames,
      details,
      filter,
      profile,
      observer,
      simpleperfOffCpu,
      findsOffCpu,
      memory,
      keepsOwnPeriod: recorder.keepsOwnPeriod && !compatPerf,
      leafIsSampleIp,
    },
    diagnostics,
  );
  const order = new RecordOrder(orderRulesOf(source, header, compatPerf), replay.deliver);
  memory.add(chains, extras, stackDumps, userStacks, machine, order.queue, replay, profile);
  memory.add(shared.traces);
  if (branchStacks !== undefined) memory.add(branchStacks);
  return { machine, userStacks, replay, order, memory };
}

function machineOf({ header, options, diagnostics }: SessionJob, { clock, events, recorder: { namesMemory } }: SharedParts): Machine {
  // perf script does not read jitdump files.
  const openJitDump = options.compatPerf ? undefined : options.openJitDump;
  const openJitCode = (tasks: TaskTable): JitCode => new JitCode(openJitDump, clock, events.events, tasks, diagnostics);
  return new Machine(header.features, events.ids, { compatPerf: options.compatPerf, namesMemory }, openJitCode, diagnostics);
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

/** The times off the CPU of simpleperf's or hiperf's switches, if they were asked for and recorded; marks the events of these switches. */
function offCpuTimesOf({ offCpuTimes }: SessionOptions, { features }: RecordingHeader, { events }: EventList): OffCpuTimes | undefined {
  const switches = offCpuTimes ? switchesOf(features, events) : [];
  if (switches.length === 0) return undefined;
  for (const event of switches) event.isOffCpuTime = true;
  return new OffCpuTimes();
}

/** The events of simpleperf's or hiperf's switches off the CPU; empty if these were not recorded. */
function switchesOf({ simpleperf, hiperf }: Features, events: readonly SessionEvent[]): readonly SessionEvent[] {
  if (isOffCpuRecording(simpleperf?.metaInfo, events.length)) return events.slice(1);
  return hiperf?.hasOffCpu === true ? events.filter(({ name }) => name === 'sched:sched_switch') : [];
}

function orderRulesOf(source: RecordingSource, { mode, attrs }: RecordingHeader, compatPerf: boolean): RecordOrderRules {
  const isInFileOrder = mode === 'file' && attrs[0]?.attr.flags.has('sample_id_all') === false;
  return { isInFileOrder, keepsUntimedInPlace: !compatPerf, partCount: source.parts?.length ?? 0 };
}
