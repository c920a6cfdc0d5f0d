/**
 * The labels of several inputs in one result: their file names, `web.data`; if files have the same name, with as many directories before it as distinguish
 * them, `monday/web.data`.
 * @param paths absolute, split into parts
 */
export function distinctLabels(paths: readonly (readonly string[])[]): string[] {
  return paths.map((path, index) => {
    const others = paths.filter((_, other) => other !== index);
    for (let length = 1; length < path.length; length++) {
      const label = lastParts(path, length);
      if (others.every((other) => lastParts(other, length) !== label)) return label;
    }
    return lastParts(path, path.length);
  });
}

/** With slashes on every system: a label is not a path to open. */
function lastParts(path: readonly string[], length: number): string {
  return path.slice(-length).join('/');
}
