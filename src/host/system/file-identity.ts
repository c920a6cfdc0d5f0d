import { type BigIntStats, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { absolutePath, linkTarget, realPath, systemPath } from './system-path.ts';

/** How many links in a row Linux follows (path_resolution(7)). */
const MAX_LINKS = 40;

/**
 * Where the bytes of an output go: its absolute path with all symbolic links followed, also a link to a file that does not exist yet. A path whose directory is
 * missing, or whose links form a loop, is only made absolute.
 */
export function targetOf(path: string): string {
  let target = absolutePath(path);
  try {
    for (let links = 0; links < MAX_LINKS; links++) {
      target = join(realPath(dirname(target)), basename(target));
      const link = readLink(target);
      if (link === undefined) return target;
      target = resolve(dirname(target), link);
    }
  } catch {
    return target;
  }
  return absolutePath(path);
}

/** Identifies a file, whatever it is called: two paths have the same identity if they are, or would become, one file. */
export function identityOf(path: string): string {
  const target = targetOf(path);
  const stats = statIfThere(target);
  return stats === undefined ? target : statsIdentity(stats);
}

/** The identity of an existing file, as {@link identityOf} returns it, from its stats. */
export function statsIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

function readLink(path: string): string | undefined {
  try {
    return linkTarget(path);
  } catch {
    return undefined; // It does not exist, or is not a link.
  }
}

function statIfThere(path: string): BigIntStats | undefined {
  try {
    return statSync(systemPath(path), { bigint: true });
  } catch {
    return undefined;
  }
}
