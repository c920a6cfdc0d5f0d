import type { Diagnostic } from '../base/problems/diagnostics.ts';
import { type RecordingSource, recordingBytes } from '../base/streams/byte-source.ts';
import type { ExactInteger } from '../base/text/exact-integer.ts';
import { HIPERF_WORKLOAD_NAME } from '../hiperf/constants.ts';
import { featureName, recordTypeNameOf } from '../perfdata/abi/constants.ts';
import { listedBuildIds } from '../perfdata/listed-build-ids.ts';
import type { Profile } from '../profile/profile.ts';
import { listedBuildId } from '../session/processes/dsos.ts';
import type { SessionResult } from '../session/session.ts';
import { withoutHome, withoutHomes } from './anonymous.ts';
import { type EventInfo, eventInfos, type GroupInfo, groupInfos } from './event-info.ts';
import { type MachineInfo, machineInfo } from './machine-info.ts';
import { type ClockInfo, clockInfo, type TimeInfo, timeInfo, wallClockText } from './time-info.ts';

export type { AttrInfo, EventInfo, GroupInfo } from './event-info.ts';
export type { BpfProgramInfo, HostInfo, MachineInfo, MemoryInfo, PmuInfo, TopologyInfo } from './machine-info.ts';
export type { ClockInfo, TimeInfo } from './time-info.ts';

/**
 * What `perfconv info` reports: plain values, ready for JSON, whose schema is published as `perfconv/info.schema.json`.
 * What the recording does not say is absent.
 */
export interface RecordingInfo extends MachineInfo {
  /** Grows when a field changes its meaning or is removed, but not for new fields. */
  readonly schemaVersion: 1;
  /** The recording's path, `-` for standard input, or the name that it was opened with. */
  readonly input: string;
  /** Absent for a stream. */
  readonly sizeBytes?: number | undefined;
  /** When the file was last written, ISO 8601; absent for a stream. */
  readonly modifiedTime?: string | undefined;
  /** How perf wrote it: a file, or a pipe's records (`perf record -o -`), wherever these are now. */
  readonly mode: 'file' | 'pipe';
  /** 1: PERFFILE, of perf before Linux 3.2; 2: PERFILE2. */
  readonly headerVersion: 1 | 2;
  /** That of the machine that wrote it. */
  readonly byteOrder: 'little' | 'big';
  /** Where the records begin. */
  readonly dataOffset: number;
  /** Bytes of records; absent if only the end of the input shows it. */
  readonly dataSizeBytes?: number | undefined;
  /** Version of the perf that recorded. */
  readonly perfVersion?: string | undefined;
  /** The words of its command line; absent with `anonymous`. */
  readonly commandLine?: readonly string[] | undefined;
  /** What times are measured with. */
  readonly clock: ClockInfo;
  /** Absent if samples carry no time. */
  readonly time?: TimeInfo | undefined;
  /** Times of the first and last sample as perf noted them in the header, nanoseconds as decimal text; `0` if it did not look. */
  readonly headerSampleTime?: { readonly firstNs: string; readonly lastNs: string } | undefined;
  /** Compressed records: 1 is zstd; `ratio` is that of all data. */
  readonly compression?:
    | { readonly version: number; readonly type: number; readonly level: number; readonly ratio: number; readonly mmapBytes: number }
    | undefined;
  /** Version of the layout of a recording that is a directory. */
  readonly directoryVersion?: ExactInteger | undefined;
  /**
   * Hardware trace (Arm SPE, Intel PT, Arm CoreSight): number of pieces and their bytes according to the header's index, in which perf counts only the records
   * before them (observed: perf 4.14 and 6.1); and whether samples were made of them.
   */
  readonly auxtrace?: { readonly entries: number; readonly sizeBytes: ExactInteger; readonly isDecoded: boolean } | undefined;
  /** Whether the header says that samples carry branch stacks. */
  readonly hasBranchStacks: boolean;
  /** Whether it was made by `perf stat`. */
  readonly isStat: boolean;
  /** What simpleperf notes about itself, its device and the app, in its own words. */
  readonly simpleperf?: readonly { readonly name: string; readonly value: string }[] | undefined;
  /** The same for hiperf, under the names that its reports have for them. */
  readonly hiperf?: readonly { readonly name: string; readonly value: string }[] | undefined;
  /** Names of the header features that the recording has. */
  readonly features: readonly string[];
  readonly events: readonly EventInfo[];
  /** Events that were counted together. */
  readonly groups?: readonly GroupInfo[] | undefined;
  /** Number of records by type, as `perf report --stats` calls the types. */
  readonly records: Readonly<Record<string, number>>;
  /** The sum of {@link records}. */
  readonly recordCount: number;
  /** Each member of a group counts. */
  readonly sampleCount: number;
  /** Number of samples that come before an older one in the file. */
  readonly samplesOutOfOrder: number;
  /** Number of processes that the records name. */
  readonly processCount: number;
  /** Number of their threads. */
  readonly threadCount: number;
  /** Files with their build ids. */
  readonly buildIds: readonly { readonly file: string; readonly buildId: string }[];
  /** What is damaged or missing. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A decoded recording, and what else is known about it. */
export interface InfoSubject {
  readonly source: RecordingSource;
  readonly profile: Profile;
  readonly session: SessionResult;
  /** Number of samples that come before an older one in the file: see {@link SampleOrder}. */
  readonly samplesOutOfOrder: number;
  /** Unix time in nanoseconds at which the recording was last written, if it is a file. */
  readonly modifiedNs: bigint | undefined;
  /** What is damaged or missing. */
  readonly findings: readonly Diagnostic[];
}

/** Sums up a recording that was read from its first record to its last. */
export function recordingInfo({ source, profile, session, samplesOutOfOrder, modifiedNs, findings }: InfoSubject): RecordingInfo {
  const { header, features, counts, hasTimes } = session;
  const { meta } = profile;
  const clock = clockInfo(features, session.events);
  const dataSizeBytes = header.dataEnd - header.dataStart;
  return {
    schemaVersion: 1,
    input: source.name,
    sizeBytes: recordingBytes(source),
    modifiedTime: modifiedNs === undefined ? undefined : wallClockText(modifiedNs),
    mode: header.mode,
    headerVersion: header.version,
    byteOrder: header.littleEndian ? 'little' : 'big',
    dataOffset: header.dataStart,
    dataSizeBytes: Number.isFinite(dataSizeBytes) ? dataSizeBytes : undefined,
    perfVersion: features.version,
    commandLine: features.cmdline,
    ...machineInfo(features),
    clock,
    time: hasTimes ? timeInfo(meta, features, modifiedNs) : undefined,
    headerSampleTime: features.sampleTime && { firstNs: String(features.sampleTime.first), lastNs: String(features.sampleTime.last) },
    compression: features.compressed,
    directoryVersion: features.dirFormatVersion,
    auxtrace: features.auxtrace && { ...features.auxtrace, isDecoded: session.events.some(({ isOfTrace }) => isOfTrace) },
    hasBranchStacks: features.hasBranchStack ?? false,
    isStat: features.isStat ?? false,
    simpleperf: features.simpleperf && [...features.simpleperf.metaInfo].map(([name, value]) => ({ name, value })),
    hiperf: features.hiperf && [...features.hiperf.texts].map(([name, value]) => ({ name, value })),
    features: [...features.present].sort((a, b) => a - b).map(featureName),
    events: eventInfos(session, profile.events),
    groups: groupInfos(features, session.events),
    records: Object.fromEntries(counts.entries().map(([type, count]) => [recordTypeNameOf(type) ?? `type ${type}`, count])),
    recordCount: counts.total,
    sampleCount: session.sampleCount,
    samplesOutOfOrder,
    processCount: session.processes.length,
    threadCount: session.threads.length,
    buildIds: buildIds(session),
    diagnostics: findings,
  };
}

/** The build ids of the header, hiperf's among them, and those that came with maps or as records. The header lists modules by their paths, under which no DSO is known. */
function buildIds({ features, dsos }: SessionResult): RecordingInfo['buildIds'] {
  const inHeader = listedBuildIds(features)
    .filter(({ buildId }) => buildId !== '')
    .map(({ filename, buildId }) => ({ file: filename, buildId }));
  const known = new Map(inHeader.map(({ file, buildId }) => [file, buildId]));
  const mapped = dsos.filter((dso) => dso.buildId !== '' && listedBuildId(dso, (name) => known.get(name)) === '');
  return [...inHeader, ...mapped.map(({ name, buildId }) => ({ file: name, buildId }))];
}

/** The same without what may identify people: host, command line, home directories. */
export function anonymousInfo(info: RecordingInfo): RecordingInfo {
  return {
    ...info,
    input: withoutHome(info.input),
    host: { ...info.host, name: undefined },
    commandLine: undefined,
    simpleperf: info.simpleperf?.map(({ name, value }) => ({ name, value: withoutHomes(value) })),
    hiperf: info.hiperf?.filter(({ name }) => name !== HIPERF_WORKLOAD_NAME).map(({ name, value }) => ({ name, value: withoutHomes(value) })),
    buildIds: info.buildIds.map(({ file, buildId }) => ({ file: withoutHome(file), buildId })),
    diagnostics: info.diagnostics.map((finding) => ({ ...finding, message: withoutHomes(finding.message) })),
  };
}
