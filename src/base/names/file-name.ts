/** What follows the last slash of a path; the whole text if it has none. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** A path up to and with its last slash; empty if it has none. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}
