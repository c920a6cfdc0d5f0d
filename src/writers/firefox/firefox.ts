import { PerfconvError } from '../../base/problems/errors.ts';
import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { showRawBytes as shown } from '../../base/text/text.ts';
import { baseName } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import type { Weight } from '../../profile/weight.ts';
import { everySample } from '../every-sample.ts';
import { JsonWriter, quotedJson } from '../json-text.ts';
import { findTimelineEvent } from '../primary-event.ts';
import { wholeNumber } from '../whole-number.ts';
import { CATEGORIES } from './categories.ts';
import { MarkerList, type ThreadLife } from './marker-list.ts';
import { SampleWriter } from './samples.ts';
import { SharedTables } from './shared-tables.ts';
import { type FirefoxThread, firefoxThreads } from './threads.ts';
import { profileIntervalNs } from './time-use.ts';
import { MARKER_SCHEMA, MarkerWriter } from './write-markers.ts';
import { writeLibs, writeShared } from './write-shared.ts';

export interface FirefoxOptions {
  /** `period`: what perf counts, in milliseconds for clocks. `samples`: 1 for each sample. */
  readonly weight: Weight;
  /** Name and version of the program: `perfconv@1.0.0`. */
  readonly exporter: string;
  /**
   * Above how many samples the file is made smaller: each time and weight is rounded (totals never are), and all addresses of a line become one frame, as do
   * those of a binary's code without names. Default: 500,000.
   */
  readonly maxExactSamples?: number;
}

export interface FirefoxResult {
  /** Number of samples without a time. Each was put an interval after its predecessor, so their times are made up. */
  readonly untimedSamples: number;
  /** Number of tracepoints whose texts were left out, because more would make the file too large to open. Their samples are in the file. */
  readonly omittedTracepoints: number;
}

/** Files with more samples than this are made smaller, so that the viewer opens them in seconds. */
const MAX_EXACT_SAMPLES = 500_000;
/** The version of the processed format, and that of the browser's own format, which is never read but must be present. Source: src/app-logic/constants.ts. */
const PROCESSED_VERSION = 70;
const GECKO_VERSION = 36;

/**
 * Writes Firefox Profiler's processed format (docs-developer/processed-profile-format.md of firefox-devtools/profiler), in the version of August 2026, which
 * later viewers upgrade. {@link firefoxThreads} decides what becomes a thread.
 *
 * @throws PerfconvError `usage` when the profile was read without its samples; `no-samples` when it has none (the
 * viewer opens no profile without threads); whatever the sink throws
 */
export async function writeFirefox(profile: Profile, sink: ByteSink, options: FirefoxOptions): Promise<FirefoxResult> {
  const samples = everySample(profile, 'the format of Firefox Profiler');
  if (samples.size === 0) throw new PerfconvError('no-samples', 'no samples to write for Firefox Profiler');
  const threads = firefoxThreads(profile, samples);
  const isLarge = samples.size > (options.maxExactSamples ?? MAX_EXACT_SAMPLES);
  const tables = sharedTables(profile, samples, isLarge);
  const markers = new MarkerList(profile, samples, threads, lastTimeNs(samples) + profileIntervalNs(profile));
  const markerWriter = new MarkerWriter(profile, samples, tables, markers);
  const out = new JsonWriter(sink);
  out.put('{"meta":');
  out.put(JSON.stringify(metaOf(profile, markers.profileEndNs, options.exporter, busiestThread(threads))));
  out.put(',');
  writeLibs(out, tables.libs, profile.meta.arch);
  out.put(',');
  await writeShared(out, profile, tables);
  out.put(',\n"threads":[');
  const writer = new SampleWriter(profile, samples, tables, { weight: options.weight, isRounded: isLarge });
  for (const [index, thread] of threads.entries()) {
    out.put(index === 0 ? '\n' : ',\n');
    writeThreadHead(out, thread, lifeOf(thread, markers));
    await writer.write(out, thread);
    out.put(',\n"markers":');
    await markerWriter.write(out, index);
    out.put('}');
  }
  out.put('\n]}\n');
  await out.flush();
  return { untimedSamples: writer.untimedSamples, omittedTracepoints: markers.omittedTracepoints };
}

/** The tables that threads share, with what the samples need. */
function sharedTables(profile: Profile, { size, stack }: SampleTable, isLarge: boolean): SharedTables {
  const samplesOf = new Uint32Array(profile.stacks.size);
  let hasNoStack = false;
  for (let row = 0; row < size; row++) {
    if (stack[row] < 0) hasNoStack = true;
    else samplesOf[stack[row]]++;
  }
  return new SharedTables(profile, { samplesOf, hasNoStack, mergesAddresses: isLarge });
}

/**
 * The index of the thread that the viewer opens with: the busiest one of the first process, which is not always its main
 * thread. Only threads of the same event are compared.
 */
function busiestThread(threads: readonly FirefoxThread[]): number {
  let busiest = 0;
  for (const [index, { group, process }] of threads.entries()) {
    const { group: best, process: first } = threads[busiest];
    if (process === first && group.event === best.event && group.period > best.period) busiest = index;
  }
  return busiest;
}

/** `meta`. Times are milliseconds; what the recording does not tell is left out, or empty if the viewer needs a value. */
function metaOf(profile: Profile, endNs: number, exporter: string, selectedThread: number): object {
  const { mainMapping, mappings, meta } = profile;
  const intervalMs = profileIntervalNs(profile) / 1e6;
  const product = mainMapping < 0 ? '' : baseName(mappings[mainMapping].name);
  return {
    interval: intervalMs,
    startTime: meta.wallClockOffsetNs === undefined ? 0 : Number((meta.startTime + meta.wallClockOffsetNs) / 1000n) / 1000,
    profilingStartTime: 0,
    profilingEndTime: endNs / 1e6,
    processType: 0,
    product: shown(product || meta.inputName || 'perf'),
    importedFrom: shown(`${meta.inputName} (${exporter})`),
    stackwalk: 1,
    version: GECKO_VERSION,
    preprocessedProfileVersion: PROCESSED_VERSION,
    abi: shown(meta.arch),
    oscpu: shown(['Linux', meta.osRelease, meta.arch].filter((text) => text !== '').join(' ')),
    platform: 'Linux',
    ...(meta.commandLine.length > 0 && { arguments: shown(meta.commandLine.join(' ')) }),
    ...(meta.cpuCount !== undefined && { logicalCPUs: meta.cpuCount }),
    // Names are in the file, so the viewer must not ask servers for them.
    symbolicated: true,
    symbolicationNotSupported: true,
    sourceCodeIsNotOnSearchfox: true,
    usesOnlyOneStackType: true,
    keepProfileThreadOrder: true,
    initialSelectedThreads: [selectedThread],
    sampleUnits: { time: 'ms', eventDelay: 'ms', threadCPUDelta: 'µs' },
    categories: CATEGORIES,
    extra: [{ label: 'Events', entries: eventEntries(profile) }],
    extensions: { length: 0, baseURL: [], id: [], name: [] },
    markerSchema: MARKER_SCHEMA,
  };
}

/** What the viewer lists about the events: first the timeline event, whose threads have no event in their names. */
function eventEntries(profile: Profile): object[] {
  const timeline = findTimelineEvent(profile);
  const withSamples = profile.events.map((_, index) => index).filter((index) => profile.events[index].samples > 0);
  withSamples.sort((a, b) => Number(b === timeline) - Number(a === timeline) || a - b);
  return withSamples.map((index) => {
    const { name, period, periodRemainder, samples, unit } = profile.events[index];
    const value = `${samples} samples, period ${wholeNumber(period, periodRemainder)}${unit === 'nanoseconds' ? ' ns' : ''}`;
    return { label: shown(name), format: 'string', value };
  });
}

function lastTimeNs({ size, timeNs }: SampleTable): number {
  let last = 0;
  for (let row = 0; row < size; row++) if (timeNs[row] > last) last = timeNs[row];
  return last;
}

/** Times of a thread and its process in milliseconds. Anything that began before the recording begins at 0; `null` means no end. */
function lifeOf({ group, process }: FirefoxThread, markers: MarkerList): object {
  const own = markers.lifeOf(group.subject);
  const whole = markers.lifeOfProcess(process);
  const beganMs = (life?: ThreadLife): number => Math.max(0, life?.beganNs ?? 0) / 1e6;
  const endedMs = (life?: ThreadLife): number | null => (life === undefined || life.endedNs < 0 ? null : life.endedNs / 1e6);
  return { processStartupTime: beganMs(whole), processShutdownTime: endedMs(whole), registerTime: beganMs(own), unregisterTime: endedMs(own) };
}

/** Writes the fields of a thread up to its samples. */
function writeThreadHead(out: JsonWriter, { isMainThread, name, pid, processName, tid }: FirefoxThread, life: object): void {
  out.put(`{"processType":"default","name":${quotedJson(name)},"processName":${quotedJson(processName)},"isMainThread":${isMainThread},`);
  out.put(`"pid":${quotedJson(pid)},"tid":${JSON.stringify(tid)},${JSON.stringify(life).slice(1, -1)},"pausedRanges":[],\n"samples":`);
}
