import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { grown } from '../../base/tables/growable.ts';
import { ANY_VARIANT, KeyedPairs } from '../../base/tables/keyed-pairs.ts';
import { PERF_CONTEXT_USER_DEFERRED, PERF_RECORD_MISC_CPUMODE_UNKNOWN } from '../../perfdata/abi/constants.ts';
import type { ProfileBuilder } from '../../profile/builder.ts';
import type { StackTable } from '../../profile/stack-table.ts';
import type { Unwinder } from '../../unwind/unwinder.ts';
import type { AddressSpace } from '../processes/address-space.ts';
import type { Kernels } from '../processes/kernels.ts';
import { cpumodeOfMarker, isMarker } from './callchain-entries.ts';
import type { CallchainTable } from './callchains.ts';
import type { LastStack } from './last-stacks.ts';
import { LocationLookup } from './location-lookup.ts';
import { StandIns } from './stand-ins.ts';
import { UnwoundFrames } from './unwound-frames.ts';

/** Paths remembered, by their outermost location; a power of two. */
const PATH_SLOTS = 64;

export interface FrameOptions {
  /** Maximum number of frames per stack, counted from the leaf; Infinity for all. */
  readonly maxStack: number;
  /** Look callers up at the return address itself, as perf 6.1 does, not at the call before it. */
  readonly compatPerf: boolean;
}

/** How frames are looked up: what the user asks for, and what the recording's writer did. */
export interface FrameRules extends FrameOptions {
  /** Callers are looked up at the addresses that callchains have, see `Recorder.callersAreCalls`. */
  readonly callersAreCalls: boolean;
  /** An unwound stack that is cut off ends in address −1, which is what perf makes of a return address that it could not read. */
  readonly showsCutAsPerf: boolean;
  /** Chains begin with the sample's own address, which is kept where perf drops the rest. */
  readonly leafIsSampleIp: boolean;
}

/**
 * Turns recorded callchains into stacks of locations. A chain is worked on once per state of the address space it is
 * seen in; after that it is one table look-up.
 */
export class FrameResolver {
  readonly #chains: CallchainTable;
  readonly #lookup: LocationLookup;
  readonly #stacks: StackTable;
  readonly #standIns: StandIns;
  readonly #unwound: UnwoundFrames;
  readonly #options: FrameRules;
  readonly #diagnostics: Diagnostics;
  /** Stack + 1 by chain and generation. */
  #resolved = new KeyedPairs();
  /** Locations of the current chain, leaf first. */
  #chainLocations = new Int32Array(256);
  readonly #paths = Array.from({ length: PATH_SLOTS }, () => ({ locations: new Int32Array(16), stacks: new Int32Array(16), depth: 0 }));

  constructor(chains: CallchainTable, kernels: Kernels, profile: ProfileBuilder, options: FrameRules, diagnostics: Diagnostics) {
    this.#chains = chains;
    this.#lookup = new LocationLookup(kernels, profile.locations, diagnostics);
    this.#stacks = profile.stacks;
    this.#standIns = new StandIns(profile, options.showsCutAsPerf);
    this.#unwound = new UnwoundFrames(this.#lookup, profile.stacks, this.#standIns, options.compatPerf);
    this.#options = options;
    this.#diagnostics = diagnostics;
  }

  /** The stack of a chain seen in a process; −1 for a chain without frames. */
  stackOf(chain: number, space: AddressSpace): number {
    // hot
    this.#followKernels();
    const known = this.#resolved.find(chain, space.generation);
    if (known >= 0) return known - 1;
    const stack = this.#resolve(chain, space);
    this.#resolved.set(chain, this.#chains.hasUserFrames(chain) ? space.generation : ANY_VARIANT, stack + 1);
    return stack;
  }

  /** The location of an end of a branch: only the value of its address tells whether it is the kernel's. */
  placeOf(lo: number, hi: number, space: AddressSpace): number {
    // hot
    this.#followKernels();
    return this.#lookup.find(lo, hi, PERF_RECORD_MISC_CPUMODE_UNKNOWN, false, space);
  }

  /** The location of an address that was accessed, be it code or not. */
  dataPlaceOf(lo: number, hi: number, space: AddressSpace): number {
    return this.#lookup.findData(lo, hi, space);
  }

  /** Forgets what depends on the kernel's maps if these have changed. */
  #followKernels(): void {
    // hot
    if (this.#lookup.followsKernels()) this.#resolved = new KeyedPairs();
  }

  #resolve(chain: number, space: AddressSpace): number {
    const { compatPerf, callersAreCalls } = this.#options;
    return this.#internStack(this.#locateChain(chain, this.#chains.endOf(chain), !compatPerf && !callersAreCalls, space));
  }

  /**
   * Finds the locations of a chain's entries up to a place in its words.
   * @param callersHaveReturnAddresses whether a caller's code is right before its address
   * @returns how many there are
   */
  #locateChain(chain: number, end: number, callersHaveReturnAddresses: boolean, space: AddressSpace): number {
    const { words } = this.#chains;
    const { maxStack } = this.#options;
    let cpumode = 0;
    let depth = 0;
    // False for an address that no call has pushed: the sampled one, and the one where user code entered the kernel.
    let isReturnAddress = false;
    for (let i = this.#chains.startOf(chain); i < end && depth < maxStack; i += 2) {
      const lo = words[i];
      const hi = words[i + 1];
      if (isMarker(lo, hi)) {
        cpumode = cpumodeOfMarker(lo);
        if (cpumode < 0) return this.#framesBefore(lo, depth);
        isReturnAddress = false;
        if ((lo | 0) === PERF_CONTEXT_USER_DEFERRED) {
          // What follows is not an address but the cookie of the record that has the user's part.
          i += 2;
          this.#reportDeferred();
        }
        continue;
      }
      if (depth === this.#chainLocations.length) this.#chainLocations = grown(this.#chainLocations, depth + 1);
      this.#chainLocations[depth++] = this.#lookup.find(lo, hi, cpumode, isReturnAddress, space);
      isReturnAddress = callersHaveReturnAddresses;
    }
    return depth;
  }

  /**
   * The stack of the frames that were unwound, with those of the kernel in front. Labels the unwinder's frames with their locations.
   * @param unwinder has the frames
   * @param isCut whether the stack goes on beyond the last frame: then its root says so
   * @param chain the recorded chain, which has the frames of the kernel; −1 for none
   * @param last the thread's last stack: callers that both have are not looked up again. Receives this one's stacks
   * @returns −1 if no frames were asked for
   */
  unwoundStackOf(unwinder: Unwinder, isCut: boolean, chain: number, space: AddressSpace, last: LastStack): number {
    // hot
    const { maxStack, compatPerf } = this.#options;
    // perf 6.1 counts the kernel's frames and those that it unwinds separately (observed).
    const isShared = !compatPerf && maxStack !== Number.POSITIVE_INFINITY && chain >= 0;
    const room = isShared ? maxStack - this.#chains.kernelDepth(chain) : maxStack;
    const stack = this.#unwound.stackOf(unwinder, isCut, room, space, last);
    return chain < 0 ? stack : this.#withKernelFrames(stack, chain, space);
  }

  /** Puts the frames that a chain has before its user part in front of a stack. */
  #withKernelFrames(userStack: number, chain: number, space: AddressSpace): number {
    // hot
    const end = this.#chains.userPartOf(chain);
    if (end === this.#chains.startOf(chain)) return userStack;
    this.#followKernels();
    const depth = this.#locateChain(chain, end, !this.#options.compatPerf, space);
    let stack = userStack;
    for (let at = depth - 1; at >= 0; at--) stack = this.#stacks.intern(stack, this.#chainLocations[at]);
    return stack;
  }

  /** The stack of a thread that left its CPU at a place that is not known. */
  offCpuStack(): number {
    return this.#standIns.offCpuStack();
  }

  /** How many of the `depth` frames before an unknown context marker are kept. */
  #framesBefore(marker: number, depth: number): number {
    const { compatPerf, leafIsSampleIp } = this.#options;
    if (!compatPerf) {
      // A wrong frame pointer can lead to any value; what was found before it is right.
      this.#diagnostics.add('bad-callchain', 'info', `a callchain leads to ${marker | 0}, which is not an address: its frames from there on are dropped`);
      return depth;
    }
    const dropped = leafIsSampleIp ? 'all callers' : 'all of its frames';
    this.#diagnostics.add('bad-callchain', 'loss', `a callchain holds the unknown context marker ${marker | 0}: ${dropped} are dropped, as perf does`);
    return leafIsSampleIp ? Math.min(depth, 1) : 0;
  }

  #reportDeferred(): void {
    this.#diagnostics.add('callchain-deferred', 'loss', 'a callchain continues in a separate record that its event did not ask for: its user part is left out');
  }

  /**
   * The stack of the first `depth` locations. Chains often begin like the last one that had the same outermost frame, usually one of the same thread: what they
   * share is not looked up again.
   */
  #internStack(depth: number): number {
    // hot
    if (depth === 0) return -1;
    const leafFirst = this.#chainLocations;
    const path = this.#paths[leafFirst[depth - 1] & (PATH_SLOTS - 1)];
    path.locations = grown(path.locations, depth);
    path.stacks = grown(path.stacks, depth);
    const { locations, stacks } = path;
    const shared = Math.min(depth, path.depth);
    let at = 0;
    while (at < shared && locations[at] === leafFirst[depth - 1 - at]) at++;
    let stack = at === 0 ? -1 : stacks[at - 1];
    for (; at < depth; at++) {
      const location = leafFirst[depth - 1 - at];
      stack = this.#stacks.intern(stack, location);
      locations[at] = location;
      stacks[at] = stack;
    }
    path.depth = depth;
    return stack;
  }
}
