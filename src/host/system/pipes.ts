import { fstatSync, type Stats, statSync } from 'node:fs';
import { systemPath } from './system-path.ts';

/** Whether bytes come from another program or go to one: a pipe or a socket. */
export function isPipe(stats: Stats): boolean {
  return stats.isFIFO() || stats.isSocket();
}

/**
 * Whether an input or output is a pipe or a socket. The program at the other end of an input may still be recording.
 * @param place a path, or a descriptor; undefined for one with neither
 */
export function isPipeAt(place: string | number | undefined): boolean {
  if (place === undefined) return false;
  try {
    return isPipe(typeof place === 'string' ? statSync(systemPath(place)) : fstatSync(place));
  } catch {
    return false; // Opening it reports the reason; and Windows does not describe all descriptors.
  }
}
