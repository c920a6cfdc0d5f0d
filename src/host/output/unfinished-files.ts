import { rmSync } from 'node:fs';
import { tellSupervisor } from '../program/signals.ts';
import { systemPath } from '../system/system-path.ts';

const unfinished = new Set<string>();

/** Notes a file or directory that is about to be made, so that a signal removes it until {@link forgetUnfinished} is called. */
export function noteUnfinished(path: string): void {
  unfinished.add(path);
  // Before it is made, since this thread may not get to it later.
  tellSupervisor({ kind: 'unfinished', path, isOver: false });
}

/** Forgets a file or directory that was noted, since it is complete or removed: signals leave it alone. */
export function forgetUnfinished(path: string): void {
  unfinished.delete(path);
  tellSupervisor({ kind: 'unfinished', path, isOver: true });
}

/** Removes everything that is being written, synchronously, for a process that a signal ends. */
export function removeUnfinished(): void {
  for (const path of unfinished) {
    try {
      rmSync(systemPath(path), { recursive: true, force: true });
    } catch {
      // The process ends anyway.
    }
  }
  unfinished.clear();
}
