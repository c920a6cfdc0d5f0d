import { fstatSync, type Stats, statSync } from 'node:fs';
import { systemPath } from './system-path.ts';

/** Whether bytes go through it to another program, or come from one: a pipe or a socket. */
export function isPipe(stats: Stats): boolean {
  return stats.isFIFO() || stats.isSocket();
}

/**
 * Whether an input or output is a pipe or a socket. At the other end of an input a program may be recording.
 * @param place a path, or a descriptor; undefined for what has neither
 */
export function isPipeAt(place: string | number | undefined): boolean {
  if (place === undefined) return false;
  try {
    return isPipe(typeof place === 'string' ? statSync(systemPath(place)) : fstatSync(place));
  } catch {
    return false; // Opening it gives the reason; and Windows does not describe all descriptors.
  }
}
