import { highWord } from '../../base/bytes/addresses.ts';
import { grown } from '../../base/tables/growable.ts';
import { PERF_RECORD_MISC_USER } from '../../perfdata/abi/constants.ts';
import type { StackTable } from '../../profile/stack-table.ts';
import { NO_LABEL, type UnwoundStack } from '../../unwind/frames/unwound-stack.ts';
import type { Unwinder } from '../../unwind/unwinder.ts';
import type { AddressSpace } from '../processes/address-space.ts';
import type { LastStack } from './last-stacks.ts';
import type { LocationLookup } from './location-lookup.ts';
import type { StandIns } from './stand-ins.ts';

/** Turns unwound frames into stacks of locations. What a stack shares with its thread's last one is not looked up again. */
export class UnwoundFrames {
  readonly #lookup: LocationLookup;
  readonly #stacks: StackTable;
  readonly #standIns: StandIns;
  readonly #compatPerf: boolean;
  /** Locations of the frames that the last stack does not have, leaf first. */
  #locations = new Int32Array(256);

  /** @param compatPerf whether callers are looked up at their return addresses themselves, as perf 6.1 does */
  constructor(lookup: LocationLookup, stacks: StackTable, standIns: StandIns, compatPerf: boolean) {
    this.#lookup = lookup;
    this.#stacks = stacks;
    this.#standIns = standIns;
    this.#compatPerf = compatPerf;
  }

  /**
   * The stack of the frames that were unwound. Labels the unwinder's frames with their locations.
   * @param unwinder has the frames
   * @param isCut whether the stack goes on beyond the last frame: then its root says so, if it has all frames
   * @param maxFrames how many frames the stack may have; Infinity for all, 0 or less for none
   * @param last the thread's last stack; receives this one's stacks
   * @returns −1 if it has no frames
   */
  stackOf(unwinder: Unwinder, isCut: boolean, maxFrames: number, space: AddressSpace, last: LastStack): number {
    // hot
    const unwound = unwinder.stack;
    const { count: all } = unwound;
    const count = Math.max(0, Math.min(all, maxFrames));
    const hasRoot = isCut && all < maxFrames;
    last.stacks = grown(last.stacks, Math.max(count, last.stackCount));
    this.#locations = grown(this.#locations, count);
    const { stacks } = last;
    const locations = this.#locations;
    const own = count === all && hasRoot === last.isCut ? ownFramesOf(unwound, last) : count;
    const moved = count - last.stackCount;
    if (moved !== 0) stacks.copyWithin(own, own - moved, last.stackCount);
    for (let at = 0; at < own; at++) locations[at] = this.#locate(unwinder, unwound, at, space);
    let stack = own < count ? stacks[own] : hasRoot ? this.#stacks.intern(-1, this.#standIns.truncated()) : -1;
    for (let at = own - 1; at >= 0; at--) {
      stack = this.#stacks.intern(stack, locations[at]);
      stacks[at] = stack;
    }
    // The next stack cannot make use of one that is not whole.
    last.stackCount = count === all ? count : 0;
    last.isCut = hasRoot;
    return stack;
  }

  /** The location of a frame, which becomes its label if it depends on nothing but the frame's code. */
  #locate(unwinder: Unwinder, { addresses, isCall, labels, count, hasEnd, endLo, endHi }: UnwoundStack, at: number, space: AddressSpace): number {
    // hot
    if (hasEnd && at === count - 1) {
      // Only chains like perf's have such a frame. Like all their callers, it is looked up one byte before.
      return this.#lookup.find((endLo - 1) >>> 0, endLo === 0 ? (endHi - 1) >>> 0 : endHi, PERF_RECORD_MISC_USER, false, space);
    }
    if (labels[at] > NO_LABEL) return labels[at] - 1;
    const compatPerf = this.#compatPerf;
    const address = compatPerf && isCall[at] !== 0 ? addresses[at] - 1 : addresses[at];
    const location = this.#lookup.find(address >>> 0, highWord(address), PERF_RECORD_MISC_USER, isCall[at] !== 0 && !compatPerf, space);
    // What is the start of JIT code depends on the process, and where perf takes files to begin depends on more than the file.
    if (labels[at] === NO_LABEL && !compatPerf && space.fallback === undefined && !space.startsCode(addresses[at])) {
      labels[at] = location + 1;
      unwinder.label(at, location + 1);
    }
    return location;
  }
}

/** How many frames, from the leaf on, a stack does not have in common with the last one. */
function ownFramesOf(unwound: UnwoundStack, last: LastStack): number {
  // hot
  const { addresses, isCall, count } = unwound;
  if (unwound.hasEnd || last.unwound.hasEnd) return count;
  const { addresses: lastAddresses, isCall: lastIsCall } = last.unwound;
  // How much deeper this stack is.
  const moved = count - last.stackCount;
  let own = count;
  while (own > 0 && own > moved && addresses[own - 1] === lastAddresses[own - 1 - moved] && isCall[own - 1] === lastIsCall[own - 1 - moved]) own--;
  return own;
}
