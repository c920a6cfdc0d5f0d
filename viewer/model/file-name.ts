/** What follows the last slash of a path; the whole text if it has none. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
