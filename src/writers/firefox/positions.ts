import type { Profile } from '../../profile/profile.ts';

/**
 * 1-based, 0 where it is unknown, or in another file than the function (code that was included), for which a frame has
 * no place.
 */
export function lineOf({ locations }: Profile, location: number, nth: number): number {
  const isKnown = location >= 0 && nth < locations.lineCount(location) && locations.lineFile(location, nth) === 0;
  return isKnown ? locations.lineNumber(location, nth) : 0;
}

/** 1-based, 0 where it or the line is unknown. */
export function columnOf(profile: Profile, location: number, nth: number): number {
  return lineOf(profile, location, nth) > 0 ? profile.locations.lineColumn(location, nth) : 0;
}
