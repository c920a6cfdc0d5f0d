import { addressOf, highWord } from '../../base/addresses.ts';
import type { Diagnostics } from '../../base/diagnostics.ts';
import { grown } from '../../base/growable.ts';
import { ANY_VARIANT, KeyedPairs } from '../../base/keyed-pairs.ts';
import {
  PERF_CONTEXT_USER_DEFERRED,
  PERF_RECORD_MISC_CPUMODE_UNKNOWN,
  PERF_RECORD_MISC_GUEST_KERNEL,
  PERF_RECORD_MISC_GUEST_USER,
  PERF_RECORD_MISC_KERNEL,
  PERF_RECORD_MISC_USER,
} from '../../perfdata/constants.ts';
import type { ProfileBuilder } from '../../profile/builder.ts';
import type { LocationTable } from '../../profile/location-table.ts';
import { OFF_CPU, TRUNCATED } from '../../profile/names.ts';
import type { StackTable } from '../../profile/stack-table.ts';
import type { Unwinder } from '../../unwind/unwinder.ts';
import { NO_LABEL } from '../../unwind/unwound-stack.ts';
import type { AddressSpace } from '../processes/address-space.ts';
import type { Kernels } from '../processes/kernels.ts';
import { cpumodeOfMarker, isMarker } from './callchain-entries.ts';
import type { CallchainTable } from './callchains.ts';
import type { LastStack } from './last-stacks.ts';

/**
 * Number of slots of the cache from addresses to locations, powers of two: at first, and at most. With four words each the largest fits a second-level cache.
 * It begins small, because it is thrown away whenever the kernel's maps change.
 */
const FIRST_CACHE_SLOTS = 1 << 10;
const MAX_CACHE_SLOTS = 1 << 15;
/** Words of a slot: the address's low and high word, the address space and way of looking up, location + 1 (0 for a free slot). */
const CACHE_SLOT_WORDS = 4;

/** Variants of the location at no address, by what they stand for: the rest of a stack, and the place where a thread left its CPU. */
const TRUNCATED_VARIANT = 1;
const OFF_CPU_VARIANT = 2;

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
  /**
   * Callers are in callchains by the addresses of their calls, not by return addresses, so there is nothing to step back. simpleperf converts them when it
   * records; and where an interpreter runs, they do not follow calls at all.
   */
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
  readonly #kernels: Kernels;
  readonly #profile: ProfileBuilder;
  readonly #locations: LocationTable;
  readonly #stacks: StackTable;
  readonly #options: FrameRules;
  readonly #diagnostics: Diagnostics;
  /** Stack + 1 by chain and generation. */
  #resolved = new KeyedPairs();
  #kernelGeneration: number;
  /** Locations of the current chain, leaf first. */
  #chainLocations = new Int32Array(256);
  readonly #paths = Array.from({ length: PATH_SLOTS }, () => ({ locations: new Int32Array(16), stacks: new Int32Array(16), depth: 0 }));
  /** Recent look-ups, one per slot. */
  #cache = new Int32Array(FIRST_CACHE_SLOTS * CACHE_SLOT_WORDS);
  #cacheMask = FIRST_CACHE_SLOTS - 1;
  /** How many addresses were not in the cache since it got its size. */
  #cacheMisses = 0;
  /** Location that stands for what a stack lacks; −1 while there is none. */
  #truncated = -1;
  /** Stack of threads that left their CPU at an unknown place; −1 while there is none. */
  #offCpuStack = -1;

  constructor(chains: CallchainTable, kernels: Kernels, profile: ProfileBuilder, options: FrameRules, diagnostics: Diagnostics) {
    this.#chains = chains;
    this.#kernels = kernels;
    this.#kernelGeneration = kernels.generation;
    this.#profile = profile;
    this.#locations = profile.locations;
    this.#stacks = profile.stacks;
    this.#options = options;
    this.#diagnostics = diagnostics;
  }

  /** The stack of a chain seen in a process; −1 for a chain without frames. */
  stackOf(chain: number, space: AddressSpace): number {
    // hot
    if (this.#kernels.generation !== this.#kernelGeneration) this.#forgetKernels();
    const known = this.#resolved.find(chain, space.generation);
    if (known >= 0) return known - 1;
    const stack = this.#resolve(chain, space);
    this.#resolved.set(chain, this.#chains.hasUserFrames(chain) ? space.generation : ANY_VARIANT, stack + 1);
    return stack;
  }

  /** The location of an end of a branch: only the value of its address tells whether it is the kernel's. */
  placeOf(lo: number, hi: number, space: AddressSpace): number {
    // hot
    if (this.#kernels.generation !== this.#kernelGeneration) this.#forgetKernels();
    return this.#locate(lo, hi, PERF_RECORD_MISC_CPUMODE_UNKNOWN, false, space);
  }

  #forgetKernels(): void {
    this.#kernelGeneration = this.#kernels.generation;
    this.#resolved = new KeyedPairs();
    this.#renewCache(FIRST_CACHE_SLOTS);
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
    const { maxStack, compatPerf, leafIsSampleIp } = this.#options;
    let cpumode = 0;
    let depth = 0;
    // False for an address that no call has pushed: the sampled one, and the one where user code entered the kernel.
    let isReturnAddress = false;
    for (let i = this.#chains.startOf(chain); i < end && depth < maxStack; i += 2) {
      const lo = words[i];
      const hi = words[i + 1];
      if (isMarker(lo, hi)) {
        cpumode = cpumodeOfMarker(lo);
        if (cpumode < 0) {
          // A wrong frame pointer can lead to any value; what was found before it is kept.
          if (compatPerf) {
            this.#reportDropped(lo);
            depth = leafIsSampleIp ? Math.min(depth, 1) : 0;
            break;
          }
          this.#diagnostics.add('bad-callchain', 'info', `a callchain leads to ${lo | 0}, which is not an address: its frames from there on are dropped`);
          break;
        }
        isReturnAddress = false;
        if ((lo | 0) === PERF_CONTEXT_USER_DEFERRED) {
          // What follows is not an address but the cookie of the record that has the user's part.
          i += 2;
          this.#diagnostics.add(
            'callchain-deferred',
            'loss',
            'a callchain continues in a separate record that its event did not ask for: its user part is left out',
          );
        }
        continue;
      }
      if (depth === this.#chainLocations.length) this.#chainLocations = grown(this.#chainLocations, depth + 1);
      this.#chainLocations[depth++] = this.#locate(lo, hi, cpumode, isReturnAddress, space);
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
    const stack = this.#userStackOf(unwinder, isCut, chain, space, last);
    return chain < 0 ? stack : this.#withKernelFrames(stack, chain, space);
  }

  /** Puts the frames that a chain has before its user part in front of a stack. */
  #withKernelFrames(userStack: number, chain: number, space: AddressSpace): number {
    // hot
    const end = this.#chains.userPartOf(chain);
    if (end === this.#chains.startOf(chain)) return userStack;
    if (this.#kernels.generation !== this.#kernelGeneration) this.#forgetKernels();
    const depth = this.#locateChain(chain, end, !this.#options.compatPerf, space);
    let stack = userStack;
    for (let at = depth - 1; at >= 0; at--) stack = this.#stacks.intern(stack, this.#chainLocations[at]);
    return stack;
  }

  /** The part of {@link unwoundStackOf} that was unwound; −1 if the kernel's frames are as many as were asked for. */
  #userStackOf(unwinder: Unwinder, isCut: boolean, chain: number, space: AddressSpace, last: LastStack): number {
    // hot
    const { addresses, isCall, labels, count: all, hasEnd, endLo, endHi } = unwinder.stack;
    const { maxStack, compatPerf } = this.#options;
    // perf 6.1 counts the kernel's frames and those that it unwinds separately (observed).
    const room = compatPerf || maxStack === Number.POSITIVE_INFINITY ? maxStack : maxStack - (chain < 0 ? 0 : this.#chains.kernelDepth(chain));
    const count = Math.max(0, Math.min(all, room));
    const hasRoot = isCut && all < room;
    last.stacks = grown(last.stacks, Math.max(count, last.stackCount));
    this.#chainLocations = grown(this.#chainLocations, count);
    const { stacks } = last;
    const locations = this.#chainLocations;
    // The callers that both have, from the outermost on.
    const moved = count - last.stackCount;
    let own = count;
    if (count === all && hasRoot === last.isCut && !hasEnd && !last.unwound.hasEnd) {
      const { addresses: lastAddresses, isCall: lastIsCall } = last.unwound;
      while (own > 0 && own > moved && addresses[own - 1] === lastAddresses[own - 1 - moved] && isCall[own - 1] === lastIsCall[own - 1 - moved]) own--;
    }
    if (moved !== 0) stacks.copyWithin(own, own - moved, last.stackCount);
    for (let at = 0; at < own; at++) {
      if (hasEnd && at === all - 1) {
        // Only chains like perf's have such a frame. Like all their callers, it is looked up one byte before.
        locations[at] = this.#locate((endLo - 1) >>> 0, endLo === 0 ? (endHi - 1) >>> 0 : endHi, PERF_RECORD_MISC_USER, false, space);
        continue;
      }
      if (labels[at] > NO_LABEL) {
        locations[at] = labels[at] - 1;
        continue;
      }
      const address = compatPerf && isCall[at] !== 0 ? addresses[at] - 1 : addresses[at];
      const location = this.#locate(address >>> 0, highWord(address), PERF_RECORD_MISC_USER, isCall[at] !== 0 && !compatPerf, space);
      locations[at] = location;
      // What is the start of JIT code depends on the process, and where perf takes files to begin depends on more than the file.
      if (labels[at] === NO_LABEL && !compatPerf && space.fallback === undefined && !space.startsCode(addresses[at])) {
        labels[at] = location + 1;
        unwinder.label(at, location + 1);
      }
    }
    let stack = own < count ? stacks[own] : hasRoot ? this.#stacks.intern(-1, this.#truncatedLocation()) : -1;
    for (let at = own - 1; at >= 0; at--) {
      stack = this.#stacks.intern(stack, locations[at]);
      stacks[at] = stack;
    }
    // The next stack cannot make use of one that is not whole.
    last.stackCount = count === all ? count : 0;
    last.isCut = hasRoot;
    return stack;
  }

  /** The root of stacks whose rest is not known. */
  #truncatedLocation(): number {
    if (this.#truncated < 0) {
      this.#truncated = this.#options.showsCutAsPerf
        ? this.#locations.intern(-1, 0xffffffff, 0xffffffff, PERF_RECORD_MISC_USER, false)
        : this.#standIn(TRUNCATED_VARIANT, TRUNCATED);
    }
    return this.#truncated;
  }

  /** The stack of a thread that left its CPU at a place that is not known. */
  offCpuStack(): number {
    if (this.#offCpuStack < 0) this.#offCpuStack = this.#stacks.intern(-1, this.#standIn(OFF_CPU_VARIANT, OFF_CPU));
    return this.#offCpuStack;
  }

  /** The location of what is at no address, with a function that says what it stands for. */
  #standIn(variant: number, name: string): number {
    const { functions, strings } = this.#profile;
    const location = this.#locations.intern(-1, 0, 0, PERF_RECORD_MISC_USER, false, variant);
    this.#locations.setStandIn(location, functions.intern(strings.intern(name)));
    return location;
  }

  #reportDropped(marker: number): void {
    const dropped = this.#options.leafIsSampleIp ? 'all callers' : 'all of its frames';
    this.#diagnostics.add('bad-callchain', 'loss', `a callchain holds the unknown context marker ${marker | 0}: ${dropped} are dropped, as perf does`);
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

  /** The location of an address, from the cache if it was looked up recently. */
  #locate(lo: number, hi: number, cpumode: number, isReturnAddress: boolean, space: AddressSpace): number {
    // hot
    const generation = cpumode === PERF_RECORD_MISC_KERNEL ? this.#kernelGeneration : space.generation;
    // Eight modes and two ways to look up make 16 numbers for each generation.
    const how = (generation * 16 + cpumode * 2 + (isReturnAddress ? 1 : 0)) | 0;
    const cache = this.#cache;
    const at = ((Math.imul(lo ^ how, 0x9e3779b1) >>> 17) & this.#cacheMask) * CACHE_SLOT_WORDS;
    if (cache[at] === (lo | 0) && cache[at + 1] === (hi | 0) && cache[at + 2] === how && cache[at + 3] > 0) return cache[at + 3] - 1;
    const location = this.#look(lo, hi, cpumode, isReturnAddress, space);
    cache[at] = lo;
    cache[at + 1] = hi;
    cache[at + 2] = how;
    cache[at + 3] = location + 1;
    if (++this.#cacheMisses > this.#cacheMask && this.#cacheMask < MAX_CACHE_SLOTS - 1) this.#renewCache((this.#cacheMask + 1) * 2);
    return location;
  }

  /** Gives the cache a size, and forgets what is in it. */
  #renewCache(slots: number): void {
    this.#cacheMisses = 0;
    if (this.#cacheMask === slots - 1) {
      this.#cache.fill(0);
      return;
    }
    this.#cache = new Int32Array(slots * CACHE_SLOT_WORDS);
    this.#cacheMask = slots - 1;
  }

  #look(lo: number, hi: number, cpumode: number, isReturnAddress: boolean, space: AddressSpace): number {
    const address = addressOf(hi, lo);
    // A call may be the last instruction of a map: it is the call that has to be in it.
    const looked = isReturnAddress ? address - 1 : address;
    if (cpumode === PERF_RECORD_MISC_USER || cpumode === PERF_RECORD_MISC_CPUMODE_UNKNOWN) {
      for (let maps: AddressSpace | undefined = space; maps !== undefined; maps = maps.fallback) {
        // The start of JIT code is not a return address: it was put on the stack to be run next (by V8 where it deoptimizes a function, by Erlang as the end of
        // each process).
        const isStart = isReturnAddress && maps.startsCode(address);
        const at = maps.find(isStart ? address : looked);
        if (at < 0) continue;
        const own = address + maps.deltaAt(at);
        return this.#locations.intern(maps.dsoAt(at), own >>> 0, highWord(own), PERF_RECORD_MISC_USER, isReturnAddress && !isStart);
      }
    }
    if (cpumode === PERF_RECORD_MISC_KERNEL || cpumode === PERF_RECORD_MISC_CPUMODE_UNKNOWN) {
      const dso = this.#kernels.find(looked);
      if (dso >= 0) return this.#locations.intern(dso, lo, hi, PERF_RECORD_MISC_KERNEL, isReturnAddress);
    }
    if (cpumode === PERF_RECORD_MISC_GUEST_KERNEL) {
      const dso = this.#kernels.findGuest(looked, space.guest);
      if (dso >= 0) return this.#locations.intern(dso, lo, hi, cpumode, isReturnAddress);
    } else if (cpumode === PERF_RECORD_MISC_GUEST_USER) {
      this.#diagnostics.add('guest-code', 'info', 'addresses in programs of a virtual machine have no names: the recording does not say what is mapped there');
    }
    return this.#locations.intern(-1, lo, hi, cpumode, isReturnAddress);
  }
}
