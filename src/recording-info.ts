import type { Diagnostic, Diagnostics } from './diagnostics.ts';
import { FEATURE_NAMES, recordTypeNameOf } from './perfdata/constants.ts';
import { SAMPLE_FIELDS } from './perfdata/sample-layout.ts';
import type { ReadProfileResult } from './read-profile.ts';
import type { SessionEvent } from './session/events.ts';

/** One event of a recording as it was asked for. */
export interface EventInfo {
  readonly name: string;
  /** perf_event_attr.type. */
  readonly type: number;
  /** perf_event_attr.config, hex. */
  readonly config: string;
  /** Events per sample; absent where a frequency was asked for. */
  readonly samplePeriod?: number;
  /** Samples per second; absent where a period was asked for. */
  readonly sampleFreq?: number;
  /** Fields that its samples carry, in the order in which they lie there. */
  readonly sampleType: readonly string[];
  /** Flags that are set, by their names in perf_event.h. */
  readonly flags: readonly string[];
  readonly preciseIp: number;
  /** Samples, and the sum of their periods. */
  readonly samples: number;
  readonly period: number;
}

/** What `perfconv info` tells: plain values, ready for JSON. What the recording does not say is absent. */
export interface RecordingInfo {
  readonly input: string;
  /** Absent for a stream. */
  readonly sizeBytes?: number;
  readonly mode: 'file' | 'pipe';
  readonly byteOrder: 'little' | 'big';
  readonly hostName?: string;
  readonly osRelease?: string;
  readonly arch?: string;
  readonly perfVersion?: string;
  readonly cpusOnline?: number;
  readonly cpusAvailable?: number;
  readonly cpuDescription?: string;
  readonly totalMemKib?: number;
  readonly commandLine?: readonly string[];
  /** Names of the header features that the recording has. */
  readonly features: readonly string[];
  readonly events: readonly EventInfo[];
  /** Number of records by type, as `perf report --stats` calls the types. */
  readonly records: Readonly<Record<string, number>>;
  readonly recordCount: number;
  readonly sampleCount: number;
  readonly processCount: number;
  readonly threadCount: number;
  /** First and last sample in the recording's own clock, nanoseconds as decimal text; absent where samples carry no time. */
  readonly firstSampleNs?: string;
  readonly lastSampleNs?: string;
  /** Wall clock time of the first sample, ISO 8601; absent unless the recording or its file tells. */
  readonly captureTime?: string;
  /** What is damaged or missing. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Sums up a recording that was read, with no filter. */
export function recordingInfo(input: string, sizeBytes: number | undefined, { profile, session }: ReadProfileResult, diagnostics: Diagnostics): RecordingInfo {
  const { header, features, counts } = session;
  const { meta } = profile;
  const hasTimes = profile.totals.size > 0 && meta.startTime > 0n && session.events.some((event) => event.layout.time >= 0);
  return {
    input,
    ...(sizeBytes !== undefined && { sizeBytes }),
    mode: header.mode,
    byteOrder: header.littleEndian ? 'little' : 'big',
    ...(features.hostname !== undefined && { hostName: features.hostname }),
    ...(features.osrelease !== undefined && { osRelease: features.osrelease }),
    ...(features.arch !== undefined && { arch: features.arch }),
    ...(features.version !== undefined && { perfVersion: features.version }),
    ...(features.nrCpusOnline !== undefined && { cpusOnline: features.nrCpusOnline }),
    ...(features.nrCpusAvailable !== undefined && { cpusAvailable: features.nrCpusAvailable }),
    ...(features.cpudesc !== undefined && { cpuDescription: features.cpudesc }),
    ...(features.totalMemKib !== undefined && { totalMemKib: features.totalMemKib }),
    ...(features.cmdline !== undefined && { commandLine: features.cmdline }),
    features: [...features.present].sort((a, b) => a - b).map((bit) => FEATURE_NAMES[bit] ?? `feature ${bit}`),
    events: session.events.map((event, index) => eventInfo(event, profile.events[index].samples, profile.events[index].period)),
    records: Object.fromEntries(counts.entries().map(([type, count]) => [recordTypeNameOf(type) ?? `type ${type}`, count])),
    recordCount: counts.total,
    sampleCount: session.sampleCount,
    processCount: session.processes.length,
    threadCount: session.threads.length,
    ...(hasTimes && { firstSampleNs: String(meta.startTime), lastSampleNs: String(meta.startTime + BigInt(Math.round(meta.durationNs))) }),
    ...(meta.captureTimeNs !== undefined && { captureTime: new Date(Number(meta.captureTimeNs / 1_000_000n)).toISOString() }),
    diagnostics: diagnostics.list(),
  };
}

function eventInfo({ attr, name }: SessionEvent, samples: number, period: number): EventInfo {
  return {
    name,
    type: attr.type,
    config: `0x${attr.config.toString(16)}`,
    ...(attr.flags.has('freq') ? { sampleFreq: attr.sampleFreq } : { samplePeriod: attr.samplePeriod }),
    sampleType: SAMPLE_FIELDS.filter(({ bits }) => (attr.sampleType & bits) !== 0).map((field) => field.name),
    flags: [...attr.flags],
    preciseIp: attr.preciseIp,
    samples,
    period,
  };
}
