import { isImpossibleCaller } from '../profile/impossible-callers.ts';
import { baseName } from '../profile/names.ts';
import type { Mapping, Profile } from '../profile/profile.ts';
import { CPUMODE_UNKNOWN, CPUMODE_USER } from '../profile/tables.ts';
import { isStartFunction } from './start-functions.ts';

/** How the user part of stacks looks that pass through a binary. In samples. */
export interface BinaryStacks {
  readonly mapping: Mapping;
  /** Those with the binary anywhere in the user part of their stack, up to where that breaks. */
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
  /** Those of them whose user part breaks off, without those that do in the dynamic loader, of which each process has a few. */
  readonly broken: number;
  /** Binaries in which stacks break off, most samples first. */
  readonly binaries: readonly BinaryStacks[];
}

/** glibc's, its older threads' library, musl's, Android's. */
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

/** From so many frames on, chance does not lead to the same place time and again. */
const DEEP = 3;

/**
 * Finds the samples whose stacks break off. A callchain by frame pointers does where code has none: the register holds
 * anything there. So the next caller is in no code, or, most often, there is none, and the stack is one frame. The
 * binary whose code was the last good frame is blamed.
 *
 * Whole are stacks that reach a function in which programs or threads start: what seems to have called it is chance. Where
 * its name is not known, it is
 * - code of the C library that calls another binary's, or
 * - the place where most deep stacks of a binary end: others end anywhere.
 * Whole are also stacks of two frames and more that end without an address in no code, unless in a function of the C
 * library that starts nothing: no other sign speaks against them.
 *
 * @param isByFramePointers by event: whether callchains are all that its samples have of the user's stack
 */
export function stackQuality(profile: Profile, isByFramePointers: readonly boolean[]): StackQuality {
  const { locations, mappings, totals } = profile;
  const binaries = mappings.map((mapping): BinaryStacks => ({ mapping, samples: 0, broken: 0, wholeThrough: 0 }));
  /** By location: samples whose stack breaks off after it, being deep. */
  const deepEnds = new Float64Array(locations.size);
  /** By mapping: the row of the totals that was counted for it last, plus 1. */
  const counted = new Uint32Array(mappings.length);
  /** The same of those that reach a start through it. */
  const through = new Uint32Array(mappings.length);
  const user = new UserPart(profile);
  let samples = 0;
  for (let row = 0; row < totals.size; row++) {
    // hot
    if (!isByFramePointers[totals.event(row)]) continue;
    user.walk(totals.stack(row));
    if (user.depth === 0) continue;
    samples += totals.samples(row);
    for (let i = 0; i < user.depth; i++) {
      const mapping = user.mappings[i];
      if (counted[mapping] === row + 1) continue;
      counted[mapping] = row + 1;
      binaries[mapping].samples += totals.samples(row);
    }
    if (user.reachesStart) {
      for (let i = 1; i < user.depth; i++) {
        const mapping = user.mappings[i];
        if (through[mapping] === row + 1) continue;
        through[mapping] = row + 1;
        binaries[mapping].wholeThrough += totals.samples(row);
      }
    }
    if (!user.isBroken) continue;
    binaries[user.mappings[user.depth - 1]].broken += totals.samples(row);
    if (user.depth >= DEEP) deepEnds[user.last] += totals.samples(row);
  }
  for (let location = 0; location < deepEnds.length; location++) {
    const binary = deepEnds[location] > 0 ? binaries[locations.mapping(location)] : undefined;
    if (binary !== undefined && deepEnds[location] > binary.samples / 2) binary.broken -= deepEnds[location];
  }
  const found = binaries.filter(({ broken, mapping }) => broken > 0 && !LOADER.test(mapping.name)).sort((a, b) => b.broken - a.broken);
  return { samples, broken: found.reduce((sum, { broken }) => sum + broken, 0), binaries: found };
}

/** The user part of a stack, up to where programs start, or it breaks off. */
class UserPart {
  /** Mappings of its frames, leaf first, as many as {@link depth}. */
  readonly mappings: number[] = [];
  depth = 0;
  /** Location of the outermost frame. */
  last = -1;
  isBroken = false;
  /** Whether the outermost frame is a function in which programs or threads start. */
  reachesStart = false;
  readonly #profile: Profile;
  readonly #isCLibrary: readonly boolean[];
  /** By function: whether programs start in it. */
  readonly #isStart: Uint8Array;

  constructor(profile: Profile) {
    const { functions, mappings, strings } = profile;
    this.#profile = profile;
    this.#isCLibrary = mappings.map(isCLibrary);
    this.#isStart = Uint8Array.from({ length: functions.size }, (_, i) => (isStartFunction(strings.get(functions.name(i))) ? 1 : 0));
  }

  walk(stack: number): void {
    // hot
    const { locations, stacks } = this.#profile;
    this.depth = 0;
    this.isBroken = false;
    this.reachesStart = false;
    for (let at = stack; at >= 0; at = stacks.parent(at)) {
      const location = stacks.location(at);
      const cpumode = locations.cpumode(location);
      if (cpumode !== CPUMODE_USER && cpumode !== CPUMODE_UNKNOWN) continue;
      const mapping = locations.mapping(location);
      if (mapping < 0) {
        // A stack often begins with zeros, which were put there for that.
        const isEnd = locations.addressHi(location) === 0 && isImpossibleCaller(locations, location);
        this.isBroken = this.depth > 0 && (!isEnd || this.depth === 1) && !this.#isNamelessStart();
        return;
      }
      this.mappings[this.depth++] = mapping;
      this.last = location;
      const lines = locations.lineCount(location);
      if (lines > 0 && this.#isStart[locations.lineFunction(location, lines - 1)] === 1) {
        this.reachesStart = true;
        return;
      }
    }
    this.isBroken = this.depth === 1 || (this.depth > 1 && this.#endsInCLibrary());
  }

  /** Whether the outermost frame is a function of the C library: all but those that start programs have callers. */
  #endsInCLibrary(): boolean {
    return this.#isCLibrary[this.mappings[this.depth - 1]] && this.#profile.locations.lineCount(this.last) > 0;
  }

  /** Whether the outermost frame may be that of a function without a name in which a program or thread starts. */
  #isNamelessStart(): boolean {
    const { depth, mappings } = this;
    if (depth < 2 || this.#profile.locations.lineCount(this.last) > 0) return false;
    return this.#isCLibrary[mappings[depth - 1]] && mappings[depth - 2] !== mappings[depth - 1];
  }
}
