import type { Profile } from '../profile/profile.ts';

/** What gets the line of its definition when its code is met. */
interface Defined {
  /** 1-based; 0 while no line is known. */
  line: number;
}

/**
 * Notes that a location has code of a function: the function gets the line of its definition, or if debug information does not tell that, the lowest line that
 * occurs. A line in another file, such as that of a macro, does not count.
 * @param nth which of the location's functions, 0 for the innermost
 */
export function noteDefinitionLine(defined: Defined, { functions, locations }: Profile, location: number, nth: number): void {
  const definition = functions.startLine(locations.lineFunction(location, nth));
  const line = definition || (locations.lineFile(location, nth) === 0 ? locations.lineNumber(location, nth) : 0);
  if (line > 0 && (defined.line === 0 || line < defined.line)) defined.line = line;
}
