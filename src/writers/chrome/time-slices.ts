import { ascendingOrder } from '../../base/ascending-order.ts';
import { allocated } from '../../base/growable.ts';
import { leftHeavyRanks } from '../left-heavy.ts';
import type { CallTree } from './call-nodes.ts';
import type { PlacedSamples } from './stack-timeline.ts';

/** Samples of a track, where they are in the call tree and in time. */
export interface TrackSamples extends PlacedSamples {
  /** Node of the call tree, by position. */
  readonly node: Uint32Array;
}

/** Into how many slices a trace may be cut, the most first; the last one always does. */
const SLICES = [16_384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1];

/**
 * Finds out how finely a trace can be cut into slices of time so that a viewer can open it. DevTools makes an object of
 * each bar of the flame chart, and a bar ends wherever the stack changes. Within a slice, samples sorted by stack have
 * one bar for each node of the call tree.
 */
export class SliceChooser {
  readonly #tree: CallTree;
  readonly #maxBars: number;
  readonly #sliceUs: readonly number[];
  /** By way to cut, and last that for no cut at all: number of bars so far. */
  readonly #bars: Float64Array;
  /** By way to cut: by node, the last slice of any track that has it. */
  readonly #lastSlice: readonly Int32Array[];
  #totalUs = 0;
  /** By node: time of the samples there. */
  readonly #weight: Float64Array;

  /** @param endUs end of the trace, which begins at microsecond 1 */
  constructor(tree: CallTree, endUs: number, maxBars: number) {
    this.#tree = tree;
    this.#maxBars = maxBars;
    this.#sliceUs = SLICES.map((count) => Math.ceil(endUs / count));
    this.#bars = new Float64Array(SLICES.length + 1);
    this.#lastSlice = SLICES.map(() => allocated(Int32Array, tree.size).fill(-1));
    this.#weight = new Float64Array(tree.size);
  }

  /** Counts the bars of a track. @param place the same number for tracks that will be merged within each slice, from 0 on */
  add({ startUs, endUs, node }: TrackSamples, place: number): void {
    const tree = this.#tree;
    const whole = SLICES.length;
    let lastNode = -1;
    for (let i = 0; i < node.length; i++) {
      // hot
      this.#weight[node[i]] += endUs[i] - startUs[i];
      this.#totalUs += endUs[i] - startUs[i];
      const joined = i > 0 && startUs[i] === endUs[i - 1];
      this.#bars[whole] += joined ? newFrames(tree, lastNode, node[i]) : tree.depth(node[i]);
      lastNode = node[i];
      for (let way = 0; way < whole; way++) {
        const slice = place * (SLICES[way] + 1) + Math.floor((startUs[i] - 1) / this.#sliceUs[way]);
        const last = this.#lastSlice[way];
        for (let at = node[i]; at >= 0 && last[at] !== slice; at = tree.parent(at)) {
          last[at] = slice;
          this.#bars[way]++;
        }
      }
    }
  }

  /** Length of a slice in microseconds; undefined when the trace need not be cut. */
  choose(): number | undefined {
    if (this.#bars[SLICES.length] <= this.#maxBars) return undefined;
    const way = SLICES.findIndex((_, index) => index === SLICES.length - 1 || this.#bars[index] <= this.#maxBars);
    return this.#sliceUs[way];
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

/** How many frames of a stack the stack before it does not have. */
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
 * Sorts the samples of a track by stack within each slice of time. All of them keep their length, and stand at the
 * beginning of their slice without gaps, so that shares of time are the same for each slice and each function.
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
