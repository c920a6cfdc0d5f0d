import type { LocationTable } from '../../profile/location-table.ts';
import { NAMELESS } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import { quoted } from './fields.ts';

/** Written for an unknown source file or function, as addr2line and readperf do. */
export const UNRESOLVED = '??';

/**
 * The function that owns the machine code at a location, not one inlined into it; −1 if none is known. A function without a name counts as known if its
 * beginning is known; the stand-in for all unknown code of a DSO tells no more than the DSO's own column.
 */
export function owningFunction(locations: LocationTable, location: number): number {
  const lines = locations.lineCount(location);
  const isKnown = lines > 0 && (!locations.isStandIn(location) || locations.functionStart(location) >= 0);
  return isKnown ? locations.lineFunction(location, lines - 1) : -1;
}

/** The columns `dso` and `build_id`. @param mapping −1 outside all mappings */
export function dsoColumns({ mappings }: Profile, mapping: number): string {
  const { name = '', buildId = '' } = mapping < 0 ? {} : mappings[mapping];
  return `${quoted(name || NAMELESS)},${quoted(buildId)}`;
}
