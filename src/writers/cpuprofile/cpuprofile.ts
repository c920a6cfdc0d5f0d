import { PerfconvError } from '../../base/problems/errors.ts';
import type { ByteSink } from '../../base/streams/byte-sink.ts';
import type { Profile } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import type { CallTree } from '../call-tree.ts';
import { type Arrangement, arrangeByTime, arrangeWithinBars, MAX_BARS, MAX_DEPTH, scanTimes } from '../chrome/arrangement.ts';
import { callFrames } from '../chrome/call-frames.ts';
import { callNodes } from '../chrome/call-nodes.ts';
import { chromeTracks } from '../chrome/tracks.ts';
import { everySample } from '../every-sample.ts';
import { JsonWriter } from '../json-text.ts';
import { findTimelineEvent } from '../primary-event.ts';
import { threadLabel } from '../thread-names.ts';

export interface CpuProfileOptions {
  /** Index into the profile's events. Default: the one that {@link findTimelineEvent} returns. */
  readonly event?: number;
  /** Above how many changes of the stack samples are sorted within slices of time. Default: 250,000 bars. */
  readonly maxBars?: number;
}

export interface CpuProfileResult {
  /** Index of the event written. */
  readonly event: number;
  /** Number of threads written, one after the other. */
  readonly threads: number;
  /** As for Chrome traces. */
  readonly untimedSamples: number;
  readonly cutSamples: number;
  readonly clippedNs: number;
  readonly sliceUs?: number;
}

const COMMA = 0x2c;
const ROOT_ID = 1;

/**
 * Writes a CPU profile of V8 (`.cpuprofile`), which DevTools, editors and speedscope open. It holds one event, as a
 * single thread: nodes of a call tree, and samples that each last until the next one.
 *
 * The axis is CPU time: there are no gaps between samples. A gap would be a sample of `(idle)`, and if a thread waits more than it runs, that would come first
 * in the lists of most viewers. Several threads follow one another, the busiest first, each below a frame with its name, since threads that ran at once cannot
 * share an axis.
 *
 * Source of the format: Chrome DevTools Protocol, type Profiler.Profile.
 *
 * @throws PerfconvError `usage` when the profile was read without its samples; `no-samples` when it has none; whatever
 * the sink throws
 */
export async function writeCpuProfile(profile: Profile, sink: ByteSink, options: CpuProfileOptions = {}): Promise<CpuProfileResult> {
  const samples = everySample(profile, 'a CPU profile');
  if (samples.size === 0) throw new PerfconvError('no-samples', 'no samples to write to a CPU profile');
  const event = options.event ?? findTimelineEvent(profile);
  const { arranged, tree, ...rest } = arrange(profile, samples, event, options.maxBars ?? MAX_BARS);
  const threads = new Set(arranged.tracks.tracks.map(({ rows }) => profile.tasks[samples.task[rows[0]]].thread)).size;
  const out = new JsonWriter(sink);
  const ids = nodeIds(tree, arranged);
  await writeNodes(out, tree, ids);
  const clippedNs = await writeSamples(out, arranged, ids);
  await out.flush();
  return { event, threads, clippedNs, ...rest, ...(arranged.sliceUs !== undefined && { sliceUs: arranged.sliceUs }) };
}

/** The threads of an event, the busiest first, and the call tree of their samples. */
function arrange(profile: Profile, samples: SampleTable, event: number, maxBars: number) {
  const { tasks } = profile;
  const all = chromeTracks(profile, samples, { joinsWaits: false, group: 'thread' });
  // The idle task and unknown threads come last: nobody looks for them.
  const own = all.tracks.filter((track) => track.event === event).sort((a, b) => Number(a.isIdle) - Number(b.isIdle));
  const hasNames = new Set(own.map(({ rows }) => tasks[samples.task[rows[0]]].thread)).size > 1;
  const { baseNs } = scanTimes(samples);
  const nameOf = hasNames ? (row: number) => threadLabel(profile, tasks[samples.task[row]].thread) : undefined;
  const nodes = callNodes(profile, samples, { maxDepth: MAX_DEPTH, event, nameOf });
  const byTime = arrangeByTime(samples, nodes, { ...all, tracks: own }, baseNs);
  const arranged = arrangeWithinBars(profile, byTime, nodes, { maxBars, mayMerge: false });
  let untimedSamples = 0;
  for (const { rows } of own) for (const row of rows) if (Number.isNaN(samples.timeNs[row])) untimedSamples++;
  return { arranged, tree: nodes.tree, cutSamples: nodes.cutSamples, untimedSamples };
}

/**
 * Start of the profile, in microseconds. DevTools converts times to milliseconds and back, and a function that then ends slightly after its caller appears
 * outside it in its tables. So all times are multiples of 1/1024 ms, which survive the conversion; whole microseconds do not. Also, a profile that starts at 0
 * does not load. Observed: Chromium 156.
 */
const START_US = 1000;
const GRID_US = 1000 / 1024;

/** Converts a time of the trace, from 1 on, to one of the profile. */
function onGrid(us: number): number {
  return START_US + Math.round((us - 1) / GRID_US) * GRID_US;
}

/**
 * Visits each sample of all tracks, which follow one another on one axis, with its node and the time since the start of the sample before it. The last one has
 * no node (−1), since a sample lasts until the next one, and the last one, in DevTools, as long as the others on average.
 * @param pause called now and then
 * @returns the end of the profile, and the nanoseconds for which there was no time left
 */
async function visitSamples(
  { tracks: { tracks }, samplesOf, strideUs = 0 }: Arrangement,
  each: (node: number, deltaUs: number) => void,
  pause: () => Promise<void>,
): Promise<{ endUs: number; clippedNs: number }> {
  let clippedNs = 0;
  let cursor = 1;
  let lastUs = 1;
  const visit = (node: number): void => {
    each(node, onGrid(cursor) - onGrid(lastUs));
    lastUs = cursor;
  };
  for (const track of tracks) {
    const samples = samplesOf(track);
    const { startUs, endUs, node } = samples;
    clippedNs += samples.clippedNs;
    for (let i = 0; i < node.length; i++) {
      // hot
      if (i === 0 || node[i] !== node[i - 1] || cursor - lastUs >= strideUs) visit(node[i]);
      cursor += endUs[i] - startUs[i];
      if ((i & 0xffff) === 0) await pause();
    }
  }
  visit(-1);
  return { endUs: onGrid(cursor), clippedNs };
}

/** By node: its id, without gaps, in the order of the nodes; 0 if neither it nor what it calls has a sample. */
function nodeIds(tree: CallTree, { tracks: { tracks }, samplesOf }: Arrangement): Uint32Array {
  const ids = new Uint32Array(tree.size);
  for (const track of tracks) for (const node of samplesOf(track).node) ids[node] = 1;
  for (let node = tree.size - 1; node > 0; node--) if (ids[node] > 0 && tree.parent(node) >= 0) ids[tree.parent(node)] = 1;
  let last = ROOT_ID;
  for (let node = 0; node < tree.size; node++) if (ids[node] > 0) ids[node] = ++last;
  return ids;
}

async function writeNodes(out: JsonWriter, tree: CallTree, ids: Uint32Array): Promise<void> {
  /** `first`, by node plus 1 (0 is the root): the first child plus 1. `next`, by node: the next child of its parent plus 1. */
  const first = new Uint32Array(tree.size + 1);
  const next = new Uint32Array(tree.size);
  for (let node = tree.size - 1; node >= 0; node--) {
    if (ids[node] === 0) continue;
    const parent = tree.parent(node) + 1;
    next[node] = first[parent];
    first[parent] = node + 1;
  }
  const frames = callFrames(tree.frames, (script) => `"${script}"`);
  out.put(`{"nodes":[\n{"id":${ROOT_ID},"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"children":[`);
  writeChildren(out, first[0], next, ids);
  out.put(']}');
  for (let node = 0; node < tree.size; node++) {
    // hot
    if (ids[node] === 0) continue;
    out.put(',\n{"id":');
    out.number(ids[node]);
    frames.write(out, tree.frame(node));
    out.put(',"children":[');
    writeChildren(out, first[node + 1], next, ids);
    out.put(']}');
    if (out.isFull) await out.flush();
  }
}

function writeChildren(out: JsonWriter, firstChild: number, next: Uint32Array, ids: Uint32Array): void {
  let isFirst = true;
  for (let child = firstChild; child > 0; child = next[child - 1]) {
    if (!isFirst) out.char(COMMA);
    isFirst = false;
    out.number(ids[child - 1]);
  }
}

/** Writes the rest of the file after the nodes. @returns nanoseconds for which there was no time left */
async function writeSamples(out: JsonWriter, arranged: Arrangement, ids: Uint32Array): Promise<number> {
  const pause = async (): Promise<void> => {
    if (out.isFull) await out.flush();
  };
  let isFirst = true;
  const putNumber = (value: number): void => {
    if (!isFirst) out.char(COMMA);
    isFirst = false;
    out.number(value);
  };
  out.put('],\n"samples":[');
  const { endUs, clippedNs } = await visitSamples(arranged, (node) => putNumber(node < 0 ? ROOT_ID : ids[node]), pause);
  isFirst = true;
  out.put('],\n"timeDeltas":[');
  await visitSamples(arranged, (_, deltaUs) => putNumber(deltaUs), pause);
  out.put(`],\n"startTime":${START_US},"endTime":${endUs}}\n`);
  return clippedNs;
}
