/**
 * The labels of several inputs in one result: their file names, `web.data`; if files have the same name, with as many directories before it as distinguish
 * them, `monday/web.data`. A file that is given twice has the same label twice.
 * @param paths absolute, split into parts
 */
export function distinctLabels(paths: readonly (readonly string[])[]): string[] {
  return paths.map((path) => {
    const whole = lastParts(path, path.length);
    const others = paths.filter((other) => lastParts(other, other.length) !== whole);
    for (let length = 1; length < path.length; length++) {
      const label = lastParts(path, length);
      if (others.every((other) => lastParts(other, length) !== label)) return label;
    }
    return whole;
  });
}

/** With slashes on every system: a label is not a path to open. */
function lastParts(path: readonly string[], length: number): string {
  return path.slice(-length).join('/');
}
