import { Diagnostics } from '../base/problems/diagnostics.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import type { ByteSink } from '../base/streams/byte-sink.ts';
import type { DemangleStyle } from '../demangle/demangle.ts';
import { withoutParameters, withSimpleNames } from '../naming/shorter-names.ts';
import type { Profile } from '../profile/profile.ts';
import { UNKNOWN_IN_STACKS, type UnknownCode } from '../profile/unknown-code.ts';
import type { Weight } from '../profile/weight.ts';
import type { ChromeOptions } from '../writers/chrome/chrome.ts';
import type { FoldedMark } from '../writers/folded/folded.ts';
import type { PprofLabel } from '../writers/pprof/pprof.ts';
import type { GroupKind } from '../writers/sample-groups.ts';
import type { ScriptFieldRequest } from '../writers/script/field-requests.ts';
import type { ScriptTimes } from '../writers/script/script-times.ts';
import { type Format, type StreamFormat, WALL_CLOCK_FORMATS } from './formats.ts';
import { reportChrome, reportCpuProfile, reportFirefox, reportMissingFields, reportParquet, reportSpeedscope, reportUnknownCpus } from './output-findings.ts';
import { shownProfile } from './shown-profile-cache.ts';

/** How formats are written. Each format uses the options that concern it. */
export interface WriteOptions {
  /** How code without symbols is shown; script always shows addresses. Default: `binary`, in the tables of CSV `function`. */
  readonly unknown?: UnknownCode;
  /** What is added up: periods (the default), or samples, each counted as 1. */
  readonly weight?: Weight;
  /** folded, html, speedscope: keep merged recordings apart even where they would add up, by a root frame or by separate profiles. Default: no. */
  readonly byInput?: boolean;
  /** folded: which frames are marked: kernel (`_[k]`), inlined (`_[i]`), JIT-compiled (`_[j]`). Default: those of the kernel. */
  readonly marks?: readonly FoldedMark[];
  /**
   * pprof, OTLP: what samples are labeled with. Default: pid, tid, comm and, for merged recordings, input; pprof leaves out those in which samples do not
   * differ.
   */
  readonly labels?: readonly PprofLabel[];
  /**
   * speedscope: what has a profile of its own; default: each thread. Chrome: what has a track; default: each thread, up to 30 of them, above that each CPU, or
   * everything together if samples carry no CPU.
   */
  readonly group?: GroupKind;
  /** Chrome: sampled profiles or a bar for each call. Default: `profile`. */
  readonly chromeStyle?: ChromeOptions['style'];
  /** CSV: put an apostrophe before texts that spreadsheets would run as formulas. Default: no, names are written as recorded. */
  readonly csvSafe?: boolean;
  /**
   * The style of names that was asked for, and that the profile has. Absent: none was asked for; pprof and OTLP then show `simple` names, folded names without
   * parameters.
   */
  readonly demangle?: DemangleStyle | 'none';
  /** script: requests for fields, of which each changes what those before it have left. Default: none, perf's choice. */
  readonly fields?: readonly ScriptFieldRequest[];
  /** script: returns what to print for a linkage name in place of the function's name; undefined for the function's name. Default: always that. */
  readonly scriptName?: (linkageName: string) => string | undefined;
  /** script: how to show names and payloads of the recording. Default: as recorded. */
  readonly scriptText?: (text: string) => string;
  /** script: leave out what perf 6.1 does not print for recordings from pipes. Default: no. */
  readonly scriptLikePerf?: boolean;
  /** script: print seconds with nine decimals. */
  readonly ns?: boolean;
  /** script: print seconds since the first sample (`relative`) or since the one before (`delta`), also with {@link wallClock}. Default: the recording's clock. */
  readonly times?: ScriptTimes;
  /**
   * Show wall-clock time, which the recording must have. script: the time of day in place of the recording's clock; chrome: `wallClockAtTs1Ns` in `otherData`;
   * speedscope, which has no field for it: in the document's name. Default: no.
   */
  readonly wallClock?: boolean;
  /** The program that wrote the output, for formats with a field for it. Default: `perfconv`. */
  readonly exporter?: string;
}

type Write = (profile: Profile, sink: ByteSink, options: WriteOptions, diagnostics: Diagnostics) => Promise<void>;

const DEFAULT_EXPORTER = 'perfconv';

/** Loaded when needed, since a conversion mostly needs only one of them. */
const WRITERS: Readonly<Record<StreamFormat, () => Promise<Write>>> = {
  pprof: async () => {
    const { writePprof } = await import('../writers/pprof/pprof.ts');
    return (profile, sink, { labels, weight = 'period', demangle }) =>
      // pprof cuts long names from the front: of a full name it may leave `Node*, int)`.
      writePprof(demangle === undefined ? withSimpleNames(profile) : profile, sink, { labels, weight });
  },
  speedscope: async () => {
    const { writeSpeedscope } = await import('../writers/speedscope/speedscope.ts');
    return async (profile, sink, { group = 'thread', weight = 'period', exporter = DEFAULT_EXPORTER, byInput = false, wallClock = false }, diagnostics) => {
      const options = { group, weight, byInput, name: wallClock ? await nameWithStart(profile) : profile.meta.inputName, exporter };
      const result = await writeSpeedscope(profile, sink, options);
      if (group === 'cpu') reportUnknownCpus(profile, diagnostics);
      reportSpeedscope(result, diagnostics);
    };
  },
  chrome: async () => {
    const { writeChrome } = await import('../writers/chrome/chrome.ts');
    return async (profile, sink, { chromeStyle = 'profile', group, exporter = DEFAULT_EXPORTER, wallClock = false }, diagnostics) => {
      const counted = new CountingSink(sink);
      const options = { style: chromeStyle, ...(group && { group }), name: profile.meta.inputName, exporter, wallClock };
      const result = await writeChrome(profile, counted, options);
      if (group === 'cpu') reportUnknownCpus(profile, diagnostics);
      reportChrome(result, { style: chromeStyle, isGroupChosen: group !== undefined, sizeBytes: counted.sizeBytes }, diagnostics);
    };
  },
  cpuprofile: async () => {
    const { writeCpuProfile } = await import('../writers/cpuprofile/cpuprofile.ts');
    return async (profile, sink, _, diagnostics) => {
      const counted = new CountingSink(sink);
      const result = await writeCpuProfile(profile, counted);
      reportCpuProfile(result, profile, counted.sizeBytes, diagnostics);
    };
  },
  script: async () => {
    const { findMissingFields, writeScript } = await import('../writers/script/script.ts');
    return async (profile, sink, { fields, ns = false, times, wallClock = false, scriptName, scriptText, scriptLikePerf = false }, diagnostics) => {
      reportMissingFields(findMissingFields(profile, fields ?? []), diagnostics);
      const names = { ...(scriptName && { nameOf: scriptName }), ...(scriptText && { shown: scriptText }) };
      await writeScript(profile, sink, { ...(fields && { fields }), ...(times && { times }), ns, wallClock, likePerf: scriptLikePerf, ...names });
    };
  },
  folded: async () => {
    const { writeFolded } = await import('../writers/folded/folded.ts');
    return (profile, sink, { weight = 'period', byInput = false, marks, demangle }, diagnostics) =>
      // Full names of template functions begin with their return types, and narrow boxes of overloads look the same.
      writeFolded(demangle === undefined ? withoutParameters(profile) : profile, sink, { weight, byInput, marks, diagnostics });
  },
  firefox: async () => {
    const { writeFirefox } = await import('../writers/firefox/firefox.ts');
    return async (profile, sink, { weight = 'period', exporter = DEFAULT_EXPORTER }, diagnostics) => {
      reportFirefox(await writeFirefox(profile, sink, { weight, exporter }), diagnostics);
    };
  },
  html: async () => {
    const { writeHtml } = await import('../writers/html/html.ts');
    return (profile, sink, { weight = 'period', exporter = DEFAULT_EXPORTER, byInput = false, demangle }) =>
      // Boxes and tables have little room; where there is more, the page shows full names.
      writeHtml(profile, sink, { weight, exporter, byInput, ...(demangle === undefined && { shownFunctions: withoutParameters(profile).functions }) });
  },
  parquet: async () => {
    const { writeParquet } = await import('../writers/parquet/parquet.ts');
    return async (profile, sink, { exporter = DEFAULT_EXPORTER }, diagnostics) => {
      reportParquet(await writeParquet(profile, sink, { exporter }), diagnostics);
    };
  },
  otlp: async () => {
    const { writeOtlp } = await import('../writers/otlp/otlp.ts');
    return (profile, sink, { labels, weight = 'period', exporter = DEFAULT_EXPORTER, demangle }) =>
      // The same names as in pprof, to which consumers convert profiles.
      writeOtlp(demangle === undefined ? withSimpleNames(profile) : profile, sink, { labels, weight, exporter });
  },
};

/** Whether a format, unless a style was asked for, demangles names in a style of its own. */
export function demanglesItself(format: Format): boolean {
  return format === 'pprof' || format === 'otlp' || format === 'folded';
}

/** `web.data 2026-11-21 11:44:12.473786` */
async function nameWithStart({ meta }: Profile): Promise<string> {
  const { timesOfDay } = await import('../writers/time-of-day.ts');
  return `${meta.inputName} ${timesOfDay(meta.startTime + (meta.wallClockOffsetNs ?? 0n)).text(0, 6)}`;
}

/**
 * Writes a profile in one of the formats. The bytes are not compressed.
 * @throws PerfconvError `no-samples`; `unsupported` when wall-clock time is asked for but not known; `usage` when there is no such format, or it needs samples
 *   that the profile did not keep; whatever the sink throws
 */
export async function writeProfile(format: StreamFormat, profile: Profile, sink: ByteSink, options: WriteOptions, diagnostics: Diagnostics): Promise<void> {
  // Not every caller has its types checked by a compiler.
  if (!Object.hasOwn(WRITERS, format)) throw new PerfconvError('usage', `writeProfile cannot write ${format}, only ${Object.keys(WRITERS).join(', ')}`);
  if (options.wallClock && profile.meta.wallClockOffsetNs === undefined && WALL_CLOCK_FORMATS.includes(format)) {
    throw new PerfconvError('unsupported', `the recording does not hold wall-clock time: perf records it with -k, as in -k CLOCK_MONOTONIC`);
  }
  const write = await WRITERS[format]();
  // Like perf script, its text shows each address.
  const shown = format === 'script' ? profile : shownProfile(profile, options.unknown ?? UNKNOWN_IN_STACKS);
  const found = new Diagnostics(diagnostics.option);
  try {
    await write(shown, sink, options, found);
  } finally {
    // Several outputs may show the same samples: what is wrong with these counts once.
    diagnostics.addAll(found.list().filter(({ code }) => diagnostics.count(code) === 0));
  }
}

/** Counts the bytes that go to another sink. */
class CountingSink implements ByteSink {
  sizeBytes = 0;
  readonly #target: ByteSink;

  constructor(target: ByteSink) {
    this.#target = target;
  }

  write(chunk: Uint8Array): Promise<void> {
    this.sizeBytes += chunk.length;
    return this.#target.write(chunk);
  }
}
