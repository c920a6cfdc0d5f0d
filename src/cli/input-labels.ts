import { sep } from 'node:path';
import { absolutePath } from '../host/system-path.ts';
import { displayName } from './messages.ts';
import { STANDARD_STREAM } from './outputs.ts';

/**
 * The names of several inputs in one result: their file names, `web.data`. Where files have the same name, as many of
 * their directories are prefixed as it takes to distinguish them, `monday/web.data`.
 */
export function inputLabels(inputs: readonly string[]): string[] {
  const paths = inputs.map((input) => (input === STANDARD_STREAM ? [displayName(input)] : absolutePath(input).split(sep)));
  return paths.map((path, index) => {
    const others = paths.filter((_, other) => other !== index);
    for (let length = 1; length < path.length; length++) {
      const label = lastParts(path, length);
      if (others.every((other) => lastParts(other, length) !== label)) return label;
    }
    return path.join(sep);
  });
}

/** Joined by slashes on every system: a label is not a path to open. */
function lastParts(path: readonly string[], length: number): string {
  return path.slice(-length).join('/');
}
