import { grown } from '../../base/tables/growable.ts';
import type { CallTree } from '../call-tree.ts';
import type { TrackSamples } from './time-slices.ts';

/**
 * Turns the placed samples of a track into the bars of a flame chart. Samples that follow each other without a gap
 * share the bars of their common callers. Bars nest or are disjoint, and callers come before callees. One instance is
 * used for all tracks, one after another, to reuse its memory.
 */
export class StackSpans {
  /** By bar: node of the call tree. These arrays are replaced when they grow. */
  node = new Uint32Array(4096);
  startUs = new Float64Array(4096);
  endUs = new Float64Array(4096);
  readonly #tree: CallTree;
  readonly #open: number[] = [];
  #size = 0;

  constructor(tree: CallTree) {
    this.#tree = tree;
  }

  /** Number of bars of the current track. */
  get size(): number {
    return this.#size;
  }

  /** Replaces the bars with those of another track. */
  build({ startUs, endUs, node: nodes }: TrackSamples): void {
    // hot
    const open = this.#open;
    this.#size = 0;
    let depth = 0;
    let lastNode = -1;
    let lastEnd = -1;
    for (let i = 0; i < startUs.length; i++) {
      const node = nodes[i];
      const common = startUs[i] === lastEnd ? this.#commonDepth(lastNode, node) : 0;
      while (depth > common) this.endUs[open[--depth]] = lastEnd;
      const wanted = this.#tree.depth(node);
      this.#reserve(this.#size + wanted - common);
      let caller = node;
      for (let level = wanted - 1; level >= common; level--) {
        const bar = this.#size + level - common;
        this.node[bar] = caller;
        this.startUs[bar] = startUs[i];
        open[level] = bar;
        caller = this.#tree.parent(caller);
      }
      this.#size += wanted - common;
      depth = wanted;
      lastNode = node;
      lastEnd = endUs[i];
    }
    while (depth > 0) this.endUs[open[--depth]] = lastEnd;
  }

  #commonDepth(a: number, b: number): number {
    const tree = this.#tree;
    let left = a;
    let right = b;
    while (left !== right) {
      if (left < 0 || right < 0) return 0;
      // A parent's index is smaller than its children's, so the larger of two nodes is never an ancestor of the other.
      if (left > right) left = tree.parent(left);
      else right = tree.parent(right);
    }
    return left < 0 ? 0 : tree.depth(left);
  }

  #reserve(length: number): void {
    this.node = grown(this.node, length);
    this.startUs = grown(this.startUs, length);
    this.endUs = grown(this.endUs, length);
  }
}
