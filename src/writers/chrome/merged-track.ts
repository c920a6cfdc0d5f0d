import { ascendingOrder } from '../../base/ascending-order.ts';
import type { TrackSamples } from './time-slices.ts';

/** A time axis on which each slice of time is as long as all that ran in it, on every CPU: an axis of CPU time. */
export interface CpuTimeAxis {
  /** Where the slice of a microsecond of the recording begins on the axis. */
  startOf(us: number): number;
}

/**
 * Merges tracks of one event into one. Samples are sorted by stack within each slice of time and follow one another;
 * all of them keep their length.
 * @param ranks by node
 * @param axis where slices begin; when absent they follow one another, and the result has the axis that this makes
 */
export function mergeTracks(
  tracks: readonly TrackSamples[],
  ranks: Float64Array,
  sliceUs: number,
  axis?: CpuTimeAxis,
): { merged: TrackSamples; axis: CpuTimeAxis } {
  const count = tracks.reduce((sum, { node }) => sum + node.length, 0);
  const slice = new Float64Array(count);
  const lengthUs = new Float64Array(count);
  const node = new Uint32Array(count);
  let clippedNs = 0;
  let filled = 0;
  for (const track of tracks) {
    clippedNs += track.clippedNs;
    for (let i = 0; i < track.node.length; i++, filled++) {
      slice[filled] = Math.floor((track.startUs[i] - 1) / sliceUs);
      lengthUs[filled] = track.endUs[i] - track.startUs[i];
      node[filled] = track.node[i];
    }
  }
  const bySlice = ascendingOrder(slice);
  const merged = { startUs: new Float64Array(count), endUs: new Float64Array(count), node: new Uint32Array(count), clippedNs };
  /** By slice; slices without samples begin where the one before them ends. */
  const starts: number[] = [];
  let cursor = 1;
  for (let at = 0, end = 0; at < count; at = end) {
    const own = slice[bySlice[at]];
    while (end < count && slice[bySlice[end]] === own) end++;
    if (axis !== undefined) cursor = Math.max(cursor, axis.startOf(own * sliceUs + 1));
    while (starts.length <= own) starts.push(cursor);
    const keys = new Float64Array(end - at);
    for (let i = at; i < end; i++) keys[i - at] = ranks[node[bySlice[i]]];
    const order = ascendingOrder(keys);
    for (let i = at; i < end; i++) {
      const from = bySlice[at + order[i - at]];
      merged.node[i] = node[from];
      merged.startUs[i] = cursor;
      cursor += lengthUs[from];
      merged.endUs[i] = cursor;
    }
  }
  return { merged, axis: { startOf: (us) => starts[Math.max(0, Math.floor((us - 1) / sliceUs))] ?? cursor } };
}
