import { rmSync } from 'node:fs';

const unfinished = new Set<string>();

/** Notes a file that is being written, until what is returned is called: a signal in the meantime removes it. */
export function noteUnfinished(path: string): () => void {
  unfinished.add(path);
  return () => unfinished.delete(path);
}

/** Removes all files that are being written, at once: for a process that a signal ends. */
export function removeUnfinished(): void {
  for (const path of unfinished) rmSync(path, { force: true });
  unfinished.clear();
}
