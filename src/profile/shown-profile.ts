import { isImpossibleCaller } from './impossible-callers.ts';
import type { LocationTable } from './location-table.ts';
import { baseName, hexAddress, NAMELESS } from './names.ts';
import type { Profile } from './profile.ts';
import type { SampleTable } from './sample-table.ts';
import { StackTable } from './stack-table.ts';
import { TotalTable } from './total-table.ts';
import type { UnknownCode } from './unknown-code.ts';

/** NAME_MAX (linux/limits.h): the binary's name is repeated for each of its functions, so a longer one is cut. */
const MAX_NAME = 255;

/** What becomes of a location in stacks, if it does not stay. In no binary: successive frames of this kind become one. */
const NOWHERE = 1;
/** No code can be there: what led to it was not a frame pointer, and neither is what comes after it. */
const IMPOSSIBLE = 2;

/**
 * A profile in which code without a symbol has functions, so that viewers show a few functions instead of one for each address:
 *
 * - Addresses in no binary are `[unknown]`, one frame for any number of successive ones. They share one location.
 * - Code of a binary is shown as `mode` says. Such locations keep their address and mapping, so that pprof finds their names if it has the binary;
 *   {@link LocationTable.isStandIn} distinguishes them from named ones.
 * - A callchain ends at the first return address of user code that cannot be one, which becomes its root `[unknown]`.
 *
 * Samples, their sums and their order stay the same. Stacks that have become equal are one. New names are added to the strings and functions, which both
 * profiles share; otherwise, the original profile does not change. If it has no unknown code, or with `address`, it is returned as it is.
 */
export function showUnknownCode(profile: Profile, mode: UnknownCode): Profile {
  if (mode === 'address') return profile;
  const shown = showLocations(profile, mode);
  if (shown === undefined) return profile;
  const { locations, fates, shownAs } = shown;
  if (shownAs === undefined) return { ...profile, locations };
  const { stacks, stackOf } = showStacks(profile.stacks, fates, shownAs);
  const samples: SampleTable | undefined = profile.samples?.withStacks(stackOf);
  return { ...profile, locations, stacks, totals: addUp(profile.totals, stackOf), samples };
}

interface ShownLocations {
  readonly locations: LocationTable;
  /** By location: what becomes of it in stacks; 0 if it stays. */
  readonly fates: Uint8Array;
  /** By location: the one that is shown in its place; undefined if all stay. */
  readonly shownAs: Uint32Array | undefined;
}

/** Gives each unknown location its function; undefined if there is no such location. */
function showLocations(profile: Profile, mode: UnknownCode): ShownLocations | undefined {
  const { functions, locations: before, strings } = profile;
  const { size } = before;
  let locations: LocationTable | undefined;
  let shownAs: Uint32Array | undefined;
  const fates = new Uint8Array(size);
  const names = new BinaryNames(profile);
  for (let location = 0; location < size; location++) {
    if (before.lineCount(location) > 0) continue;
    locations ??= before.copy();
    const mapping = before.mapping(location);
    if (mapping >= 0) {
      locations.setStandIn(location, names.functionOf(mapping, mode === 'function' ? before.functionStart(location) : -1));
      continue;
    }
    fates[location] = isImpossibleCaller(before, location) ? IMPOSSIBLE : NOWHERE;
    const nowhere = nowhereOf(locations, before.cpumode(location), functions.intern(strings.intern(NAMELESS)));
    shownAs ??= Uint32Array.from({ length: size }, (_, index) => index);
    shownAs[location] = nowhere;
  }
  return locations && { locations, fates, shownAs };
}

/** The location of all addresses in no binary. In a merged profile, what stands for an unknown stack may be at the same place. */
function nowhereOf(locations: LocationTable, cpumode: number, func: number): number {
  for (let variant = 0; ; variant++) {
    const location = locations.intern(-1, 0, 0, cpumode, false, variant);
    if (locations.lineCount(location) === 0) locations.setStandIn(location, func);
    if (locations.lineFunction(location, 0) === func) return location;
  }
}

/** The functions that stand for unknown code of binaries, each made once. */
class BinaryNames {
  readonly #profile: Profile;
  /** By mapping: its base name. */
  readonly #baseNames: string[] = [];
  /** By mapping: the function that stands for all of it. */
  readonly #wholes: number[] = [];

  constructor(profile: Profile) {
    this.#profile = profile;
  }

  /** @param start where the unnamed function begins; −1 if that is unknown */
  functionOf(mapping: number, start: number): number {
    const { functions, mappings, strings } = this.#profile;
    this.#baseNames[mapping] ??= cut(baseName(mappings[mapping].name) || NAMELESS);
    const name = this.#baseNames[mapping];
    if (start >= 0) return functions.intern(strings.intern(`${name}+0x${hexAddress(start >>> 0, Math.floor(start / 0x1_0000_0000))}`));
    this.#wholes[mapping] ??= functions.intern(strings.intern(name.startsWith('[') ? name : `[${name}]`));
    return this.#wholes[mapping];
  }
}

/** A name that is not too long, without half a surrogate pair at its end. */
function cut(name: string): string {
  return name.length <= MAX_NAME ? name : name.slice(0, MAX_NAME).replace(/[\ud800-\udbff]$/, '');
}

/** Rebuilds the stacks. A caller's stack comes before those of what it called. */
function showStacks(before: StackTable, fates: Uint8Array, shownAs: Uint32Array): { readonly stacks: StackTable; readonly stackOf: Int32Array } {
  const stacks = new StackTable();
  const stackOf = new Int32Array(before.size);
  for (let stack = 0; stack < before.size; stack++) {
    // hot
    const location = before.location(stack);
    const fate = fates[location];
    const caller = before.parent(stack);
    const parent = caller < 0 || fate === IMPOSSIBLE ? -1 : stackOf[caller];
    const isRepeated = fate === NOWHERE && parent >= 0 && stacks.location(parent) === shownAs[location];
    stackOf[stack] = isRepeated ? parent : stacks.intern(parent, shownAs[location]);
  }
  return { stacks, stackOf };
}

/** The totals, by the stacks that replace others. */
function addUp(before: TotalTable, stackOf: Int32Array): TotalTable {
  const totals = new TotalTable();
  for (let row = 0; row < before.size; row++) {
    // hot
    const stack = before.stack(row);
    const total = totals.intern(before.event(row), before.task(row), stack < 0 ? -1 : stackOf[stack]);
    totals.addSums(total, before.samples(row), before.period(row), before.periodRemainder(row));
  }
  return totals;
}
