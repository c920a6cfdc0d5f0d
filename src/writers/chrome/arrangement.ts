import type { Profile } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import type { CallNodes } from './call-nodes.ts';
import { type CpuTimeAxis, joinTracks, mergeWithinSlices } from './merged-track.ts';
import { placeSamples } from './stack-timeline.ts';
import { countBars, SliceChooser, sortWithinSlices, type TrackSamples } from './time-slices.ts';
import { type ChromeTrack, type ChromeTracks, mergedTracks } from './tracks.ts';

/** The tracks of a trace, and where in time and in the call tree their samples are. */
export interface Arrangement {
  readonly tracks: ChromeTracks;
  /** The samples of a track, which are placed again for each call. */
  readonly samplesOf: (track: ChromeTrack) => TrackSamples;
  /** Length of the slices of time within which samples are sorted by stack; absent if all are in time order. */
  readonly sliceUs?: number;
  /** How often a stack that stays the same is written again, in microseconds; absent: for each of its samples. */
  readonly strideUs?: number;
  /** Where on the time axis a microsecond of the recording is, if it is moved. */
  readonly axis?: CpuTimeAxis;
}

/** DevTools draws 2,000 levels, and crashes at 20,000. Observed: Chromium 156. */
export const MAX_DEPTH = 2000;
/** DevTools needs some 20 seconds for this many, with two million samples. Observed: Chromium 156. */
export const MAX_BARS = 250_000;
/** Fewer slices of time than this show little of when something ran. */
const MIN_SLICES = 256;
/** Roughly how many samples are written for stacks that stay the same. */
const MAX_REPEATED = 500_000;

/** Time of the first sample (0 when none has a time), and how many samples have no time. */
export function scanTimes({ size, timeNs }: SampleTable): { baseNs: number; untimedSamples: number } {
  let baseNs = Number.POSITIVE_INFINITY;
  let untimedSamples = 0;
  for (let row = 0; row < size; row++) {
    if (Number.isNaN(timeNs[row])) untimedSamples++;
    else if (timeNs[row] < baseNs) baseNs = timeNs[row];
  }
  return { baseNs: Number.isFinite(baseNs) ? baseNs : 0, untimedSamples };
}

/** Places every sample at its own time, to the microsecond. @param baseNs time that becomes microsecond 1 */
export function arrangeByTime(samples: SampleTable, nodes: CallNodes, tracks: ChromeTracks, baseNs: number): Arrangement {
  return {
    tracks,
    samplesOf: ({ rows, event }) => {
      const node = new Uint32Array(rows.length);
      for (let i = 0; i < rows.length; i++) node[i] = nodes.nodeOf[rows[i]];
      return { ...placeSamples(samples, rows, tracks.scales[event], baseNs), node };
    },
  };
}

export interface BarLimit {
  /** How many bars a viewer can draw. */
  readonly maxBars: number;
  /** Whether to merge tracks into one for each event if the slices of each track would be long. */
  readonly mayMerge: boolean;
}

/** The same arrangement, but with at most as many bars as a viewer can draw: if there would be more, samples are sorted by stack within slices of time. */
export function arrangeWithinBars(profile: Profile, byTime: Arrangement, nodes: CallNodes, { maxBars, mayMerge }: BarLimit): Arrangement {
  const { tree } = nodes;
  const { tracks } = byTime.tracks;
  // A sample has no more bars than frames.
  let most = 0;
  for (const { rows } of tracks) for (let i = 0; i < rows.length && most <= maxBars; i++) most += tree.depth(nodes.nodeOf[rows[i]]);
  if (most <= maxBars) return byTime;
  let endUs = 1;
  let bars = 0;
  for (const track of tracks) {
    const samples = byTime.samplesOf(track);
    endUs = Math.max(endUs, samples.endUs.at(-1) ?? 1);
    bars += countBars(tree, samples);
  }
  if (bars <= maxBars) return byTime;
  let chooser = new SliceChooser(tree, endUs, maxBars);
  for (const track of tracks) chooser.add(byTime.samplesOf(track));
  let sliceUs = chooser.choose();
  const ranks = chooser.leftHeavyRanks();
  const strideUs = chooser.totalUs / MAX_REPEATED;
  if (!mayMerge || endUs / sliceUs > MIN_SLICES) {
    return { tracks: byTime.tracks, sliceUs, strideUs, samplesOf: (track) => sortWithinSlices(byTime.samplesOf(track), ranks, sliceUs) };
  }
  // On one track, stacks that occur on several tracks are drawn once.
  chooser = new SliceChooser(tree, endUs, maxBars);
  for (const event of eventsOf(byTime)) chooser.add(joined(byTime, event));
  sliceUs = chooser.choose();
  return { ...mergeAll(profile, byTime, ranks, sliceUs), sliceUs, strideUs };
}

/**
 * Merges all tracks of an event into one. If time is shown, the axis becomes CPU time, so that all threads fit on one track, and viewers' tables, which cover
 * one track, cover all threads.
 */
function mergeAll(profile: Profile, byTime: Arrangement, ranks: Float64Array, sliceUs: number): Arrangement {
  const { scales } = byTime.tracks;
  const events = eventsOf(byTime);
  const hasTime = scales[events[0]].kind !== 'occurrences';
  const clockAxis: CpuTimeAxis = { startOf: (us) => us };
  const first = mergeWithinSlices(joined(byTime, events[0]), ranks, sliceUs, hasTime ? undefined : clockAxis);
  const axis = hasTime ? first.axis : clockAxis;
  const all = mergedTracks(profile, events, scales, hasTime ? 'all threads, CPU time' : 'all threads');
  return {
    tracks: all,
    samplesOf: (track) => (track.event === events[0] ? first.merged : mergeWithinSlices(joined(byTime, track.event), ranks, sliceUs, axis).merged),
    axis,
  };
}

function eventsOf({ tracks: { tracks } }: Arrangement): number[] {
  return [...new Set(tracks.map(({ event }) => event))];
}

/** The samples of all tracks of an event, by the times at which they begin. */
function joined({ tracks: { tracks }, samplesOf }: Arrangement, event: number): TrackSamples {
  return joinTracks(tracks.filter((track) => track.event === event).map(samplesOf));
}
