import type { ByteSink } from '../../base/byte-sink.ts';
import { PerfconvError } from '../../base/errors.ts';
import type { Profile } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { FrameTree } from '../frame-tree.ts';
import { JsonWriter } from '../json-text.ts';
import { SpanEventWriter } from './events.ts';
import { SampledProfileWriter } from './samples.ts';
import { StackSpans } from './stack-spans.ts';
import { type EventScale, eventScales, type PlacedSamples, placeSamples } from './stack-timeline.ts';
import { quotedForChrome } from './text.ts';
import { type ChromeTrack, type ChromeTracks, chromeTracks } from './tracks.ts';

export interface ChromeOptions {
  /**
   * - `events`: an X event for each bar of the flame chart, and also the samples, for Perfetto
   * - `profile`: sampled profiles as V8 records them: a fifth of the size, and with file and line in DevTools
   * - `auto`: `events`, unless the trace would be larger than `maxEventsBytes`
   */
  readonly style: 'auto' | 'events' | 'profile';
  /** Name of the recording, written to `otherData`. */
  readonly name: string;
  /** Whether to write to `otherData` also the Unix time of the start, if the recording has it. Default: no. */
  readonly wallClock?: boolean;
  /** Name and version of the program, written to `otherData`: `perfconv@1.0.0`. */
  readonly exporter: string;
  /** The size above which `auto` chooses `profile`. Default: 400 MB, since DevTools opens nothing above 512 MiB. */
  readonly maxEventsBytes?: number;
}

export interface ChromeResult {
  /** The style written, which matters for `auto`. */
  readonly style: 'events' | 'profile';
  /** Number of tracks (threads of one event) written. */
  readonly tracks: number;
  /** Number of samples without a time. Each was put directly after its predecessor, so their times are made up. */
  readonly untimedSamples: number;
  /** Number of samples whose stacks are too deep for the viewers: frames above the leaf were left out. */
  readonly cutSamples: number;
  /**
   * Nanoseconds of clock events for which there was no time left on their track; above 0 only where a thread ran on two
   * CPUs at once.
   */
  readonly clippedNs: number;
}

const MAX_EVENTS_BYTES = 400_000_000;
/** DevTools draws 2,000 levels, and crashes at 20,000. Observed: Chromium 156. */
const MAX_DEPTH = 2000;
/** Estimates for `auto`, on the large side: size of a sample and of a node in the samples for Perfetto. */
const SAMPLE_BYTES = 12;
const NODE_BYTES = 160;
/** Size of the shortest bar: all keys, with the shortest name and numbers. */
const MIN_BAR_BYTES = 68;

/** The thread of this name is the one that DevTools unfolds and selects; it shows the page's URL in place of it. */
const MAIN_THREAD_NAME = 'CrRendererMain';

/** What is needed to write a trace. */
interface Trace {
  readonly samples: SampleTable;
  readonly tree: FrameTree;
  readonly tracks: ChromeTracks;
  readonly scales: readonly EventScale[];
  /** Time of the first sample, which becomes microsecond 1. */
  readonly baseNs: number;
}

/**
 * Writes Chrome's trace format (JSON object form) with a flame chart per thread, for the Performance panel of Chrome
 * DevTools and for Perfetto. {@link chromeTracks} decides what becomes a track, {@link placeSamples} how long a sample
 * lasts.
 *
 * @throws PerfconvError `usage` when the profile was read without its samples; `no-samples` when it has none (DevTools
 * does not open an empty trace); whatever the sink throws
 */
export async function writeChrome(profile: Profile, sink: ByteSink, options: ChromeOptions): Promise<ChromeResult> {
  const { samples } = profile;
  if (!samples) throw new PerfconvError('usage', 'a Chrome trace needs every sample, and the profile holds only totals');
  if (samples.size === 0) throw new PerfconvError('no-samples', 'no samples to write to a Chrome trace');
  const tracks = chromeTracks(profile, samples);
  const tree = new FrameTree(profile, MAX_DEPTH);
  const { baseNs, untimedSamples, cutSamples } = scanSamples(samples, tree);
  const scales = eventScales(
    profile,
    samples,
    tracks.tracks.map((track) => track.group),
  );
  const trace: Trace = { samples, tree, tracks, scales, baseNs };
  const style = options.style === 'auto' ? chooseStyle(trace, options.maxEventsBytes ?? MAX_EVENTS_BYTES) : options.style;

  const out = new JsonWriter(sink);
  writeHead(out, profile, trace, options);
  const clippedNs = style === 'events' ? await writeEvents(out, trace) : await writeProfiles(out, trace);
  out.put('\n]}\n');
  await out.flush();
  return { style, tracks: tracks.tracks.length, untimedSamples, cutSamples, clippedNs };
}

function scanSamples(samples: SampleTable, tree: FrameTree): { baseNs: number; untimedSamples: number; cutSamples: number } {
  let baseNs = Number.POSITIVE_INFINITY;
  let untimedSamples = 0;
  let cutSamples = 0;
  for (let row = 0; row < samples.size; row++) {
    const timeNs = samples.timeNs[row];
    if (Number.isNaN(timeNs)) untimedSamples++;
    else if (timeNs < baseNs) baseNs = timeNs;
    tree.nodeOf(samples.stack[row]);
    if (tree.isCut(samples.stack[row])) cutSamples++;
  }
  return { baseNs: Number.isFinite(baseNs) ? baseNs : 0, untimedSamples, cutSamples };
}

/** Lays out the bars without writing them, which takes a fraction of the time, and stops when they are too many. */
function chooseStyle(trace: Trace, maxBytes: number): 'events' | 'profile' {
  const { samples, tree, tracks } = trace;
  const spans = new StackSpans(tree);
  const events = new SpanEventWriter(tree);
  /** By node: number of the last track that has it, from 1. */
  const metBy = new Uint32Array(tree.size);
  let bytes = samples.size * SAMPLE_BYTES;
  for (const [index, track] of tracks.tracks.entries()) {
    const { placed, nodeAt } = layOut(trace, track);
    // Alternating deep stacks have a bar for every frame of every sample. Laying them out stops early.
    if (!spans.build(placed, nodeAt, (maxBytes - bytes) / MIN_BAR_BYTES)) return 'profile';
    bytes += events.measure(spans, tracks.processes[track.process].pid, track.tid);
    for (let bar = 0; bar < spans.size; bar++) {
      const node = spans.node[bar];
      if (metBy[node] !== index + 1) bytes += NODE_BYTES;
      metBy[node] = index + 1;
    }
    if (bytes > maxBytes) return 'profile';
  }
  return 'events';
}

function layOut(trace: Trace, track: ChromeTrack): { placed: PlacedSamples; nodeAt: (position: number) => number } {
  const { samples, tree, scales, baseNs } = trace;
  const { rows, event } = track.group;
  return { placed: placeSamples(samples, rows, scales[event], baseNs), nodeAt: (position) => tree.nodeOf(samples.stack[rows[position]]) };
}

async function writeEvents(out: JsonWriter, trace: Trace): Promise<number> {
  const { tree, tracks } = trace;
  const spans = new StackSpans(tree);
  const events = new SpanEventWriter(tree);
  const perfetto = new SampledProfileWriter(out, tree, 'perfetto');
  let clippedNs = 0;
  for (const track of tracks.tracks) {
    const { pid } = tracks.processes[track.process];
    writeMetadata(out, 'thread_name', pid, track.tid, track.name);
    const { placed, nodeAt } = layOut(trace, track);
    clippedNs += placed.clippedNs;
    spans.build(placed, nodeAt);
    await events.write(out, spans, pid, track.tid);
    await perfetto.write(pid, track.tid, placed, nodeAt);
  }
  return clippedNs;
}

/**
 * Writes sampled profiles, as a trace of pages. DevTools shows sampled profiles with file and line only in the trace of
 * a page, which it recognizes by an event of the browser that assigns a page to each process.
 */
async function writeProfiles(out: JsonWriter, trace: Trace): Promise<number> {
  const { tree, tracks } = trace;
  const main = tracks.tracks.find((track) => !track.isIdle) ?? tracks.tracks[0];
  writePages(out, tracks, main);
  const writer = new SampledProfileWriter(out, tree, 'devtools');
  const endUs = tracks.processes.map(() => 0);
  let clippedNs = 0;
  for (const track of tracks.tracks) {
    const { pid } = tracks.processes[track.process];
    writeMetadata(out, 'thread_name', pid, track.tid, track === main ? MAIN_THREAD_NAME : track.label);
    const { placed, nodeAt } = layOut(trace, track);
    clippedNs += placed.clippedNs;
    await writer.write(pid, track.tid, placed, nodeAt);
    endUs[track.process] = Math.max(endUs[track.process], placed.endUs[placed.endUs.length - 1]);
  }
  writeEnds(out, tracks, endUs);
  return clippedNs;
}

/**
 * Writes the event that assigns a page to each process. The main page is that of the main track, the thread which
 * DevTools unfolds and selects; its URL is the name that DevTools shows for the thread.
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
 * A URL that is shown as it is: `perf:postgres (100) / walwriter (101)`. Text after a scheme without slashes needs no
 * encoding, and is not taken to pieces. Observed: Chromium 156.
 */
function pageUrl(label: string): string {
  return `perf:${label}`;
}

/** Writes the start of the file, up to the names of the processes, which begin the list of events. */
function writeHead(out: JsonWriter, profile: Profile, trace: Trace, options: ChromeOptions): void {
  const { meta } = profile;
  const startNs = meta.startTime + BigInt(Math.round(trace.baseNs));
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
  for (const [index, { pid, label }] of trace.tracks.processes.entries()) writeMetadata(out, 'process_name', pid, pid, label, index === 0 ? '\n' : ',\n');
}

function writeMetadata(out: JsonWriter, name: 'process_name' | 'thread_name', pid: number, tid: number, label: string, before = ',\n'): void {
  out.put(`${before}{"ph":"M","name":"${name}","cat":"__metadata","pid":${pid},"tid":${tid},"ts":1,"args":{"name":${quotedForChrome(label)}}}`);
}
