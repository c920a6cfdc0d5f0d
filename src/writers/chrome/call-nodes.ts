import { PairInterner } from '../../base/tables/pair-interner.ts';
import type { Profile } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { CallTree } from '../call-tree.ts';
import { FrameTree } from '../frame-tree.ts';

/** A call tree of samples, and where in it each sample is. */
export interface CallNodes {
  readonly tree: CallTree;
  /** Node by row of the sample table; meaningless for a sample that is not in the tree. */
  readonly nodeOf: Uint32Array;
  /** Number of samples whose stacks are deeper than allowed: frames above the leaf were left out. */
  readonly cutSamples: number;
}

export interface CallNodesOptions {
  /** Deeper stacks are cut: the outermost `maxDepth - 1` frames and the leaf are kept. */
  readonly maxDepth: number;
  /** Index of the event whose samples are in the tree. Default: the samples of all events. */
  readonly event?: number;
  /** By row of the sample table, the name of an extra outermost frame; undefined for a sample without one. Default: no sample has one. */
  readonly nameOf?: ((row: number) => string | undefined) | undefined;
}

/** Builds the call tree of samples. */
export function callNodes(profile: Profile, samples: SampleTable, { maxDepth, event = -1, nameOf }: CallNodesOptions): CallNodes {
  const base = new FrameTree(profile, maxDepth);
  const nodeOf = new Uint32Array(samples.size);
  let cutSamples = 0;
  for (let row = 0; row < samples.size; row++) {
    if (event >= 0 && samples.event[row] !== event) continue;
    nodeOf[row] = base.nodeOf(samples.stack[row]);
    if (base.isCut(samples.stack[row])) cutSamples++;
  }
  if (nameOf === undefined) return { tree: base, nodeOf, cutSamples };
  const tree = new NamedTree(base);
  for (let row = 0; row < samples.size; row++) {
    if (event < 0 || samples.event[row] === event) nodeOf[row] = tree.nodeOf(nameOf(row), nodeOf[row]);
  }
  return { tree, nodeOf, cutSamples };
}

/** A call tree in which paths may begin with an extra frame. */
class NamedTree extends CallTree {
  readonly #base: CallTree;
  readonly #rootOf = new Map<string, number>();
  /** Pairs (root, node of the base), and the node of each pair. */
  readonly #pairs = new PairInterner();
  readonly #nodeOfPair: number[] = [];
  readonly #path: number[] = [];

  /** @param base a complete tree */
  constructor(base: CallTree) {
    super([...base.frames]);
    this.#base = base;
  }

  nodeOf(name: string | undefined, baseNode: number): number {
    const root = name === undefined ? -1 : this.#rootNode(name);
    const pair = this.#pairs.intern(root + 1, baseNode);
    if (pair === this.#nodeOfPair.length) this.#nodeOfPair.push(this.#build(root, baseNode));
    return this.#nodeOfPair[pair];
  }

  #rootNode(name: string): number {
    let root = this.#rootOf.get(name);
    if (root === undefined) {
      root = this.add(-1, this.frames.push({ name, file: '', line: 0, isKernel: false }) - 1);
      this.#rootOf.set(name, root);
    }
    return root;
  }

  #build(root: number, baseNode: number): number {
    const path = this.#path;
    let length = 0;
    for (let at = baseNode; at >= 0; at = this.#base.parent(at)) path[length++] = this.#base.frame(at);
    let node = root;
    while (length > 0) node = this.add(node, path[--length]);
    return node;
  }
}
