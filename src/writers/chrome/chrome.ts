import type { ByteSink } from '../../base/byte-sink.ts';
import { PerfconvError } from '../../base/errors.ts';
import { showRawBytes } from '../../base/text.ts';
import type { Profile } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { FrameTree } from '../frame-tree.ts';
import { JsonWriter } from '../json-text.ts';
import { SpanEventWriter } from './events.ts';
import { SampledProfileWriter } from './samples.ts';
import { StackSpans } from './stack-spans.ts';
import { type EventScale, eventScales, type PlacedSamples, placeSamples } from './stack-timeline.ts';
import { quotedForChrome } from './text.ts';
import { type ChromeProcess, type ChromeTrack, type ChromeTracks, chromeTracks } from './tracks.ts';

export interface ChromeOptions {
  /**
   * - `events`: an X event per bar of the flame chart, and the samples beside them for Perfetto
   * - `profile`: sampled profiles as V8 records them: a fifth of the size, with file and line in DevTools
   * - `auto`: `events`, unless that would pass `maxEventsBytes`
   */
  readonly style: 'auto' | 'events' | 'profile';
  /** The recording's name, kept in `otherData`. */
  readonly name: string;
  /** Whether `otherData` also keeps the Unix time at which the trace begins, if the recording tells it. Default: no. */
  readonly wallClock?: boolean;
  /** Who wrote it: `perfconv@1.0.0`. */
  readonly exporter: string;
  /** Where `auto` changes over; 400 MB when absent, since DevTools refuses 512 MiB. */
  readonly maxEventsBytes?: number;
}

export interface ChromeResult {
  /** What `auto` came to. */
  readonly style: 'events' | 'profile';
  /** How many tracks (threads of one event) were written. */
  readonly tracks: number;
  /** Samples that carry no time: each was laid directly behind its predecessor, so the time axis is made up for them. */
  readonly untimedSamples: number;
  /** Samples whose stack is deeper than the viewers bear: frames before the leaf were left out. */
  readonly cutSamples: number;
  /** Nanoseconds of clock events that found no room on their track; above 0 only where one thread ran on two CPUs at once. */
  readonly clippedNs: number;
}

const MAX_EVENTS_BYTES = 400_000_000;
/** DevTools draws 2,000 levels and crashes at 20,000. Observed: Chromium 156. */
const MAX_DEPTH = 2000;
/** Generous guesses for `auto`, which need not be exact: a sample and a node of the samples for Perfetto. */
const SAMPLE_BYTES = 12;
const NODE_BYTES = 160;
/** No bar is written in less: all keys, and the shortest name and numbers. */
const MIN_BAR_BYTES = 68;

/** Everything that the writing of one trace needs. */
interface Trace {
  readonly samples: SampleTable;
  readonly tree: FrameTree;
  readonly tracks: ChromeTracks;
  readonly scales: readonly EventScale[];
  /** Time of the first sample, which becomes microsecond 1. */
  readonly baseNs: number;
}

/**
 * Writes Chrome's trace format (JSON object form), for the Performance panel of Chrome DevTools and for Perfetto: a
 * flame chart per thread. What becomes a track is said at {@link chromeTracks}, how samples become lengths of time at
 * {@link placeSamples}.
 *
 * @throws PerfconvError `usage` when the profile was made without its single samples, `no-samples` when it has none
 * (DevTools does not open an empty trace), or whatever the sink throws
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

/** Lays out the bars without writing them, which costs a fraction of the writing, and stops as soon as they are too many. */
function chooseStyle(trace: Trace, maxBytes: number): 'events' | 'profile' {
  const { samples, tree, tracks } = trace;
  const spans = new StackSpans(tree);
  const events = new SpanEventWriter(tree);
  /** By node: the number of the track that met it last, counted from 1. */
  const metBy = new Uint32Array(tree.size);
  let bytes = samples.size * SAMPLE_BYTES;
  for (const [index, track] of tracks.tracks.entries()) {
    const { placed, nodeAt } = layOut(trace, track);
    // Deep stacks that take turns have a bar for every frame of every sample: those are not even laid out.
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
    writeMetadata(out, 'thread_name', pid, track.tid, track.label);
    const { placed, nodeAt } = layOut(trace, track);
    clippedNs += placed.clippedNs;
    spans.build(placed, nodeAt);
    await events.write(out, spans, pid, track.tid);
    await perfetto.write(pid, track.tid, placed, nodeAt);
  }
  return clippedNs;
}

/**
 * DevTools takes a trace for that of a page (and only then shows sampled profiles with file and line) when a browser
 * says which page each process shows. Every process needs such a frame, and an event behind its samples, since the
 * samples do not count for the trace's bounds. The page's main thread is the one that is unfolded and selected, and
 * bears the page's URL for a name.
 */
async function writeProfiles(out: JsonWriter, trace: Trace): Promise<number> {
  const { tree, tracks } = trace;
  const main = tracks.tracks.find((track) => !track.isIdle) ?? tracks.tracks[0];
  const frames = tracks.processes.map((process, index) => {
    const isMain = index === main.process;
    const fields = `"url":${quotedForChrome(pageUrl(process, isMain ? main : undefined))},"name":${quotedForChrome(process.label)}`;
    return `{"frame":"process-${index}",${fields},"processId":${process.pid},"isOutermostMainFrame":true,"isInPrimaryMainFrame":${isMain}}`;
  });
  out.put(',\n{"ph":"I","name":"TracingStartedInBrowser","cat":"disabled-by-default-devtools.timeline","s":"t",');
  out.put(`"pid":${tracks.processes[main.process].pid},"tid":${main.tid},"ts":1,"args":{"data":{"persistentIds":true,"frames":[${frames.join(',')}]}}}`);
  const writer = new SampledProfileWriter(out, tree, 'devtools');
  const endUs = tracks.processes.map(() => 0);
  /** By process: the number of its first track. */
  const firstTid = tracks.processes.map(() => 0);
  let clippedNs = 0;
  for (const track of tracks.tracks) {
    const { pid, label } = tracks.processes[track.process];
    writeMetadata(out, 'thread_name', pid, track.tid, track === main ? 'CrRendererMain' : `${label} (${pid}) / ${track.label} (${track.tid})`);
    const { placed, nodeAt } = layOut(trace, track);
    clippedNs += placed.clippedNs;
    await writer.write(pid, track.tid, placed, nodeAt);
    firstTid[track.process] ||= track.tid;
    endUs[track.process] = Math.max(endUs[track.process], placed.endUs[placed.endUs.length - 1]);
  }
  for (const [index, { pid }] of tracks.processes.entries()) {
    out.put(`,\n{"ph":"I","name":"end of samples","cat":"perf","s":"t","pid":${pid},"tid":${firstTid[index]},"ts":${endUs[index]}}`);
  }
  return clippedNs;
}

/** `perf://postgres/100`; `perf://postgres/100/walwriter/101` where the page's main thread is not that of the process */
function pageUrl(process: ChromeProcess, main: ChromeTrack | undefined): string {
  const parts = main === undefined || main.tid === process.pid ? [process.label, process.pid] : [process.label, process.pid, main.label, main.tid];
  // Half a surrogate pair makes encodeURIComponent throw; that names hold none but for raw bytes is not this function's to know.
  return `perf://${parts.map((part) => encodeURIComponent(showRawBytes(String(part)).replace(/\p{Surrogate}/gu, '\ufffd'))).join('/')}`;
}

/** The head of the file and the names of the processes, with which the list of events begins. */
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
