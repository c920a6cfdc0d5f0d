import { PairInterner } from '../../base/pair-interner.ts';
import { TupleInterner } from '../../base/tuple-interner.ts';
import type { Profile } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { type Frame, FrameTree } from '../frame-tree.ts';

/** A call tree: what of a FrameTree is needed once it is complete. A parent's index is smaller than its children's. */
export interface CallTree {
  readonly frames: readonly Frame[];
  /** Number of nodes. */
  readonly size: number;
  /** The caller's node; −1 for the outermost frame. */
  parent(node: number): number;
  /** Index into {@link frames}. */
  frame(node: number): number;
  /** Number of frames on the path to the node, including its own: at least 1. */
  depth(node: number): number;
}

/** The call tree of all samples, and where in it each sample is. */
export interface CallNodes {
  readonly tree: CallTree;
  /** Node by row of the sample table. */
  readonly nodeOf: Uint32Array;
  /** Number of samples whose stacks are deeper than allowed: frames above the leaf were left out. */
  readonly cutSamples: number;
}

/**
 * Builds the call tree of all samples.
 * @param maxDepth deeper stacks are cut: the outermost `maxDepth - 1` frames and the leaf are kept
 * @param nameOf for tracks of several threads: what the outermost frame of a sample is called, by row of the table
 */
export function callNodes(profile: Profile, samples: SampleTable, maxDepth: number, nameOf?: (row: number) => string): CallNodes {
  const base = new FrameTree(profile, maxDepth);
  const nodeOf = new Uint32Array(samples.size);
  let cutSamples = 0;
  for (let row = 0; row < samples.size; row++) {
    nodeOf[row] = base.nodeOf(samples.stack[row]);
    if (base.isCut(samples.stack[row])) cutSamples++;
  }
  if (nameOf === undefined) return { tree: base, nodeOf, cutSamples };
  const tree = new NamedTree(base);
  for (let row = 0; row < samples.size; row++) nodeOf[row] = tree.nodeOf(nameOf(row), nodeOf[row]);
  return { tree, nodeOf, cutSamples };
}

/** A call tree in which each path begins with a frame of its own. */
class NamedTree implements CallTree {
  readonly frames: Frame[];
  readonly #base: FrameTree;
  readonly #rootOf = new Map<string, number>();
  /** (parent, frame) */
  readonly #nodes = new TupleInterner(2, 4096);
  /** (root, node of the base), and the node of each. */
  readonly #pairs = new PairInterner();
  readonly #nodeOfPair: number[] = [];
  readonly #path: number[] = [];

  /** @param base complete */
  constructor(base: FrameTree) {
    this.#base = base;
    this.frames = [...base.frames];
  }

  get size(): number {
    return this.#nodes.size;
  }

  parent(node: number): number {
    return this.#nodes.words[node * 2] | 0;
  }

  frame(node: number): number {
    return this.#nodes.words[node * 2 + 1];
  }

  depth(node: number): number {
    let depth = 0;
    for (let at = node; at >= 0; at = this.parent(at)) depth++;
    return depth;
  }

  nodeOf(name: string, baseNode: number): number {
    const root = this.#rootNode(name);
    const pair = this.#pairs.intern(root, baseNode);
    if (pair === this.#nodeOfPair.length) this.#nodeOfPair.push(this.#build(root, baseNode));
    return this.#nodeOfPair[pair];
  }

  #rootNode(name: string): number {
    let root = this.#rootOf.get(name);
    if (root === undefined) {
      root = this.#nodes.intern(-1, this.frames.push({ name, file: '', line: 0, isKernel: false }) - 1);
      this.#rootOf.set(name, root);
    }
    return root;
  }

  #build(root: number, baseNode: number): number {
    const path = this.#path;
    let length = 0;
    for (let at = baseNode; at >= 0; at = this.#base.parent(at)) path[length++] = this.#base.frame(at);
    let node = root;
    while (length > 0) node = this.#nodes.intern(node, path[--length]);
    return node;
  }
}
