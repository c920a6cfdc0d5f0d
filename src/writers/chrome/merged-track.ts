import { ascendingOrder } from '../../base/tables/ascending-order.ts';
import type { TrackSamples } from './time-slices.ts';

/** An axis of CPU time, on which each slice of time is as long as everything that ran in it, on all CPUs. */
export interface CpuTimeAxis {
  /** Where on the axis the slice begins that contains a microsecond of the recording. */
  startOf(us: number): number;
}

/** The samples of several tracks, by the times at which they begin. They may overlap. */
export function joinTracks(tracks: readonly TrackSamples[]): TrackSamples {
  const count = tracks.reduce((sum, { node }) => sum + node.length, 0);
  const all = { startUs: new Float64Array(count), endUs: new Float64Array(count), node: new Uint32Array(count) };
  let clippedNs = 0;
  let filled = 0;
  for (const track of tracks) {
    all.startUs.set(track.startUs, filled);
    all.endUs.set(track.endUs, filled);
    all.node.set(track.node, filled);
    filled += track.node.length;
    clippedNs += track.clippedNs;
  }
  const order = ascendingOrder(all.startUs);
  const startUs = Float64Array.from(order, (from) => all.startUs[from]);
  const endUs = Float64Array.from(order, (from) => all.endUs[from]);
  return { startUs, endUs, node: order.map((from) => all.node[from]), clippedNs };
}

/**
 * Puts samples that may overlap on one track: sorted by stack within each slice of time, one after the other. All of
 * them keep their length.
 * @param samples by the times at which they begin
 * @param ranks by node
 * @param axis where slices begin; if absent, they follow one another, which gives the axis of the result
 */
export function mergeWithinSlices(
  { startUs, endUs, node, clippedNs }: TrackSamples,
  ranks: Float64Array,
  sliceUs: number,
  axis?: CpuTimeAxis,
): { merged: TrackSamples; axis: CpuTimeAxis } {
  const count = node.length;
  const merged = { startUs: new Float64Array(count), endUs: new Float64Array(count), node: new Uint32Array(count), clippedNs };
  /** By slice; slices without samples begin where the one before them ends. */
  const starts: number[] = [];
  let cursor = 1;
  for (let at = 0, end = 0; at < count; at = end) {
    const slice = Math.floor((startUs[at] - 1) / sliceUs);
    while (end < count && Math.floor((startUs[end] - 1) / sliceUs) === slice) end++;
    if (axis !== undefined) cursor = Math.max(cursor, axis.startOf(slice * sliceUs + 1));
    while (starts.length <= slice) starts.push(cursor);
    const keys = new Float64Array(end - at);
    for (let i = at; i < end; i++) keys[i - at] = ranks[node[i]];
    const order = ascendingOrder(keys);
    for (let i = at; i < end; i++) {
      const from = at + order[i - at];
      merged.node[i] = node[from];
      merged.startUs[i] = cursor;
      cursor += endUs[from] - startUs[from];
      merged.endUs[i] = cursor;
    }
  }
  return { merged, axis: { startOf: (us) => starts[Math.max(0, Math.floor((us - 1) / sliceUs))] ?? cursor } };
}
