import type { Features } from '../../perfdata/features/features.ts';
import type { AddressSpace } from '../processes/address-space.ts';
import type { Dso } from '../processes/dsos.ts';
import type { UnwindFiles } from './unwind-files.ts';

/**
 * Tells which processes perf 6.1 unwinds: those that map, or have mapped before an exec, a file that is there, or the vdso. From the first of these it knows
 * whether a process has 32 or 64 bits.
 */
export class FoundFiles {
  readonly #dsos: readonly Dso[];
  readonly #features: Features;
  readonly #files: UnwindFiles | undefined;
  /** By DSO: whether its file is there. */
  readonly #known = new Map<number, boolean>();
  /** The DSO to look for next; −1: none. */
  #wanted = -1;
  /** State of the address space that was last asked about, and the answer. It is asked for each sample, usually about the same maps as before. */
  #askedGeneration = -1;
  #answer = false;

  /** @param files undefined if no files are read: then each counts as there */
  constructor(dsos: readonly Dso[], features: Features, files: UnwindFiles | undefined) {
    this.#dsos = dsos;
    this.#features = features;
    this.#files = files;
  }

  /** Whether a file is looked for before {@link areIn} can answer. */
  get isPending(): boolean {
    return this.#wanted >= 0;
  }

  /** @returns undefined where a file has to be looked for first: await {@link settle}, then ask again */
  areIn(space: AddressSpace): boolean | undefined {
    if (space.generation !== this.#askedGeneration) {
      const isThere = (dso: number): boolean => this.#isThere(dso);
      this.#answer = false;
      for (let maps: AddressSpace | undefined = space; maps !== undefined && !this.#answer; maps = maps.fallback) this.#answer = maps.maps(isThere);
      if (this.#answer) this.#wanted = -1;
      if (this.isPending) return undefined;
      this.#askedGeneration = space.generation;
    }
    return this.#answer;
  }

  /** Looks for the file that {@link areIn} waits for. */
  async settle(): Promise<void> {
    const dso = this.#wanted;
    this.#wanted = -1;
    if (dso >= 0) this.#known.set(dso, (await this.#files?.isThere(this.#dsos[dso], this.#features)) === true);
  }

  #isThere(dso: number): boolean {
    const { kind } = this.#dsos[dso];
    if (kind !== 'file' && kind !== 'vdso') return false;
    if (this.#files === undefined) return true;
    const known = this.#known.get(dso);
    if (known === undefined && !this.isPending) this.#wanted = dso;
    return known === true;
  }
}
