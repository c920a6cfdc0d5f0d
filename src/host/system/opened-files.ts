import { type BigIntStats, statSync } from 'node:fs';
import { statsIdentity } from './file-identity.ts';
import { ioError } from './io-error.ts';
import { systemPath } from './system-path.ts';

/** The files that were opened in the search for symbols, by their identities. No output may replace one of them. */
export class OpenedFiles {
  readonly #paths = new Map<string, string>();

  add(path: string, stats: BigIntStats): void {
    this.#paths.set(statsIdentity(stats), path);
  }

  /** Adds a file that is going to be opened. @throws PerfconvError `io` if it does not exist */
  addPath(path: string): void {
    try {
      this.add(path, statSync(systemPath(path), { bigint: true }));
    } catch (error) {
      throw ioError(error, path);
    }
  }

  /** Adds what is at a path; nothing if there is none, or if that cannot be found out. */
  addIfThere(path: string): void {
    try {
      const stats = statSync(systemPath(path), { bigint: true, throwIfNoEntry: false });
      if (stats !== undefined) this.add(path, stats);
    } catch {
      // It is below a directory that may not be read.
    }
  }

  /** The path by which a file was opened; undefined if it was not. */
  pathOf(identity: string): string | undefined {
    return this.#paths.get(identity);
  }
}
