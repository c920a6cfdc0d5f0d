import { readFileSync } from 'node:fs';
import { jitDumpPid, type OpenJitDump } from '../perfdata/jitdump.ts';
import { namespacedPid } from '../symbols/jit/namespaced-pid.ts';
import type { OpenedFiles } from './opened-files.ts';
import { openRegularFileNow } from './regular-file.ts';

/** Where jitdump files are looked for besides at their own paths. */
export interface JitDumpDirectories {
  /** Directory of dumps under their own names. */
  readonly perfMapDir?: string;
  /** Directory under which the recording machine's files lie with their own paths: then this machine's are not looked at. */
  readonly symfs?: string;
}

/**
 * Opens jitdump files of this machine; while their process lives, also those that only it sees (a container's).
 * @param opened gets the files that are opened
 */
export function jitDumpsOf({ perfMapDir, symfs }: JitDumpDirectories, opened?: OpenedFiles): OpenJitDump {
  return (path, pid) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    // Whatever a recording names, nothing else is opened.
    const number = jitDumpPid(name);
    if (number === undefined || !path.startsWith('/') || path.split('/').includes('..')) return undefined;
    const own = `/proc/${pid}/root${path}`;
    // A process that goes by another number has a namespace of its own, and most often its own files.
    const isOwnFirst = Number(number) !== pid && isOwnNumber(pid, number);
    const places = symfs !== undefined ? [symfs + path] : isOwnFirst ? [own, path] : [path, own];
    for (const place of perfMapDir === undefined ? places : [`${perfMapDir}/${name}`, ...places]) {
      const source = openRegularFileNow(place, opened);
      if (source !== undefined) return source;
    }
    return undefined;
  };
}

/** Whether a living process goes by this number in its own namespace. */
function isOwnNumber(pid: number, number: string): boolean {
  try {
    return namespacedPid(readFileSync(`/proc/${pid}/status`, 'latin1')) === number;
  } catch {
    return false;
  }
}
