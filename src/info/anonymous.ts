/**
 * A path without the home directory that it is in: `/home/jane/app` and `/export/home/jane/app` become `~/app`; home directories of root and of macOS are
 * replaced, too.
 */
export function withoutHome(path: string): string {
  return path.replace(/^(?:\/[^/]+){0,4}?\/(?:home|Users)\/[^/]+|^\/root(?=\/|$)/, '~');
}

/** A sentence with its paths shown so; a path is taken to end at a blank. */
export function withoutHomes(sentence: string): string {
  return sentence.replace(/(?:\/[^/\s]+)*/g, withoutHome);
}
