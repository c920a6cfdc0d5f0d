import { grown } from '../base/tables/growable.ts';
import { TreeInterner } from '../base/tables/tree-interner.ts';

/** A frame as viewers define it: a function of a file, whatever the address. */
export interface Frame {
  /** Name of the function; `0x4f2c1 (libfoo.so)` if it is unknown. */
  readonly name: string;
  /** Source file; the DSO as perf prints it if that is unknown; empty outside all mappings. */
  readonly file: string;
  /** 1-based line of the definition; if that is unknown, the lowest line that occurs; 0 if no line is known. */
  line: number;
  readonly isKernel: boolean;
}

/** A call tree: nodes are unique by (parent, frame), and a parent's index is smaller than its children's. */
export class CallTree {
  /** All frames so far, by index. */
  readonly frames: Frame[];
  readonly #nodes = new TreeInterner();
  #depths = new Uint32Array(4096);

  /** @param frames the frames that exist already */
  constructor(frames: Frame[] = []) {
    this.frames = frames;
  }

  /** Number of nodes so far. */
  get size(): number {
    return this.#nodes.size;
  }

  /** The caller's node; −1 for the outermost frame. */
  parent(node: number): number {
    return this.#nodes.parents[node];
  }

  /** Index into {@link frames}. */
  frame(node: number): number {
    return this.#nodes.labels[node];
  }

  /** Number of frames on the path to the node, including its own: at least 1. */
  depth(node: number): number {
    return this.#depths[node];
  }

  /** The node of a frame that `parent` calls; −1 for a frame that nothing calls. */
  protected add(parent: number, frame: number): number {
    const before = this.#nodes.size;
    const node = this.#nodes.intern(parent, frame);
    if (node === before) {
      this.#depths = grown(this.#depths, node + 1);
      this.#depths[node] = parent < 0 ? 1 : this.#depths[parent] + 1;
    }
    return node;
  }
}
