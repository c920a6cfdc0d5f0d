import type { CallTree } from '../call-tree.ts';
import type { JsonWriter } from '../json-text.ts';
import { callFrames } from './call-frames.ts';
import type { FrameBytes } from './frame-bytes.ts';
import type { TrackSamples } from './time-slices.ts';

/**
 * - `perfetto`: `PerfSamples` events, which Perfetto reads as the samples of a CPU profile and DevTools ignores
 * - `devtools`: `Profile` events, from which DevTools makes its flame chart, with `(root)` and `(idle)` nodes
 */
export type SampledKind = 'perfetto' | 'devtools';

/** DevTools passes the samples of a chunk as arguments of a call, and 130,000 overflow its stack. */
const CHUNK_SAMPLES = 20_000;
const COMMA = 0x2c;
const CLOSE_BRACE = 0x7d;
const EVENTS = {
  perfetto: { name: 'PerfSamples', chunkName: 'PerfSamplesChunk', cat: 'perf' },
  devtools: { name: 'Profile', chunkName: 'ProfileChunk', cat: 'disabled-by-default-v8.cpu_profiler' },
} as const;

/**
 * Writes the samples of tracks as sampled profiles of V8 in a trace: a `P` event that opens the profile, then chunks
 * with samples, the times between them, and the nodes of the call tree that are used for the first time.
 */
export class SampledProfileWriter {
  readonly #out: JsonWriter;
  readonly #tree: CallTree;
  readonly #kind: SampledKind;
  readonly #callFrames: FrameBytes;
  /** By node of the tree: its id in the profile given by `#profileOfNode`, the last profile with the node. */
  readonly #idOfNode: Int32Array;
  readonly #profileOfNode: Int32Array;
  #profile = 0;
  /** Ids go on from profile to profile, since Firefox Profiler keeps one table for all of them. */
  #nextId = 1;
  /** Ids of `(root)` and `(idle)` in the current profile; 0 if it has none. */
  #rootId = 0;
  #idleId = 0;
  #wroteNode = false;
  readonly #pending: number[] = [];

  /** @param tree a complete tree, with the nodes of all samples */
  constructor(out: JsonWriter, tree: CallTree, kind: SampledKind) {
    this.#idOfNode = new Int32Array(tree.size);
    this.#profileOfNode = new Int32Array(tree.size);
    this.#out = out;
    this.#tree = tree;
    this.#kind = kind;
    this.#callFrames = callFrames(tree.frames, String);
  }

  /**
   * Writes a track. A comma and a line end come before each event.
   * @param pid,tid numbers of the track; the profile gets an id that is unique in the file
   * @param strideUs a sample with the same stack as the one before it, and sooner than this after it, only makes that one longer
   */
  async write(pid: number, tid: number, track: TrackSamples, strideUs = 0): Promise<void> {
    const out = this.#out;
    const { name, chunkName, cat } = EVENTS[this.#kind];
    const id = `0x${(++this.#profile).toString(16)}`;
    const common = `"cat":"${cat}","id":"${id}","pid":${pid},"tid":${tid}`;
    const { startUs, endUs } = track;
    const first = startUs[0];
    out.put(`,\n{"ph":"P","name":"${name}",${common},"ts":${first},"args":{"data":{"startTime":${first}}}}`);
    this.#rootId = 0;

    const chunk = new SampleChunk(first);
    for (let position = 0; position < startUs.length; ) {
      out.put(`,\n{"ph":"P","name":"${chunkName}",${common},"ts":${chunk.lastUs},"args":{"data":{"cpuProfile":{"nodes":[`);
      position = await this.#fillChunk(chunk, track, position, strideUs);
      out.put('],"samples":[');
      this.#numbers(chunk.ids);
      out.put(']},"timeDeltas":[');
      this.#numbers(chunk.deltasUs);
      out.put(position === startUs.length ? `],"endTime":${endUs[position - 1]}}}}` : ']}}}');
      if (out.isFull) await out.flush();
    }
  }

  /** Fills a chunk with samples of a track, and writes the nodes that they are the first to have. @returns the position after the last of them */
  async #fillChunk(chunk: SampleChunk, { startUs, endUs, node }: TrackSamples, from: number, strideUs: number): Promise<number> {
    const out = this.#out;
    const isDevTools = this.#kind === 'devtools';
    chunk.clear();
    this.#wroteNode = false;
    if (isDevTools && this.#rootId === 0) this.#writeRootNodes();
    let position = from;
    // hot
    while (position < startUs.length && chunk.ids.length < CHUNK_SAMPLES - 1) {
      const start = startUs[position];
      const continues = start - chunk.lastUs < strideUs && node[position] === node[position - 1] && start === endUs[position - 1];
      if (!continues) chunk.add(this.#nodeId(node[position]), start);
      const isIdleAfter = position + 1 === startUs.length || startUs[position + 1] > endUs[position];
      if (isDevTools && isIdleAfter) chunk.add(this.#idleId, endUs[position]);
      position++;
      if (out.isFull) await out.flush();
    }
    return position;
  }

  /** Id of a node in the current profile. A new node is written, after its callers. */
  #nodeId(node: number): number {
    const pending = this.#pending;
    let count = 0;
    let known = node;
    while (known >= 0 && this.#profileOfNode[known] !== this.#profile) {
      pending[count++] = known;
      known = this.#tree.parent(known);
    }
    let id = known >= 0 ? this.#idOfNode[known] : this.#rootId;
    while (count > 0) {
      const fresh = pending[--count];
      const parent = id;
      id = this.#nextId++;
      this.#idOfNode[fresh] = id;
      this.#profileOfNode[fresh] = this.#profile;
      this.#writeNode(id, parent, fresh);
    }
    return id;
  }

  #writeRootNodes(): void {
    this.#rootId = this.#nextId++;
    this.#idleId = this.#nextId++;
    this.#out.put(`{"id":${this.#rootId},${metaFrame('(root)')}},{"id":${this.#idleId},"parent":${this.#rootId},${metaFrame('(idle)')}}`);
    this.#wroteNode = true;
  }

  #writeNode(id: number, parent: number, node: number): void {
    const out = this.#out;
    out.put(this.#wroteNode ? ',{"id":' : '{"id":');
    this.#wroteNode = true;
    out.number(id);
    if (parent > 0) {
      out.put(',"parent":');
      out.number(parent);
    }
    this.#callFrames.write(out, this.#tree.frame(node));
    out.char(CLOSE_BRACE);
  }

  #numbers(values: readonly number[]): void {
    for (let i = 0; i < values.length; i++) {
      if (i > 0) this.#out.char(COMMA);
      this.#out.number(values[i]);
    }
  }
}

/** Samples in the order of their times. */
class SampleChunk {
  /** Ids of nodes. */
  readonly ids: number[] = [];
  /** For each sample, the time since the one before it, which may be in another chunk. */
  readonly deltasUs: number[] = [];
  /** The time of the last sample, or that from which the first one counts. */
  lastUs: number;

  constructor(startUs: number) {
    this.lastUs = startUs;
  }

  add(id: number, timeUs: number): void {
    this.ids.push(id);
    this.deltasUs.push(timeUs - this.lastUs);
    this.lastUs = timeUs;
  }

  /** Removes the samples, but not the time of the last one. */
  clear(): void {
    this.ids.length = 0;
    this.deltasUs.length = 0;
  }
}

function metaFrame(name: string): string {
  return `"callFrame":{"functionName":"${name}","scriptId":0,"url":""}`;
}
