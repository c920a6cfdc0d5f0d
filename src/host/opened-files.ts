import type { BigIntStats } from 'node:fs';
import { statsIdentity } from './output-target.ts';

/** The files that were opened in the search for symbols, by their identities: no output may replace one of them. */
export class OpenedFiles {
  readonly #paths = new Map<string, string>();

  add(path: string, stats: BigIntStats): void {
    this.#paths.set(statsIdentity(stats), path);
  }

  /** The path by which a file was opened; undefined when it was not. */
  pathOf(identity: string): string | undefined {
    return this.#paths.get(identity);
  }
}
