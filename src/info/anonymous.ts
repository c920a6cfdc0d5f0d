/**
 * A path without the home directory that it lies in: `/home/jane/app` and `/export/home/jane/app` become `~/app`, and so
 * do those of root and of macOS.
 */
export function withoutHome(path: string): string {
  return path.replace(/^(?:\/[^/]+){0,4}?\/(?:home|Users)\/[^/]+|^\/root(?=\/|$)/, '~');
}

/** A sentence whose paths are named so; a path ends at a blank there. */
export function withoutHomes(sentence: string): string {
  return sentence.replace(/(?:\/[^/\s]+)*/g, withoutHome);
}
