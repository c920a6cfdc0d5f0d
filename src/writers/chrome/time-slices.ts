import { ascendingOrder } from '../../base/tables/ascending-order.ts';
import { allocated } from '../../base/tables/growable.ts';
import type { CallTree } from '../call-tree.ts';
import { leftHeavyRanks } from '../left-heavy.ts';
import type { PlacedSamples } from './stack-timeline.ts';

/** Samples of a track, where they are in the call tree and in time. */
export interface TrackSamples extends PlacedSamples {
  /** Node of the call tree, by position. */
  readonly node: Uint32Array;
}

/** Into how many slices a trace may be cut, the largest number first. One slice always works. */
const SLICES = [16_384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1];

/**
 * Finds out how finely a trace can be cut into slices of time so that a viewer can open it. DevTools makes an object for each bar of the flame chart, and a bar
 * ends wherever the stack changes. Within a slice, samples sorted by stack have one bar for each node of the call tree.
 */
export class SliceChooser {
  readonly #tree: CallTree;
  readonly #maxBars: number;
  readonly #sliceUs: readonly number[];
  /** By way to cut: number of bars so far. */
  readonly #bars: Float64Array;
  /** By way to cut: by node, the last slice of any track that has it. */
  readonly #lastSlice: readonly Int32Array[];
  #tracks = 0;
  #totalUs = 0;
  /** The finest way to cut that is still possible. */
  #finest = 0;
  /** By node: time of the samples there. */
  readonly #weight: Float64Array;

  /** @param endUs end of the trace, which begins at microsecond 1 */
  constructor(tree: CallTree, endUs: number, maxBars: number) {
    this.#tree = tree;
    this.#maxBars = maxBars;
    this.#sliceUs = SLICES.map((count) => Math.ceil(endUs / count));
    this.#bars = new Float64Array(SLICES.length);
    this.#lastSlice = SLICES.map(() => allocated(Int32Array, tree.size).fill(-1));
    this.#weight = new Float64Array(tree.size);
  }

  /** Counts the bars of a track. */
  add({ startUs, endUs, node }: TrackSamples): void {
    const tree = this.#tree;
    const last = SLICES.length - 1;
    const track = this.#tracks++;
    for (let i = 0; i < node.length; i++) {
      // hot
      this.#weight[node[i]] += endUs[i] - startUs[i];
      this.#totalUs += endUs[i] - startUs[i];
      // Ways with too many bars are ruled out.
      while (this.#finest < last && this.#bars[this.#finest] > this.#maxBars) this.#finest++;
      for (let way = this.#finest; way <= last; way++) {
        const slice = (track * (SLICES[way] + 1) + Math.floor((startUs[i] - 1) / this.#sliceUs[way])) | 0;
        const lastSlice = this.#lastSlice[way];
        for (let at = node[i]; at >= 0 && lastSlice[at] !== slice; at = tree.parent(at)) {
          lastSlice[at] = slice;
          this.#bars[way]++;
        }
      }
    }
  }

  /** Length of a slice in microseconds. Call it after all tracks. */
  choose(): number {
    while (this.#finest < SLICES.length - 1 && this.#bars[this.#finest] > this.#maxBars) this.#finest++;
    return this.#sliceUs[this.#finest];
  }

  /** Sum of the lengths of all samples. */
  get totalUs(): number {
    return this.#totalUs;
  }

  /** See {@link leftHeavyRanks}. Call it after all tracks. */
  leftHeavyRanks(): Float64Array {
    return leftHeavyRanks(this.#tree, this.#weight);
  }
}

/** How many bars the flame chart of a track has if its samples stay in time order. */
export function countBars(tree: CallTree, { startUs, endUs, node }: TrackSamples): number {
  let bars = 0;
  for (let i = 0; i < node.length; i++) {
    // hot
    const isJoined = i > 0 && startUs[i] === endUs[i - 1];
    bars += isJoined ? newFrames(tree, node[i - 1], node[i]) : tree.depth(node[i]);
  }
  return bars;
}

/** How many frames of a stack are not in the stack before it. */
function newFrames(tree: CallTree, before: number, node: number): number {
  let left = before;
  let right = node;
  let count = 0;
  // A parent's index is smaller than its children's, so the larger of two nodes is never an ancestor of the other.
  while (left !== right) {
    if (left > right) left = tree.parent(left);
    else {
      right = tree.parent(right);
      count++;
    }
  }
  return count;
}

/**
 * Sorts the samples of a track by stack within each slice of time. All of them keep their length, and are put at the beginning of their slice without gaps, so
 * that shares of time are the same for each slice and each function.
 * @param ranks by node
 */
export function sortWithinSlices({ startUs, endUs, node, clippedNs }: TrackSamples, ranks: Float64Array, sliceUs: number): TrackSamples {
  const count = node.length;
  const sorted = { startUs: new Float64Array(count), endUs: new Float64Array(count), node: new Uint32Array(count), clippedNs };
  let at = 0;
  let cursor = 0;
  while (at < count) {
    const slice = Math.floor((startUs[at] - 1) / sliceUs);
    let end = at + 1;
    while (end < count && Math.floor((startUs[end] - 1) / sliceUs) === slice) end++;
    const keys = new Float64Array(end - at);
    for (let i = at; i < end; i++) keys[i - at] = ranks[node[i]];
    cursor = Math.max(cursor, startUs[at]);
    for (const [nth, place] of ascendingOrder(keys).entries()) {
      const from = at + place;
      sorted.node[at + nth] = node[from];
      sorted.startUs[at + nth] = cursor;
      cursor += endUs[from] - startUs[from];
      sorted.endUs[at + nth] = cursor;
    }
    at = end;
  }
  return sorted;
}
