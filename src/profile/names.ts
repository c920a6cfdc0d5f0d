import { fileName } from '../base/names/file-name.ts';
import { jitDumpPid } from '../base/names/jit-file-names.ts';
import type { Mapping, Profile, ProfileProcess } from './profile.ts';

/** 64 bits given as two words, in lower-case hex without leading zeros. */
export function hexAddress(lo: number, hi: number): string {
  const low = (lo >>> 0).toString(16);
  return hi === 0 ? low : (hi >>> 0).toString(16) + low.padStart(8, '0');
}

/** The part of a path after the last slash; the whole text if that part is empty or the text is in brackets. */
export function baseName(path: string): string {
  if (path.startsWith('[')) return path;
  return fileName(path) || path;
}

/** The files that `perf inject --jit` makes of jitdump files, one for each function. */
const JITTED_FILE = /^jitted-\d+-\d+\.so$/;

/** Whether a file holds code that was made at run time, by its path: it is a jitdump file, or was made of one. */
export function isJitFile(path: string): boolean {
  const name = baseName(path);
  return jitDumpPid(name) !== undefined || JITTED_FILE.test(name);
}

/** Whether a mapping may hold code that was made at run time: it is of no file, or of one that only holds such code. */
export function isMadeAtRunTime({ kind, name }: Pick<Mapping, 'kind' | 'name'>): boolean {
  return kind === 'anon' || isJitFile(name);
}

/** Stands for an empty name, which formats that list or separate names cannot show. */
export const NAMELESS = '[unknown]';

/** The root of stacks of which only the part near the leaf is known. */
export const TRUNCATED = '[truncated]';

/** How names of events begin whose samples are times off the CPU that follow from switches; the rest says how threads waited. */
export const OFF_CPU_PREFIX = 'off-cpu:';

/** The only frame in the stack of a thread that left its CPU at an unknown place. */
export const OFF_CPU = '[off-CPU]';

/** The name of a location's `nth` function; if that is empty, what to call a location without one ({@link unresolvedName}). */
export function frameName(profile: Profile, location: number, nth: number): string {
  const { functions, locations, strings } = profile;
  return strings.get(functions.name(locations.lineFunction(location, nth))) || unresolvedName(profile, location);
}

/**
 * What to call a location whose function is unknown: `0x4f2c1 (libfoo.so)`; only the address if it is outside all mappings. There may be a hundred thousand of
 * them in a file with a long name: their names are not kept, but made when they are written.
 */
export function unresolvedName(profile: Profile, location: number): string {
  return addressText(profile, location) + mappingText(profile, profile.locations.mapping(location));
}

/** The part of {@link unresolvedName} that is specific to a location: `0x4f2c1`. */
export function addressText({ locations }: Pick<Profile, 'locations'>, location: number): string {
  return `0x${hexAddress(locations.addressLo(location), locations.addressHi(location))}`;
}

/** The part of {@link unresolvedName} that all locations of a mapping have: ` (libfoo.so)`; empty for mapping −1. */
export function mappingText({ mappings }: Pick<Profile, 'mappings'>, mapping: number): string {
  return mapping < 0 ? '' : ` (${baseName(mappings[mapping].name) || NAMELESS})`;
}

/** The name of the recording that a process belongs to: its label if recordings were merged, else the profile's input. */
export function inputLabel({ inputs, meta }: Pick<Profile, 'inputs' | 'meta'>, { input = 0 }: ProfileProcess): string {
  return inputs?.[input]?.label ?? meta.inputName;
}
