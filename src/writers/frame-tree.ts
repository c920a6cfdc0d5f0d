import { grown } from '../base/tables/growable.ts';
import { TupleInterner } from '../base/tables/tuple-interner.ts';
import { addressText, frameName, mappingText } from '../profile/names.ts';
import type { Profile } from '../profile/profile.ts';
import { CallTree, type Frame } from './call-tree.ts';
import { noteDefinitionLine } from './definition-line.ts';
import { isKernelCode } from './kernel-code.ts';

/** The only frame of a sample without a stack, so that its weight does not appear as idle time. */
export const NO_STACK_NAME = '(no stack)';

/**
 * The call tree by function: inlined functions have frames of their own, and all addresses of a function share a frame. Frames are unique by name and file (the
 * DSO if the source file is unknown). Nodes are unique by (parent, frame), and a parent's index is smaller than its children's. The nodes of a stack are built
 * when it is asked for.
 */
export class FrameTree extends CallTree {
  readonly #profile: Profile;
  readonly #maxDepth: number;
  readonly #nodeOfStack: Int32Array;
  readonly #cutStacks = new Set<number>();
  readonly #framesOfFunction = new TupleInterner(3, 1024);
  readonly #frameOfRow: number[] = [];
  /** Unresolved locations: rows (low word of the address, high word, first mapping of the name), and their frames. */
  readonly #unresolvedRows = new TupleInterner(3, 1024);
  readonly #frameOfUnresolved: number[] = [];
  /**
   * By location: index of its first frame in `#locationFrames`; −1 until asked for. A typed array, because V8 turns a plain array that is not filled from its
   * beginning into a slow dictionary.
   */
  readonly #firstFrame: Int32Array;
  /** The frames of locations, outermost caller first. */
  #locationFrames = new Uint32Array(1024);
  #locationFrameCount = 0;
  /** By mapping: the first mapping of the same name. */
  readonly #sameName: readonly number[];
  readonly #pending: number[] = [];
  #noStackNode = -1;

  /** @param maxDepth deeper stacks are cut: the outermost `maxDepth - 1` frames and the leaf are kept */
  constructor(profile: Profile, maxDepth = Number.POSITIVE_INFINITY) {
    super();
    this.#profile = profile;
    this.#maxDepth = maxDepth;
    this.#nodeOfStack = new Int32Array(profile.stacks.size).fill(-1);
    this.#firstFrame = new Int32Array(profile.locations.size).fill(-1);
    const firstOfName = new Map<string, number>();
    this.#sameName = profile.mappings.map((mapping, index) => {
      const first = firstOfName.get(mapping.name) ?? index;
      firstOfName.set(mapping.name, first);
      return first;
    });
  }

  /** Whether a stack was cut to `maxDepth`. Valid after {@link nodeOf} was called for the stack. */
  isCut(stack: number): boolean {
    return this.#cutStacks.has(stack);
  }

  /** The node of a stack. Stack −1 has one too, with the single frame `(no stack)`. */
  nodeOf(stack: number): number {
    const known = stack < 0 ? this.#noStackNode : this.#nodeOfStack[stack];
    if (known >= 0) return known;
    if (stack >= 0) return this.#build(stack);
    const frame = this.frames.push({ name: NO_STACK_NAME, file: '', line: 0, isKernel: false }) - 1;
    this.#noStackNode = this.add(-1, frame);
    return this.#noStackNode;
  }

  #build(stack: number): number {
    const { locations, stacks } = this.#profile;
    const pending = this.#pending;
    let count = 0;
    let caller = stack;
    while (caller >= 0 && this.#nodeOfStack[caller] < 0) {
      pending[count++] = caller;
      caller = stacks.parent(caller);
    }
    let node = caller < 0 ? -1 : this.#nodeOfStack[caller];
    while (count > 0) {
      const callee = pending[--count];
      const location = stacks.location(callee);
      const first = this.#framesAt(location);
      const end = first + Math.max(1, locations.lineCount(location));
      for (let at = first; at < end; at++) {
        if (node >= 0 && this.depth(node) >= this.#maxDepth) {
          node = this.parent(node);
          this.#cutStacks.add(callee);
        }
        node = this.add(node, this.#locationFrames[at]);
      }
      this.#nodeOfStack[callee] = node;
    }
    return node;
  }

  /** Where a location's frames begin in `#locationFrames`: one for each of its lines, at least one. */
  #framesAt(location: number): number {
    // hot
    const known = this.#firstFrame[location];
    if (known >= 0) return known;
    const count = this.#profile.locations.lineCount(location);
    const first = this.#locationFrameCount;
    this.#locationFrameCount += Math.max(1, count);
    this.#locationFrames = grown(this.#locationFrames, this.#locationFrameCount);
    if (count === 0) this.#locationFrames[first] = this.#frameOfAddress(location);
    for (let nth = count - 1, at = first; nth >= 0; nth--) this.#locationFrames[at++] = this.#frameOfLine(location, nth);
    this.#firstFrame[location] = first;
    return first;
  }

  #frameOfLine(location: number, nth: number): number {
    const { functions, locations, mappings, strings } = this.#profile;
    const fn = locations.lineFunction(location, nth);
    const source = functions.file(fn);
    const mapping = locations.mapping(location);
    const hasSource = source !== 0;
    const row = this.#framesOfFunction.intern(functions.name(fn), source, hasSource || mapping < 0 ? -1 : this.#sameName[mapping]);
    if (row === this.#frameOfRow.length) {
      const file = hasSource ? strings.get(source) : mapping < 0 ? '' : mappings[mapping].name;
      this.#frameOfRow.push(this.frames.length);
      this.frames.push({ name: frameName(this.#profile, location, nth), file, line: 0, isKernel: isKernelCode(this.#profile, location) });
    }
    const index = this.#frameOfRow[row];
    noteDefinitionLine(this.frames[index], this.#profile, location, nth);
    return index;
  }

  #frameOfAddress(location: number): number {
    const { locations } = this.#profile;
    const mapping = locations.mapping(location);
    const row = this.#unresolvedRows.intern(locations.addressLo(location), locations.addressHi(location), mapping < 0 ? -1 : this.#sameName[mapping]);
    if (row === this.#frameOfUnresolved.length) this.#frameOfUnresolved.push(this.frames.push(new UnresolvedFrame(this.#profile, location)) - 1);
    return this.#frameOfUnresolved[row];
  }
}

/**
 * An address without a known function. A file may have a hundred thousand of them, and a path of 4 KB. The part of the name after the address is the same for
 * all addresses of a mapping, so that writers can encode it once.
 */
export class UnresolvedFrame implements Frame {
  readonly #profile: Profile;
  readonly #location: number;
  line = 0;

  constructor(profile: Profile, location: number) {
    this.#profile = profile;
    this.#location = location;
  }

  get name(): string {
    return this.address + this.addressSuffix;
  }

  /** The first part of the name, in ASCII: `0x4f2c1`. */
  get address(): string {
    return addressText(this.#profile, this.#location);
  }

  /** The rest of the name, which depends only on the {@link mapping}: ` (libfoo.so)`; empty outside all mappings. */
  get addressSuffix(): string {
    return mappingText(this.#profile, this.mapping);
  }

  /** Index into the profile's mappings; −1 outside all mappings. */
  get mapping(): number {
    return this.#profile.locations.mapping(this.#location);
  }

  get file(): string {
    const { mapping } = this;
    return mapping < 0 ? '' : this.#profile.mappings[mapping].name;
  }

  get isKernel(): boolean {
    return isKernelCode(this.#profile, this.#location);
  }
}
