import type { Diagnostics } from '../base/problems/diagnostics.ts';
import type { OnProgress, RecordingSource } from '../base/streams/byte-source.ts';
import type { RecordingContext } from '../base/streams/recording-input.ts';
import { withoutUndefined } from '../base/without-undefined.ts';
import type { DemangleStyle } from '../demangle/demangle.ts';
import type { OpenJitDump } from '../jitdump/jitdump.ts';
import { type DsoSymbols, summarizeDsos } from '../naming/dso-symbols.ts';
import type { NameStyle } from '../naming/function-names.ts';
import { type DebugInfoUse, defaultDebugInfo } from '../naming/location-naming.ts';
import { reportMissingSymbols } from '../naming/missing-symbols.ts';
import { PayloadTexts } from '../naming/payload-texts.ts';
import { reportStackQuality } from '../naming/report-stacks.ts';
import { reportUnmappedCode } from '../naming/report-unmapped.ts';
import { reportNoFilesToUnwind, reportUnwoundStacks } from '../naming/report-unwound.ts';
import { symbolizeLocations } from '../naming/symbolize.ts';
import { unmapUnrecordedKernelCode } from '../naming/unrecorded-kernel-code.ts';
import { SymbolizerUnwindFiles } from '../naming/unwind-files.ts';
import type { PerfEventAttr } from '../perfdata/samples/attr.ts';
import { type KeptBranches, ProfileBuilder } from '../profile/builder.ts';
import type { Profile } from '../profile/profile.ts';
import { type DetailName, SampleDetails } from '../profile/sample-details.ts';
import type { SampleFilter } from '../session/filter/filter.ts';
import type { AvailableMemory } from '../session/memory-budget.ts';
import type { LeafRule } from '../session/reading/sample-reader.ts';
import type { RecordObserver } from '../session/replay.ts';
import { runSession, type SessionResult } from '../session/session.ts';
import type { SessionOptions } from '../session/session-parts.ts';
import type { TruncatedStacks } from '../session/unwinding/user-stacks.ts';
import type { Symbolizer } from '../symbolizer/symbolizer.ts';
import { assembleProfile, type EventKind, eventKind } from './assemble-profile.ts';

/** How a recording is read and named. What is known about it apart from its bytes (RecordingContext) tells where some of its symbols may be. */
export interface ReadProfileOptions extends RecordingContext {
  /** Which samples to read; all by default. */
  readonly filter?: SampleFilter;
  /** Keep every sample in time order, as needed for speedscope, Chrome traces and script. False by default. */
  readonly keepSamples?: boolean;
  /** With `keepSamples`: which details to keep of an event's samples, as script shows them. None by default. */
  readonly keepDetails?: (event: EventKind) => ReadonlySet<DetailName>;
  /** With `keepSamples`: also keep when threads began, ended, were renamed and were off the CPU. False by default. */
  readonly keepThreadEvents?: boolean;
  /** Which branches to keep of samples that carry them (`perf record -b`). Keeping those of each sample needs `keepSamples`. None by default. */
  readonly keepBranches?: KeptBranches;
  /** Frames per stack at most, counted from the leaf. All by default; 127 with `compatPerf`, as perf does. */
  readonly maxStack?: number;
  /** Treat callchains exactly as perf 6.1 does, so that the two can be compared; see docs/comparing-with-perf.md. False by default. */
  readonly compatPerf?: boolean;
  /** Unwind the user stacks that were recorded with samples (`--call-graph dwarf`). True by default; otherwise, these samples have only their own address. */
  readonly unwinds?: boolean;
  /**
   * What to do with user stacks that were unwound (`--call-graph dwarf`) and do not reach the start of their thread. `mark`: give them the root `[truncated]`;
   * `keep`: leave them as they are; `drop`: leave their samples out. Default: `mark`; `keep` with `compatPerf`.
   */
  readonly truncated?: TruncatedStacks;
  /** What the leaf of a stack is. Default: `callchain-or-ip`; `callchain` with `compatPerf`, as perf script prints stacks. */
  readonly leaf?: LeafRule;
  /**
   * For recordings of `simpleperf record --trace-offcpu`: replace the recorded period of switches off the CPU, 1, by the nanoseconds until the thread ran
   * again. False by default.
   */
  readonly offCpuTimes?: boolean;
  /**
   * Make samples of the times that threads were off the CPU, which follow from switches (`sched:sched_switch`, `--switch-events`): of events
   * `off-cpu:sleeping`, `off-cpu:blocked`, `off-cpu:preempted` and `off-cpu:waiting`, in nanoseconds, at the stack of the switch. False by default.
   */
  readonly offCpu?: boolean;
  /** Names functions; without it, frames keep their addresses, except those that the recording itself has names for (simpleperf). */
  readonly symbolizer?: Symbolizer;
  /** What is read from debug information. Default: `inlines`; `lines` with `compatPerf`, as perf does. */
  readonly debugInfo?: DebugInfoUse;
  /**
   * How mangled names (C++, Rust, Java, OCaml) are shown: mangled (`none`), or in one of the styles of {@link demangle}. Default: `full`; `no-params` with
   * `compatPerf`, as perf does.
   */
  readonly demangle?: DemangleStyle | 'none';
  /** Without `demangle`: leave names mangled, since each output will demangle them in a style of its own (see {@link NameStyle}). False by default. */
  readonly demanglesLater?: boolean;
  /** Opens the jitdump files that processes have mapped, for the names of code made at run time. They are not read without it, nor with `compatPerf`. */
  readonly openJitDump?: OpenJitDump;
  /** Gets every record in time order, whatever the filters. */
  readonly observer?: RecordObserver;
  /**
   * The available memory: what would need more is not read, which is reported. By default, only what is out of proportion to the recording's size is not read.
   */
  readonly availableMemory?: AvailableMemory;
  /** Called once with what was found of each binary's symbols, and where they were looked for; the most sampled binary first. */
  readonly onSymbols?: (symbols: readonly DsoSymbols[]) => void;
  /** Called now and then with the number of bytes read. */
  readonly onProgress?: OnProgress;
  /** Awaited between steps of naming; throws to give up. Reading is given up by the source. */
  readonly checkpoint?: () => Promise<void>;
}

/** A decoded recording: the profile for writers, and what the session knows beyond it. */
export interface ReadProfileResult {
  readonly profile: Profile;
  readonly session: SessionResult;
}

/** How many frames of a callchain perf 6.1 shows at most. Source: perf script's documentation, --max-stack. */
const PERF_MAX_STACK = 127;

/**
 * Decodes a recording into a profile and names its functions. Findings that are not errors go to `diagnostics`.
 *
 * @throws PerfconvError when the input is not a recording, or is too damaged to begin with
 */
export async function readProfile(source: RecordingSource, options: ReadProfileOptions, diagnostics: Diagnostics): Promise<ReadProfileResult> {
  const compatPerf = options.compatPerf ?? false;
  const { keepDetails } = options;
  const details = keepDetails && { details: new SampleDetails(), wanted: (attr: PerfEventAttr) => keepDetails(eventKind(attr)) };
  const builder = new ProfileBuilder(options.keepSamples ?? false, details?.details, options.keepThreadEvents, options.keepBranches);
  const { debugInfo = defaultDebugInfo(compatPerf), demangle = defaultNames(options) } = options;
  const symbols = options.symbolizer?.forRecording(options);
  const unwindFiles = symbols && new SymbolizerUnwindFiles(symbols, debugInfo !== 'none');
  const reading = { ...sessionOptions(options), ...withoutUndefined({ unwindFiles, details }) };
  const session = await runSession(source, reading, builder, diagnostics).finally(() => unwindFiles?.close());
  builder.rebaseTimes();
  const profile = assembleProfile(source.name, session, builder, options.filter);
  const payloads = details && new PayloadTexts(profile, session, compatPerf);
  const naming = { symbols, compatPerf, debugInfo, demangle, ...withoutUndefined({ checkpoint: options.checkpoint }) };
  const searches = await symbolizeLocations(profile, session, naming, payloads);
  if (compatPerf) unmapUnrecordedKernelCode(profile, session);
  const summaries = summarizeDsos(profile, searches, debugInfo !== 'none');
  if (symbols !== undefined) {
    reportMissingSymbols(summaries, diagnostics);
    reportUnmappedCode(profile, diagnostics);
  }
  // A stack that was cut may look broken, and so may stacks as perf shows them.
  if (!compatPerf && options.maxStack === undefined) reportStacks(profile, session, symbols !== undefined, diagnostics);
  options.onSymbols?.(summaries);
  payloads?.addToEvents(diagnostics);
  return { profile, session };
}

/** How the session reads the recording, apart from what it fills. */
function sessionOptions(options: ReadProfileOptions): SessionOptions {
  const { compatPerf = false, filter = {}, offCpuTimes = false, offCpu = false, leaf, unwinds, openJitDump, availableMemory, observer, onProgress } = options;
  const { maxStack = compatPerf ? PERF_MAX_STACK : Number.POSITIVE_INFINITY, truncated = compatPerf ? 'keep' : 'mark' } = options;
  return {
    filter,
    maxStack,
    compatPerf,
    offCpuTimes,
    findsOffCpu: offCpu,
    truncated,
    ...withoutUndefined({ leaf, unwinds, openJitDump, availableMemory, observer, onProgress }),
  };
}

/** Reports where stacks end before they should, and why. @param hasFiles whether binaries could be opened to unwind them */
function reportStacks(profile: Profile, session: SessionResult, hasFiles: boolean, diagnostics: Diagnostics): void {
  reportStackQuality(profile, session.events, diagnostics);
  if (hasFiles) reportUnwoundStacks(profile, session, diagnostics);
  else reportNoFilesToUnwind(session, diagnostics);
}

function defaultNames({ compatPerf, demanglesLater }: ReadProfileOptions): NameStyle {
  if (compatPerf) return 'no-params';
  return demanglesLater ? 'later' : 'full';
}
