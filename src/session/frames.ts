import type { Diagnostics } from '../diagnostics.ts';
import { grown } from '../intern/growable.ts';
import { TupleInterner } from '../intern/tuple-interner.ts';
import type { AddressSpace } from './address-space.ts';
import { type CallchainTable, cpumodeOfMarker, isMarker } from './callchains.ts';

/** Where resolved frames go: the profile's tables, seen from here. */
export interface FrameSink {
  /** See LocationTable.intern. */
  internLocation(dso: number, addressLo: number, addressHi: number, cpumode: number, isReturnAddress: boolean): number;
  /** See StackTable.intern. */
  internStack(parent: number, location: number): number;
}

const CPUMODE_KERNEL = 1;
const CPUMODE_USER = 2;

export interface FrameOptions {
  /** Frames per stack at most, counted from the leaf; Infinity for all. */
  readonly maxStack: number;
  /** Look callers up at the return address itself, as perf 6.1 does, not at the call before it. */
  readonly compatPerf: boolean;
}

/**
 * Turns recorded callchains into stacks of locations. A chain is worked on once per state of the address space it is
 * seen in; after that it is one table look-up.
 */
export class FrameResolver {
  readonly #chains: CallchainTable;
  readonly #kernel: AddressSpace;
  readonly #sink: FrameSink;
  readonly #options: FrameOptions;
  readonly #diagnostics: Diagnostics;
  #resolved = new TupleInterner(2, 4096);
  #stacks = new Int32Array(4096);
  #kernelGeneration: number;
  #locations = new Int32Array(256);

  constructor(chains: CallchainTable, kernel: AddressSpace, sink: FrameSink, options: FrameOptions, diagnostics: Diagnostics) {
    this.#chains = chains;
    this.#kernel = kernel;
    this.#kernelGeneration = kernel.generation;
    this.#sink = sink;
    this.#options = options;
    this.#diagnostics = diagnostics;
  }

  /** The stack of a chain seen in a process; −1 for a chain without frames. */
  stackOf(chain: number, space: AddressSpace): number {
    // hot
    if (this.#kernel.generation !== this.#kernelGeneration) {
      this.#kernelGeneration = this.#kernel.generation;
      this.#resolved = new TupleInterner(2, 4096);
    }
    const known = this.#resolved.size;
    const row = this.#resolved.intern(chain, this.#chains.hasUserFrames(chain) ? space.generation : 0);
    if (row < known) return this.#stacks[row];
    const stack = this.#resolve(chain, space);
    this.#stacks = grown(this.#stacks, row + 1);
    this.#stacks[row] = stack;
    return stack;
  }

  #resolve(chain: number, space: AddressSpace): number {
    const { words } = this.#chains;
    const end = this.#chains.endOf(chain);
    const { maxStack, compatPerf } = this.#options;
    let cpumode = 0;
    let depth = 0;
    // An address that no call has pushed: the sampled one, and the one where user code entered the kernel.
    let isReturnAddress = false;
    for (let i = this.#chains.startOf(chain); i < end && depth < maxStack; i += 2) {
      const lo = words[i];
      const hi = words[i + 1];
      if (isMarker(lo, hi)) {
        cpumode = cpumodeOfMarker(lo);
        if (cpumode < 0) {
          this.#diagnostics.add('bad-callchain', 'loss', `a callchain holds the unknown context marker ${lo | 0}: its frames are dropped, as perf does`);
          return -1;
        }
        isReturnAddress = false;
        continue;
      }
      if (depth === this.#locations.length) this.#locations = grown(this.#locations, depth + 1);
      this.#locations[depth++] = this.#locate(lo, hi, cpumode, isReturnAddress, space);
      isReturnAddress = !compatPerf;
    }
    let stack = -1;
    for (let i = depth - 1; i >= 0; i--) stack = this.#sink.internStack(stack, this.#locations[i]);
    return stack;
  }

  #locate(lo: number, hi: number, cpumode: number, isReturnAddress: boolean, space: AddressSpace): number {
    const address = (hi | 0) * 0x1_0000_0000 + lo;
    // A call may be the last instruction of its map: it is the call that must be in there.
    const looked = isReturnAddress ? address - 1 : address;
    if (cpumode === CPUMODE_USER || cpumode === 0) {
      const at = space.find(looked);
      if (at >= 0) {
        const own = address + space.deltaAt(at);
        return this.#sink.internLocation(space.dsoAt(at), own >>> 0, Math.floor(own / 0x1_0000_0000) >>> 0, CPUMODE_USER, isReturnAddress);
      }
    }
    if (cpumode === CPUMODE_KERNEL || cpumode === 0) {
      const at = this.#kernel.find(looked);
      if (at >= 0) return this.#sink.internLocation(this.#kernel.dsoAt(at), lo, hi, CPUMODE_KERNEL, isReturnAddress);
    }
    return this.#sink.internLocation(-1, lo, hi, cpumode, isReturnAddress);
  }
}
