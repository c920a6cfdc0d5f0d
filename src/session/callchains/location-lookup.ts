import { addressOf, highWord } from '../../base/bytes/addresses.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import {
  PERF_RECORD_MISC_CPUMODE_UNKNOWN,
  PERF_RECORD_MISC_GUEST_KERNEL,
  PERF_RECORD_MISC_GUEST_USER,
  PERF_RECORD_MISC_KERNEL,
  PERF_RECORD_MISC_USER,
} from '../../perfdata/abi/constants.ts';
import type { LocationTable } from '../../profile/location-table.ts';
import type { AddressSpace } from '../processes/address-space.ts';
import type { Kernels } from '../processes/kernels.ts';

/**
 * Number of slots of the cache from addresses to locations, powers of two: at first, and at most. With four words each the largest fits a second-level cache.
 * It begins small, because it is thrown away whenever the kernel's maps change.
 */
const FIRST_CACHE_SLOTS = 1 << 10;
const MAX_CACHE_SLOTS = 1 << 15;
/** Words of a slot: the address's low and high word, the address space and way of looking up, location + 1 (0 for a free slot). */
const CACHE_SLOT_WORDS = 4;

/** Finds the locations of addresses, by what is mapped there. */
export class LocationLookup {
  readonly #kernels: Kernels;
  readonly #locations: LocationTable;
  readonly #diagnostics: Diagnostics;
  #kernelGeneration: number;
  /** Recent look-ups, one per slot. */
  #cache = new Int32Array(FIRST_CACHE_SLOTS * CACHE_SLOT_WORDS);
  #cacheMask = FIRST_CACHE_SLOTS - 1;
  /** How many addresses were not in the cache since it got its size. */
  #cacheMisses = 0;

  constructor(kernels: Kernels, locations: LocationTable, diagnostics: Diagnostics) {
    this.#kernels = kernels;
    this.#kernelGeneration = kernels.generation;
    this.#locations = locations;
    this.#diagnostics = diagnostics;
  }

  /**
   * To be asked before an address that may be the kernel's is looked up.
   * @returns whether the kernel's maps have changed: locations of its addresses, and of those in an unknown mode, may be others now
   */
  followsKernels(): boolean {
    // hot
    if (this.#kernels.generation === this.#kernelGeneration) return false;
    this.#kernelGeneration = this.#kernels.generation;
    this.#renewCache(FIRST_CACHE_SLOTS);
    return true;
  }

  /**
   * The location of an address, from the cache if it was looked up recently.
   * @param lo, hi the words of the address
   * @param cpumode PERF_RECORD_MISC_*: the mode of the CPU in which it was found
   * @param isReturnAddress whether the code is right before the address
   * @param space what is mapped in the process
   */
  find(lo: number, hi: number, cpumode: number, isReturnAddress: boolean, space: AddressSpace): number {
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

  /**
   * The location of an address that was accessed: only its value tells whether it is the kernel's. It is not cached, since most such addresses occur once.
   * @param lo, hi, space see {@link find}
   */
  findData(lo: number, hi: number, space: AddressSpace): number {
    const address = addressOf(hi, lo);
    for (let maps: AddressSpace | undefined = space; maps !== undefined; maps = maps.fallback) {
      const at = maps.find(address);
      if (at < 0) continue;
      const own = address + maps.deltaAt(at);
      return this.#locations.internData(maps.dsoAt(at), own >>> 0, highWord(own), PERF_RECORD_MISC_USER);
    }
    const dso = this.#kernels.find(address);
    return this.#locations.internData(dso, lo, hi, dso < 0 ? PERF_RECORD_MISC_CPUMODE_UNKNOWN : PERF_RECORD_MISC_KERNEL);
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
      const location = this.#lookInProcess(address, looked, isReturnAddress, space);
      if (location >= 0) return location;
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

  /** The location of an address in what a process has mapped; −1 if nothing is mapped there. */
  #lookInProcess(address: number, looked: number, isReturnAddress: boolean, space: AddressSpace): number {
    for (let maps: AddressSpace | undefined = space; maps !== undefined; maps = maps.fallback) {
      // The start of JIT code is not a return address: it was put on the stack to be run next (by V8 where it deoptimizes a function, by Erlang as the end of
      // each process).
      const isStart = isReturnAddress && maps.startsCode(address);
      const at = maps.find(isStart ? address : looked);
      if (at < 0) continue;
      const own = address + maps.deltaAt(at);
      return this.#locations.intern(maps.dsoAt(at), own >>> 0, highWord(own), PERF_RECORD_MISC_USER, isReturnAddress && !isStart);
    }
    return -1;
  }
}
