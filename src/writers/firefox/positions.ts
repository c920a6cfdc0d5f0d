import type { Profile } from '../../profile/profile.ts';

/** The line of a location's `nth` function. 1-based; 0 if it is unknown, or in another file than the function (included code), which a frame cannot express. */
export function lineOf({ locations }: Profile, location: number, nth: number): number {
  const isKnown = location >= 0 && nth < locations.lineCount(location) && locations.lineFile(location, nth) === 0;
  return isKnown ? locations.lineNumber(location, nth) : 0;
}

/** The column. 1-based; 0 if it or the line is unknown. */
export function columnOf(profile: Profile, location: number, nth: number): number {
  return lineOf(profile, location, nth) > 0 ? profile.locations.lineColumn(location, nth) : 0;
}
