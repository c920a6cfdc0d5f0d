/**
 * What several inputs are called in one result: by the names of their files, `web.data`; where files have the same name, with as
 * many directories before it as tell them apart, `monday/web.data`.
 * @param paths absolute ones, in parts
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

/** With slashes on every system: a label is no path to open. */
function lastParts(path: readonly string[], length: number): string {
  return path.slice(-length).join('/');
}
