import { rmSync } from 'node:fs';
import { tellSupervisor } from './signals.ts';
import { systemPath } from './system-path.ts';

const unfinished = new Set<string>();

/** Notes a file or directory that is about to be made: a signal removes it, until {@link forgetUnfinished} is called. */
export function noteUnfinished(path: string): void {
  unfinished.add(path);
  // Before it is made: this thread may never come to it again.
  tellSupervisor({ kind: 'unfinished', path, isOver: false });
}

/** Has a signal leave a file or directory that was noted: it is complete, or removed. */
export function forgetUnfinished(path: string): void {
  unfinished.delete(path);
  tellSupervisor({ kind: 'unfinished', path, isOver: true });
}

/** Removes all that is being written, at once: for a process that a signal ends. */
export function removeUnfinished(): void {
  for (const path of unfinished) {
    try {
      rmSync(systemPath(path), { recursive: true, force: true });
    } catch {
      // The process ends all the same.
    }
  }
  unfinished.clear();
}
