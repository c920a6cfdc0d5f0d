import type { RecordingSource } from '../base/byte-source.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { ExactSums } from '../base/exact-sums.ts';
import type { DemangleStyle } from '../demangle/demangle.ts';
import type { OpenJitDump } from '../jitdump/jitdump.ts';
import { type DsoSymbols, summarizeDsos } from '../naming/dso-symbols.ts';
import { type DebugInfoUse, defaultDebugInfo } from '../naming/location-naming.ts';
import { reportMissingSymbols } from '../naming/missing-symbols.ts';
import { PayloadTexts } from '../naming/payload-texts.ts';
import { symbolizeLocations } from '../naming/symbolize.ts';
import type { PerfEventAttr } from '../perfdata/attr.ts';
import * as abi from '../perfdata/constants.ts';
import type { Features } from '../perfdata/features.ts';
import { ProfileBuilder } from '../profile/builder.ts';
import type { Mapping, Profile, ProfileEvent, ProfileMeta } from '../profile/profile.ts';
import { DETAIL_VALUES, type DetailName, SampleDetails } from '../profile/sample-details.ts';
import { wallClockOffset } from '../session/clock.ts';
import type { SampleFilter } from '../session/filter.ts';
import type { AvailableMemory } from '../session/memory-budget.ts';
import type { RecordObserver } from '../session/replay.ts';
import type { LeafRule } from '../session/sample-reader.ts';
import { runSession, type SessionResult } from '../session/session.ts';
import type { RecordingContext, Symbolizer } from '../symbolizer/symbolizer.ts';
import type { OpenZstdStream } from '../zstd/stream.ts';

/** The context of the recording is what `openFile` gives beside the bytes. Its `modifiedNs` also dates the profile where the recording itself does not. */
export interface ReadProfileOptions extends RecordingContext {
  /** Which samples to take; all by default. */
  readonly filter?: SampleFilter;
  /** Keep every sample in time order, as speedscope, Chrome trace and script need it. False by default. */
  readonly keepSamples?: boolean;
  /** With `keepSamples`: which details to keep of an event's samples, as script shows them. None by default. */
  readonly keepDetails?: (event: EventKind) => ReadonlySet<DetailName>;
  /** Frames per stack at most, counted from the leaf. All by default; 127 with `compatPerf`, as perf does. */
  readonly maxStack?: number;
  /** Treat callchains exactly as perf 6.1 does, so that the two can be compared; see docs/comparing-with-perf.md. False by default. */
  readonly compatPerf?: boolean;
  /** What the leaf of a stack is. Default: `callchain-or-ip`; `callchain` with `compatPerf`, as perf script prints stacks. */
  readonly leaf?: LeafRule;
  /**
   * For recordings of `simpleperf record --trace-offcpu`: give switches off the CPU the nanoseconds until the thread was back
   * as their period, in place of the recorded 1. False by default.
   */
  readonly offCpuTimes?: boolean;
  /** Names functions; without one, frames keep their addresses, but for those that the recording itself has names for (simpleperf). */
  readonly symbolizer?: Symbolizer;
  /** What is read from debug information. Default: `inlines`; `lines` with `compatPerf`, as perf does. */
  readonly debugInfo?: DebugInfoUse;
  /**
   * How mangled names (C++, Rust, Java, OCaml) are shown: as linkers know them (`none`), or in one of the styles of {@link demangle}. Default: `full`;
   * `no-params` with `compatPerf`, as perf does.
   */
  readonly demangle?: DemangleStyle | 'none';
  /** Opens the jitdump files that processes have mapped, for the names of code made at run time; not read without it, and with `compatPerf`. */
  readonly openJitDump?: OpenJitDump;
  /** Sees every record in time order, filters or not. */
  readonly observer?: RecordObserver;
  /** Opens the decompressor of `perf record -z`'s records; by default one in JavaScript. */
  readonly openZstd?: OpenZstdStream;
  /** The memory that there is: what would need more of it is not read, and reported. By default, only what is out of proportion to the recording's size. */
  readonly availableMemory?: AvailableMemory;
  /** Called once with what was found of the symbols of each binary, and where was looked for them; the most sampled first. */
  readonly onSymbols?: (symbols: readonly DsoSymbols[]) => void;
  /** Called now and then with the number of bytes read. */
  readonly onProgress?: (bytes: number) => void;
}

/** A decoded recording: the profile for writers, and what the session knows beyond it. */
export interface ReadProfileResult {
  readonly profile: Profile;
  readonly session: SessionResult;
}

/** What decides about the details of an event's samples. */
export type EventKind = Required<Pick<ProfileEvent, 'isTracepoint' | 'isRawPmu' | 'isBpfOutput'>>;

function eventKind({ type, config }: PerfEventAttr): EventKind {
  return {
    isTracepoint: type === abi.PERF_TYPE_TRACEPOINT,
    isRawPmu: type === abi.PERF_TYPE_RAW,
    isBpfOutput: type === abi.PERF_TYPE_SOFTWARE && config === BigInt(abi.PERF_COUNT_SW_BPF_OUTPUT),
  };
}

/** Frames that perf 6.1 shows of a callchain at most. Source: perf script's documentation, --max-stack. */
const PERF_MAX_STACK = 127;

/**
 * Decodes a recording into a profile and names its functions.
 * Findings that are no errors go to `diagnostics`.
 *
 * @throws PerfconvError when the input is no recording, or too damaged to begin with
 */
export async function readProfile(source: RecordingSource, options: ReadProfileOptions, diagnostics: Diagnostics): Promise<ReadProfileResult> {
  const compatPerf = options.compatPerf ?? false;
  const { keepDetails } = options;
  const details = keepDetails && new SampleDetails();
  const builder = new ProfileBuilder(options.keepSamples ?? false, details);
  const session = await runSession(
    source,
    {
      filter: options.filter ?? {},
      maxStack: options.maxStack ?? (compatPerf ? PERF_MAX_STACK : Number.POSITIVE_INFINITY),
      compatPerf,
      offCpuTimes: options.offCpuTimes ?? false,
      ...(options.leaf && { leaf: options.leaf }),
      ...(details && { details: { details, wanted: (attr: PerfEventAttr) => keepDetails(eventKind(attr)) } }),
      ...(options.openJitDump && { openJitDump: options.openJitDump }),
      ...(options.availableMemory && { availableMemory: options.availableMemory }),
      ...(options.observer && { observer: options.observer }),
      ...(options.openZstd && { openZstd: options.openZstd }),
      ...(options.onProgress && { onProgress: options.onProgress }),
    },
    builder,
    diagnostics,
  );
  builder.rebaseTimes();
  const profile = assemble(source.name, session, builder, options.modifiedNs);
  const { debugInfo = defaultDebugInfo(compatPerf), demangle = compatPerf ? 'no-params' : 'full' } = options;
  const payloads = details && new PayloadTexts(profile, session, compatPerf);
  const naming = { symbols: options.symbolizer?.forRecording(options), compatPerf, debugInfo, demangle };
  const searches = await symbolizeLocations(profile, session, naming, payloads);
  const symbols = summarizeDsos(profile, searches, debugInfo !== 'none');
  if (options.symbolizer !== undefined) reportMissingSymbols(symbols, diagnostics);
  options.onSymbols?.(symbols);
  payloads?.addToEvents(diagnostics);
  return { profile, session };
}

function assemble(inputName: string, session: SessionResult, builder: ProfileBuilder, modifiedNs: bigint | undefined): Profile {
  const mappings = assembleMappings(session, builder);
  return {
    meta: assembleMeta(inputName, session, builder, modifiedNs),
    strings: builder.strings,
    events: assembleEvents(session, builder),
    mappings,
    mainMapping: findMainMapping(mappings, builder),
    processes: session.processes.map(({ pid, name }) => ({ pid, name })),
    threads: session.threads.map(({ process, pid, tid, comm }) => ({ process, pid, tid, name: comm })),
    tasks: session.tasks.map(({ thread, comm }) => ({ thread, comm })),
    functions: builder.functions,
    locations: builder.locations,
    stacks: builder.stacks,
    totals: builder.totals,
    samples: builder.samples,
  };
}

/** The recorded range of the kernel does not cover all of its code: a mapping reaches as far as its locations do. */
function assembleMappings(session: SessionResult, { locations }: ProfileBuilder): Mapping[] {
  const starts = session.dsos.map((dso) => dso.start);
  const limits = session.dsos.map((dso) => dso.limit);
  for (let location = 0; location < locations.size; location++) {
    const mapping = locations.mapping(location);
    if (mapping < 0) continue;
    const address = locations.address(location);
    if (address < starts[mapping]) starts[mapping] = address;
    if (address >= limits[mapping]) limits[mapping] = address + 1;
  }
  return session.dsos.map(
    ({ name, kind, buildId, bias }, i): Mapping => ({ name, kind, buildId, bias, start: starts[i], limit: limits[i], hasSymbols: false }),
  );
}

function assembleMeta(inputName: string, session: SessionResult, builder: ProfileBuilder, modifiedNs: bigint | undefined): ProfileMeta {
  const { features, baseTime } = session;
  const hasTimes = Number.isFinite(builder.firstTimeNs);
  const durationNs = hasTimes ? builder.lastTimeNs - builder.firstTimeNs : 0;
  const startTime = hasTimes ? baseTime + BigInt(builder.firstTimeNs) : baseTime;
  const wallClockOffsetNs = wallClockOffset(features, session.events);
  const endTimeNs = simpleperfEndTimeNs(features) ?? modifiedNs;
  return {
    inputName: inputName.replace(/^.*[/\\]/s, ''),
    perfVersion: features.version ?? simpleperfVersion(features),
    commandLine: features.cmdline ?? [],
    hostName: features.hostname ?? '',
    osRelease: features.osrelease ?? '',
    arch: features.arch ?? '',
    cpuCount: features.nrCpusOnline,
    captureTimeNs:
      wallClockOffsetNs !== undefined && hasTimes
        ? startTime + wallClockOffsetNs
        : // A file is last written when the recording ends.
          endTimeNs && endTimeNs - BigInt(Math.round(durationNs)),
    startTime,
    wallClockOffsetNs,
    durationNs,
  };
}

/** `simpleperf 1.build.6735565`; empty in other recordings. */
function simpleperfVersion({ simpleperf }: Features): string {
  const version = simpleperf?.metaInfo.get('simpleperf_version');
  return version === undefined ? '' : `simpleperf ${version}`;
}

/** simpleperf writes down the wall clock's seconds when it has ended. */
function simpleperfEndTimeNs({ simpleperf }: Features): bigint | undefined {
  const seconds = simpleperf?.metaInfo.get('timestamp');
  return seconds !== undefined && /^\d{1,12}$/.test(seconds) ? BigInt(seconds) * 1_000_000_000n : undefined;
}

function assembleEvents(session: SessionResult, builder: ProfileBuilder): ProfileEvent[] {
  const events = session.events.map(
    ({ attr, name, isClock, isDummy, isOffCpuTime, layout }): ProfileEvent => ({
      name,
      unit: isClock || isOffCpuTime ? 'nanoseconds' : 'count',
      samplePeriod: Number(attr.samplePeriod),
      sampleFreq: Number(attr.sampleFreq),
      isTracepoint: attr.type === abi.PERF_TYPE_TRACEPOINT && !isOffCpuTime,
      isDummy,
      samples: 0,
      period: 0,
      hasCallchain: layout.hasCallchain,
      hasWeightStruct: (attr.sampleType & abi.PERF_SAMPLE_WEIGHT_STRUCT) !== 0,
      isRawPmu: attr.type === abi.PERF_TYPE_RAW,
      isBpfOutput: eventKind(attr).isBpfOutput,
      carries: new Set([...DETAIL_VALUES, 'raw' as const, 'branchStack' as const].filter((field) => layout.has(field))),
    }),
  );
  const { totals } = builder;
  const periods = new ExactSums();
  for (let row = 0; row < totals.size; row++) {
    events[totals.event(row)].samples += totals.samples(row);
    periods.add(totals.event(row), totals.period(row), totals.periodRemainder(row));
  }
  for (const [index, event] of events.entries()) {
    event.period = periods.value(index);
    if (periods.remainder(index) !== 0) event.periodRemainder = periods.remainder(index);
  }
  return events;
}

const SHARED_OBJECT = /\.so(\.|$)|\/ld-linux|\/ld-musl/;

/**
 * The program that was profiled: among the mapped files that are no shared libraries, the one that most samples lie
 * in, at any depth of their stacks.
 */
function findMainMapping(mappings: readonly Mapping[], builder: ProfileBuilder): number {
  const { totals, stacks, locations } = builder;
  // A parent comes before its children, so that one walk from the last stack to the first adds every stack to its callers.
  const samples = new Float64Array(stacks.size);
  for (let row = 0; row < totals.size; row++) if (totals.stack(row) >= 0) samples[totals.stack(row)] += totals.samples(row);
  const weights = new Float64Array(mappings.length);
  for (let stack = stacks.size - 1; stack >= 0; stack--) {
    const mapping = locations.mapping(stacks.location(stack));
    if (mapping >= 0) weights[mapping] += samples[stack];
    const parent = stacks.parent(stack);
    if (parent >= 0) samples[parent] += samples[stack];
  }
  let main = -1;
  mappings.forEach(({ kind, name }, i) => {
    if (kind !== 'file' || SHARED_OBJECT.test(name)) return;
    if (main < 0 || weights[i] > weights[main]) main = i;
  });
  return main;
}
