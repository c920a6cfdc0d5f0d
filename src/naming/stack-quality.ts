import { isImpossibleCaller } from '../profile/impossible-callers.ts';
import { CPUMODE_UNKNOWN, CPUMODE_USER, type LocationTable } from '../profile/location-table.ts';
import { baseName } from '../profile/names.ts';
import type { Mapping, Profile } from '../profile/profile.ts';
import { isStartFunction } from './start-functions.ts';

/** How complete the user parts of stacks are that pass through a binary. Counts samples. */
export interface BinaryStacks {
  readonly mapping: Mapping;
  /** Those with the binary anywhere in the user part of their stack, up to where that breaks off. */
  samples: number;
  /** Those that break off in the binary. */
  broken: number;
  /** Those that reach the start of the program or thread through the binary, as the caller of another frame. */
  wholeThrough: number;
}

/** How well the stacks of a profile were recorded. */
export interface StackQuality {
  /** Samples whose stack has a user part. */
  readonly samples: number;
  /** Those of them whose user part breaks off, except in the dynamic loader, where each process has a few. */
  readonly broken: number;
  /** Binaries in which stacks break off, most samples first. */
  readonly binaries: readonly BinaryStacks[];
}

/** glibc, its older thread library, musl, Android's. */
const C_LIBRARY = /\/(?:libc|libpthread)(?:[.-][^/]*)?\.so[^/]*$|\/ld-musl-[^/]*$/;
/** Where distributions put shared libraries. */
const SYSTEM_DIRECTORY = /^\/(?:usr\/)?lib(?:32|64|x32)?\//;
const LOADER = /\/ld(?:-linux[^/]*|-[0-9.]+|64)?\.so[^/]*$/;

/** Whether a binary is the C library, which most distributions build without frame pointers. */
export function isCLibrary({ kind, name }: Mapping): boolean {
  return kind === 'file' && C_LIBRARY.test(name);
}

/** Whether a binary is a shared library that came with the system. */
export function isSystemLibrary(mapping: Mapping): boolean {
  return isCLibrary(mapping) || (mapping.kind === 'file' && SYSTEM_DIRECTORY.test(mapping.name) && /\.so(?:\.|$)/.test(baseName(mapping.name)));
}

/** From this many frames on, stacks do not keep ending at the same place by chance. */
const DEEP = 3;

/**
 * Finds the samples whose stacks break off. A callchain by frame pointers breaks off in code without them, where the register may hold anything. So the next
 * caller is not in code, or, most often, there is none, and the stack has one frame. The binary with the last good frame is blamed.
 *
 * A stack counts as whole if
 * - it reaches a function in which programs or threads start: any apparent caller of that is chance. If its name is not known, it is code of the C library that
 *   calls another binary, or the place where most deep stacks of a binary end, since broken stacks end anywhere;
 * - or it has two frames or more, all of them in code, and does not end in a function of the C library that starts nothing: there is no other sign that it is
 *   broken.
 *
 * @param isByFramePointers by event: whether its samples have nothing but callchains for the user stack
 */
export function stackQuality(profile: Profile, isByFramePointers: readonly boolean[]): StackQuality {
  if (!isByFramePointers.includes(true)) return { samples: 0, broken: 0, binaries: [] };
  const parts = userParts(profile);
  const binaries = profile.mappings.map((mapping): BinaryStacks => ({ mapping, samples: 0, broken: 0, wholeThrough: 0 }));
  // Each loop has its own function, since V8 compiles a function again for each of its loops.
  const { own, deepEnds, samples } = countEnds(profile, parts, isByFramePointers, binaries);
  countPassed(parts, own, binaries);
  forgiveCommonEnds(profile, deepEnds, binaries);
  const found = binaries.filter(({ broken, mapping }) => broken > 0 && !LOADER.test(mapping.name)).sort((a, b) => b.broken - a.broken);
  return { samples, broken: found.reduce((sum, { broken }) => sum + broken, 0), binaries: found };
}

interface StackEnds {
  readonly samples: number;
  /** Samples by innermost frame of their user part. */
  readonly own: Float64Array;
  /** By location: samples with deep stacks that break off after it. */
  readonly deepEnds: Float64Array;
}

/** Counts the samples that have a user part, and for each binary those that break off in it. */
function countEnds(
  { locations, stacks, totals }: Profile,
  parts: UserParts,
  isByFramePointers: readonly boolean[],
  binaries: readonly BinaryStacks[],
): StackEnds {
  const { innermost, outermost, mappings } = parts;
  const own = new Float64Array(stacks.size);
  const deepEnds = new Float64Array(locations.size);
  let samples = 0;
  for (let row = 0; row < totals.size; row++) {
    // hot
    const stack = totals.stack(row);
    const leaf = stack < 0 || !isByFramePointers[totals.event(row)] ? -1 : innermost[stack];
    if (leaf < 0) continue;
    const count = totals.samples(row);
    samples += count;
    own[leaf] += count;
    if (!parts.isBroken(leaf)) continue;
    binaries[mappings[outermost[leaf]]].broken += count;
    if (parts.isDeep(leaf)) deepEnds[stacks.location(outermost[leaf])] += count;
  }
  return { samples, own, deepEnds };
}

/** Counts for each binary the samples whose user part passes through it. @param own samples by innermost frame */
function countPassed(parts: UserParts, own: Float64Array, binaries: readonly BinaryStacks[]): void {
  const { callers, mappings } = parts;
  /** By frame: samples in what it has called. */
  const called = new Float64Array(own.length);
  // Callers have smaller indexes than what they call.
  for (let frame = own.length - 1; frame >= 0; frame--) {
    // hot
    const samples = called[frame] + own[frame];
    if (samples === 0) continue;
    const mapping = mappings[frame];
    let caller = callers[frame];
    if (caller >= 0) called[caller] += samples;
    // A stack counts once for each binary, at the outermost frame in that.
    while (caller >= 0 && mappings[caller] !== mapping) caller = callers[caller];
    if (caller >= 0) continue;
    binaries[mapping].samples += samples;
    if (parts.reachesStart(frame)) binaries[mapping].wholeThrough += called[frame];
  }
}

/** Takes a place where most deep stacks of a binary end for the start of programs or threads. */
function forgiveCommonEnds({ locations }: Profile, deepEnds: Float64Array, binaries: readonly BinaryStacks[]): void {
  for (let location = 0; location < deepEnds.length; location++) {
    const binary = deepEnds[location] > 0 ? binaries[locations.mapping(location)] : undefined;
    if (binary !== undefined && deepEnds[location] > binary.samples / 2) binary.broken -= deepEnds[location];
  }
}

/** What a frame means for the user part of a stack. */
const FRAME = {
  /** No frame: the callchain ends. */
  NONE: 0,
  /** An address that is not in code. */
  IN_NO_CODE: 1,
  /** The same, but one that no call leaves: stacks often begin with zeros, which were put there to mark their end. */
  IN_ZEROS: 2,
  /** A function in which programs or threads start. */
  START: 3,
  /** Any other user code. */
  USER: 4,
  /** Not user code, and so not in the user part. */
  OTHER: 5,
} as const;

/** By location, one of {@link FRAME}. */
function framesOf({ functions, locations, strings }: Profile): Uint8Array {
  const isStart = new Uint8Array(functions.size);
  for (let i = 0; i < isStart.length; i++) isStart[i] = isStartFunction(strings.get(functions.name(i))) ? 1 : 0;
  const frames = new Uint8Array(locations.size);
  for (let location = 0; location < frames.length; location++) {
    // hot
    const cpumode = locations.cpumode(location);
    const lines = locations.lineCount(location);
    let frame: number = FRAME.USER;
    if (cpumode !== CPUMODE_USER && cpumode !== CPUMODE_UNKNOWN) frame = FRAME.OTHER;
    else if (locations.mapping(location) < 0) frame = isEndOfZeros(locations, location) ? FRAME.IN_ZEROS : FRAME.IN_NO_CODE;
    else if (lines > 0 && isStart[locations.lineFunction(location, lines - 1)] === 1) frame = FRAME.START;
    frames[location] = frame;
  }
  return frames;
}

function isEndOfZeros(locations: LocationTable, location: number): boolean {
  return locations.addressHi(location) === 0 && isImpossibleCaller(locations, location);
}

/** Finds the user parts of all stacks. */
function userParts(profile: Profile): UserParts {
  const { locations, stacks } = profile;
  const { size } = stacks;
  const parts = new UserParts(profile, size);
  const { innermost, outermost, callers, mappings, ends } = parts;
  const frames = framesOf(profile);
  const columns = stacks.columns;
  for (let stack = 0; stack < size; stack++) {
    // hot
    const parent = columns.parents[stack];
    const location = columns.locations[stack];
    const frame = frames[location];
    const caller = parent < 0 ? -1 : innermost[parent];
    if (frame === FRAME.USER || frame === FRAME.START) {
      const isOutermost = caller < 0 || frame === FRAME.START;
      innermost[stack] = stack;
      mappings[stack] = locations.mapping(location);
      outermost[stack] = isOutermost ? stack : outermost[caller];
      if (!isOutermost) callers[stack] = caller;
      else ends[stack] = frame === FRAME.START ? frame : parent < 0 ? FRAME.NONE : ends[parent];
    } else if (frame === FRAME.OTHER) {
      innermost[stack] = caller;
      if (parent >= 0) ends[stack] = ends[parent];
    } else {
      ends[stack] = frame;
    }
  }
  return parts;
}

/** The user parts of all stacks, each up to where a program or thread starts, or the stack breaks off. A frame has the index of the stack whose leaf it is. */
class UserParts {
  /** By stack: the innermost frame of its user part; −1 for none. */
  readonly innermost: Int32Array;
  /** By frame: the outermost frame of its user part; and its caller, −1 for the outermost. */
  readonly outermost: Int32Array;
  readonly callers: Int32Array;
  /** By frame: the mapping of its code. */
  readonly mappings: Int32Array;
  /** Why the user part ends, by its outermost frame; for a stack without a user part, why one that begins there would end. One of {@link FRAME}. */
  readonly ends: Uint8Array;
  readonly #profile: Profile;
  readonly #isCLibrary: readonly boolean[];

  /** @param size number of stacks */
  constructor(profile: Profile, size: number) {
    this.innermost = new Int32Array(size).fill(-1);
    this.outermost = new Int32Array(size).fill(-1);
    this.callers = new Int32Array(size).fill(-1);
    this.mappings = new Int32Array(size).fill(-1);
    this.ends = new Uint8Array(size);
    this.#profile = profile;
    this.#isCLibrary = profile.mappings.map(isCLibrary);
  }

  /** Whether a user part with this frame reaches a function in which programs or threads start. */
  reachesStart(frame: number): boolean {
    return this.ends[this.outermost[frame]] === FRAME.START;
  }

  /** Whether a frame has so many callers that stacks do not keep ending at the same place by chance. */
  isDeep(frame: number): boolean {
    let depth = 0;
    for (let at = frame; at >= 0 && depth < DEEP; at = this.callers[at]) depth++;
    return depth === DEEP;
  }

  /** Whether the user part with this innermost frame breaks off. */
  isBroken(frame: number): boolean {
    const outermost = this.outermost[frame];
    switch (this.ends[outermost]) {
      case FRAME.START:
        return false;
      case FRAME.NONE:
        return frame === outermost || (this.#isInCLibrary(outermost) && this.#isNamed(outermost));
      case FRAME.IN_ZEROS:
        return frame === outermost;
      default:
        return !this.#isNamelessStart(frame, outermost);
    }
  }

  #isInCLibrary(frame: number): boolean {
    return this.#isCLibrary[this.mappings[frame]];
  }

  #isNamed(frame: number): boolean {
    return this.#profile.locations.lineCount(this.#profile.stacks.location(frame)) > 0;
  }

  /** Whether the outermost frame may be a function without a name in which a program or thread starts. */
  #isNamelessStart(frame: number, outermost: number): boolean {
    if (frame === outermost || !this.#isInCLibrary(outermost) || this.#isNamed(outermost)) return false;
    let second = frame;
    while (this.callers[second] !== outermost) second = this.callers[second];
    return this.mappings[second] !== this.mappings[outermost];
  }
}
