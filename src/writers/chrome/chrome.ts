import { PerfconvError } from '../../base/problems/errors.ts';
import type { ByteSink } from '../../base/streams/byte-sink.ts';
import type { Profile } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import type { CallTree } from '../call-tree.ts';
import { everySample } from '../every-sample.ts';
import { JsonWriter } from '../json-text.ts';
import { waitOf } from '../primary-event.ts';
import type { GroupKind } from '../sample-groups.ts';
import { type Arrangement, arrangeByTime, arrangeWithinBars, MAX_BARS, MAX_DEPTH, scanTimes } from './arrangement.ts';
import { callNodes } from './call-nodes.ts';
import { SpanEventWriter } from './events.ts';
import { SampledProfileWriter } from './samples.ts';
import { StackSpans } from './stack-spans.ts';
import { quotedForChrome } from './text.ts';
import { writeTracepointTexts } from './tracepoint-texts.ts';
import { type ChromeTrack, type ChromeTracks, chromeTracks } from './tracks.ts';

export interface ChromeOptions {
  /**
   * - `profile`: sampled profiles as V8 records them: small, and with file and line in DevTools
   * - `events`: an X event for each bar of the flame chart, and also the samples, for Perfetto
   */
  readonly style: 'profile' | 'events';
  /**
   * What becomes a track of its own. Default: each thread, up to 30 of them; above that each CPU, or everything if
   * samples carry no CPU.
   */
  readonly group?: GroupKind;
  /** Name of the recording, written to `otherData`. */
  readonly name: string;
  /** Whether to write the Unix time of the start to `otherData`, too, if the recording has it. Default: no. */
  readonly wallClock?: boolean;
  /** Name and version of the program, written to `otherData`: `perfconv@1.0.0`. */
  readonly exporter: string;
  /** Above how many bars the samples of sampled profiles are sorted within slices of time. Default: 250,000. */
  readonly maxBars?: number;
}

export interface ChromeResult {
  /** What became a track of its own. */
  readonly group: GroupKind;
  /** Number of samples without a time. Each was put directly after its predecessor, so their times are made up. */
  readonly untimedSamples: number;
  /** Number of samples whose stacks are too deep for the viewers: frames above the leaf were left out. */
  readonly cutSamples: number;
  /** Nanoseconds of clock events for which there was no time left on their track; above 0 only if a thread ran on two CPUs at once. */
  readonly clippedNs: number;
  /** Length of the slices of time within which samples were sorted by stack; absent if all are in time order. */
  readonly sliceUs?: number;
  /** Number of tracepoint samples without their text, because there were too many. */
  readonly textlessSamples: number;
}

/** The thread of this name is the one that DevTools unfolds and selects; it shows the page's URL in place of it. */
const MAIN_THREAD_NAME = 'CrRendererMain';

/**
 * Writes Chrome's trace format (JSON object form) with a flame chart per thread, for the Performance panel of Chrome DevTools and for Perfetto.
 * {@link chromeTracks} decides what becomes a track, {@link arrangeByTime} how long a sample lasts, and {@link arrangeWithinBars} whether samples stay in time
 * order.
 *
 * @throws PerfconvError `usage` when the profile was read without its samples; `no-samples` when it has none (DevTools
 * does not open an empty trace); whatever the sink throws
 */
export async function writeChrome(profile: Profile, sink: ByteSink, options: ChromeOptions): Promise<ChromeResult> {
  const samples = everySample(profile, 'a Chrome trace');
  if (samples.size === 0) throw new PerfconvError('no-samples', 'no samples to write to a Chrome trace');
  const { baseNs, untimedSamples } = scanTimes(samples);
  const tracks = chromeTracks(profile, samples, { joinsWaits: true, group: options.group });
  const nodes = callNodes(profile, samples, { maxDepth: MAX_DEPTH, nameOf: rootNames(profile, samples, tracks.group) });
  const byTime = arrangeByTime(samples, nodes, tracks, baseNs);
  const mayMerge = tracks.group === 'all' || (options.group === undefined && tracks.group === 'cpu');
  const isCompact = options.style === 'profile';
  const arranged = isCompact ? arrangeWithinBars(profile, byTime, nodes, { maxBars: options.maxBars ?? MAX_BARS, mayMerge }) : byTime;

  const out = new JsonWriter(sink);
  writeHead(out, profile, arranged.tracks, baseNs, options);
  let textlessSamples = 0;
  const clippedNs = isCompact ? await writeProfiles(out, nodes.tree, arranged) : await writeEvents(out, nodes.tree, arranged);
  if (isCompact) {
    const pid = arranged.tracks.processes.reduce((last, process) => Math.max(last, process.pid), 0) + 1;
    const place = { pid, baseNs, ...(arranged.axis && { axis: arranged.axis }) };
    textlessSamples = await writeTracepointTexts(out, profile, samples, place);
  }
  out.put('\n]}\n');
  await out.flush();
  const { group } = arranged.tracks;
  const { cutSamples } = nodes;
  const slices = arranged.sliceUs === undefined ? {} : { sliceUs: arranged.sliceUs };
  return { group, untimedSamples, cutSamples, clippedNs, textlessSamples, ...slices };
}

/** The names of root frames: on tracks of several threads, the thread's name; on tracks of times off the CPU, how the thread waited. */
function rootNames({ events, tasks }: Profile, samples: SampleTable, group: GroupKind): ((row: number) => string | undefined) | undefined {
  if (group !== 'thread') return (row) => tasks[samples.task[row]].comm;
  const names = events.map((event) => {
    const wait = event.samples > 0 ? waitOf(event) : undefined;
    return wait && `off-CPU: ${wait}`;
  });
  return names.every((name) => name === undefined) ? undefined : (row) => names[samples.event[row]];
}

/** @returns nanoseconds for which there was no time left */
async function writeEvents(out: JsonWriter, tree: CallTree, { tracks: { tracks, processes }, samplesOf }: Arrangement): Promise<number> {
  const spans = new StackSpans(tree);
  const events = new SpanEventWriter(tree);
  const perfetto = new SampledProfileWriter(out, tree, 'perfetto');
  let clippedNs = 0;
  for (const track of tracks) {
    const { pid } = processes[track.process];
    out.put(`,\n${metadata('thread_name', pid, track.tid, track.name)}`);
    const samples = samplesOf(track);
    clippedNs += samples.clippedNs;
    spans.build(samples);
    await events.write(out, spans, pid, track.tid);
    await perfetto.write(pid, track.tid, samples);
  }
  return clippedNs;
}

/**
 * Writes sampled profiles, as a trace of pages. DevTools shows sampled profiles with file and line only in the trace of
 * a page, which it recognizes by an event of the browser that assigns a page to each process.
 * @returns nanoseconds for which there was no time left
 */
async function writeProfiles(out: JsonWriter, tree: CallTree, { tracks: all, samplesOf, strideUs }: Arrangement): Promise<number> {
  const { tracks, processes } = all;
  const main = tracks.find((track) => !track.isIdle) ?? tracks[0];
  writePages(out, all, main);
  const writer = new SampledProfileWriter(out, tree, 'devtools');
  const endUs = processes.map(() => 0);
  let clippedNs = 0;
  for (const track of tracks) {
    const { pid } = processes[track.process];
    out.put(`,\n${metadata('thread_name', pid, track.tid, track === main ? MAIN_THREAD_NAME : track.label)}`);
    const samples = samplesOf(track);
    clippedNs += samples.clippedNs;
    await writer.write(pid, track.tid, samples, strideUs);
    endUs[track.process] = Math.max(endUs[track.process], samples.endUs[samples.endUs.length - 1]);
  }
  writeEnds(out, all, endUs);
  return clippedNs;
}

/**
 * Writes the event that assigns a page to each process. The main page is that of the main track, the thread that DevTools unfolds and selects; its URL is the
 * name that DevTools shows for the thread.
 */
function writePages(out: JsonWriter, tracks: ChromeTracks, main: ChromeTrack): void {
  const frames = tracks.processes.map((process, index) => {
    const isMain = index === main.process;
    const fields = `"url":${quotedForChrome(pageUrl(isMain ? main.label : process.label))},"name":${quotedForChrome(process.label)}`;
    return `{"frame":"process-${index}",${fields},"processId":${process.pid},"isOutermostMainFrame":true,"isInPrimaryMainFrame":${isMain}}`;
  });
  out.put(',\n{"ph":"I","name":"TracingStartedInBrowser","cat":"disabled-by-default-devtools.timeline","s":"t",');
  out.put(`"pid":${tracks.processes[main.process].pid},"tid":${main.tid},"ts":1,"args":{"data":{"persistentIds":true,"frames":[${frames.join(',')}]}}}`);
}

/** Writes an event at the end of each process: samples do not count for the bounds of a trace, but events do. */
function writeEnds(out: JsonWriter, { processes, tracks }: ChromeTracks, endUs: readonly number[]): void {
  /** By process: tid of its first track. */
  const firstTid = processes.map(() => 0);
  for (const { process, tid } of tracks) firstTid[process] ||= tid;
  for (const [index, { pid }] of processes.entries()) {
    out.put(`,\n{"ph":"I","name":"end of samples","cat":"perf","s":"t","pid":${pid},"tid":${firstTid[index]},"ts":${endUs[index]}}`);
  }
}

/**
 * A URL that is shown as it is: `perf:postgres (100) / walwriter (101)`. Text after a scheme without slashes needs no encoding, and is not taken apart.
 * Observed: Chromium 156.
 */
function pageUrl(label: string): string {
  return `perf:${label}`;
}

/** Writes the start of the file, up to the names of the processes, which begin the list of events. */
function writeHead(out: JsonWriter, profile: Profile, { processes }: ChromeTracks, baseNs: number, options: ChromeOptions): void {
  const { meta } = profile;
  const startNs = meta.startTime + BigInt(Math.round(baseNs));
  const otherData = {
    recording: options.name,
    exporter: options.exporter,
    command: meta.commandLine.join(' '),
    perfVersion: meta.perfVersion,
    recordingClockAtTs1Ns: String(startNs),
    ...(options.wallClock && meta.wallClockOffsetNs !== undefined && { wallClockAtTs1Ns: String(startNs + meta.wallClockOffsetNs) }),
  };
  const fields = Object.entries(otherData).map(([key, value]) => `"${key}":${quotedForChrome(value)}`);
  out.put(`{"displayTimeUnit":"ns","otherData":{${fields.join(',')}},\n"traceEvents":[`);
  const names = processes.map(({ pid, label }) => metadata('process_name', pid, pid, label));
  out.put(`\n${names.join(',\n')}`);
}

/** An event that names a process or a thread. */
function metadata(name: 'process_name' | 'thread_name', pid: number, tid: number, label: string): string {
  return `{"ph":"M","name":"${name}","cat":"__metadata","pid":${pid},"tid":${tid},"ts":1,"args":{"name":${quotedForChrome(label)}}}`;
}
