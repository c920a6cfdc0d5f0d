import { accessSync, constants, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { PerfconvError } from '../../base/problems/errors.ts';
import { statsIdentity } from '../system/file-identity.ts';
import { ioError, reasonOf, systemCode } from '../system/io-error.ts';
import type { OpenedFiles } from '../system/opened-files.ts';
import { statNow } from '../system/stat-now.ts';
import { systemPath } from '../system/system-path.ts';
import { temporaryPath } from '../system/temporary-path.ts';
import { copyPrivately, overwrite, overwriteNow } from './overwrite.ts';

/** An output that was written to a temporary path and is to be moved to its target. */
export interface StagedPath {
  readonly temporary: string;
  readonly target: string;
  /** What messages call it: the path as the user gave it. */
  readonly name: string;
  readonly isDirectory: boolean;
  /** Why the existing file is overwritten in place rather than replaced; undefined: it is replaced, if the system allows it. */
  readonly inPlace: string | undefined;
}

/** An output that was written in place rather than replaced. */
export interface InPlaceOutput {
  readonly name: string;
  /** A clause that says why: `it has other hard links`. */
  readonly reason: string;
}

export interface CommitOptions {
  /** Files that no output may replace. */
  readonly opened?: OpenedFiles;
  /** Moves a file or directory within a file system, and throws like `renameSync` of node:fs, which is the default. */
  readonly rename?: (from: string, to: string) => void;
}

/** One thing that was done, and how to undo it. */
interface Step {
  readonly name: string;
  /** Where the former content is; undefined if there was none. */
  readonly kept: string | undefined;
  readonly takeBack: () => void;
}

/** Errors for files that cannot be replaced but may be writable: mount points, and files that another program has open or another user owns. */
const NOT_REPLACEABLE = ['EBUSY', 'EXDEV', 'EPERM', 'EACCES'];

/**
 * Moves staged outputs to their places: all, or none. What they replace is kept until all are there. Files are moved synchronously, so that no signal handler
 * runs half-way. Those that are written in place come last, piece by piece; until the last of them is complete, {@link undo} can restore everything.
 */
export class OutputCommit {
  readonly #staged: readonly StagedPath[];
  readonly #opened: OpenedFiles | undefined;
  readonly #rename: (from: string, to: string) => void;
  readonly #steps: Step[] = [];
  /** Paths under which the replaced files are kept; removed in the end. */
  readonly #kept = new Set<string>();
  #isUndone = false;

  constructor(staged: readonly StagedPath[], { opened, rename = (from, to) => renameSync(systemPath(from), systemPath(to)) }: CommitOptions) {
    this.#staged = staged;
    this.#opened = opened;
    this.#rename = rename;
  }

  /**
   * @returns the outputs that were written in place
   * @throws PerfconvError `io`, `usage` when a file that was read would be replaced; then no output is changed
   */
  async run(): Promise<readonly InPlaceOutput[]> {
    try {
      for (const one of this.#staged) this.#check(one);
      const inPlace = this.#replaceAll();
      for (const one of inPlace) await this.#overwrite(one);
      this.#steps.length = 0;
      this.#removeKept();
      return inPlace.map(({ name, inPlace: reason = '' }) => ({ name, reason }));
    } catch (error) {
      const [lost] = this.undo();
      if (lost === undefined) throw error;
      const rest = lost.kept === undefined ? '' : `; its previous contents are in ${lost.kept}`;
      throw new PerfconvError('io', `could not be restored: ${reasonOf(error)}${rest}`, { file: lost.name }, { cause: error });
    }
  }

  /** Undoes synchronously what was done so far. Does nothing after {@link run}. Never throws; returns the steps that could not be undone. */
  undo(): readonly Step[] {
    this.#isUndone = true;
    const lost: Step[] = [];
    for (const step of this.#steps.splice(0).reverse()) {
      try {
        step.takeBack();
      } catch {
        lost.push(step);
        this.#kept.delete(step.kept ?? '');
      }
    }
    this.#removeKept();
    return lost;
  }

  /** Checks in advance for anything in the way. */
  #check({ target, name, isDirectory }: StagedPath): void {
    const stats = statNow(target, name);
    if (stats === undefined) return;
    if (isDirectory) throw new PerfconvError('io', 'was created by someone else in the meantime', { file: name });
    if (stats.isDirectory()) throw new PerfconvError('io', 'is a directory', { file: name });
    if (!stats.isFile()) throw new PerfconvError('io', 'has become a device or a pipe', { file: name });
    const read = this.#opened?.pathOf(statsIdentity(stats));
    if (read !== undefined) throw new PerfconvError('usage', `${name} would overwrite ${read}, which symbols were read from`);
  }

  /** Moves all outputs that can be moved to their places, and returns the others. */
  #replaceAll(): StagedPath[] {
    const inPlace = this.#staged.filter((one) => one.inPlace !== undefined);
    const replacing = this.#staged.filter((one) => one.inPlace === undefined);
    for (const [index, one] of replacing.entries()) {
      // Nothing that could fail comes after the last one.
      const isLast = index === replacing.length - 1 && inPlace.length === 0;
      try {
        if (isLast) this.#rename(one.temporary, one.target);
        else this.#replace(one);
      } catch (error) {
        if (one.isDirectory || !NOT_REPLACEABLE.includes(systemCode(error) ?? '') || !isWritableFile(one.target)) throw ioError(error, one.name);
        inPlace.push({ ...one, inPlace: `it cannot be replaced (${reasonOf(error)})` });
      }
    }
    return inPlace;
  }

  #replace({ temporary, target, name }: StagedPath): void {
    const kept = temporaryPath(dirname(target));
    const how = this.#keep(target, kept);
    try {
      this.#rename(temporary, target);
    } catch (error) {
      if (how === 'linked') this.#removeKept([kept]);
      if (how === 'moved') {
        this.#kept.delete(kept);
        this.#rename(kept, target);
      }
      throw error;
    }
    if (how === 'absent') this.#steps.push({ name, kept: undefined, takeBack: () => this.#rename(target, temporary) });
    else this.#steps.push({ name, kept, takeBack: () => this.#rename(kept, target) });
  }

  /** Gives the file that an output replaces a second name, so that there is always a file at its place; without hard links, it is moved to that name. */
  #keep(target: string, kept: string): 'linked' | 'moved' | 'absent' {
    if (statNow(target, target) === undefined) return 'absent';
    this.#kept.add(kept);
    try {
      linkSync(systemPath(target), systemPath(kept));
      return 'linked';
    } catch {
      this.#rename(target, kept);
      return 'moved';
    }
  }

  async #overwrite({ temporary, target, name }: StagedPath): Promise<void> {
    const kept = temporaryPath(dirname(temporary));
    const isGivenUp = (): boolean => this.#isUndone;
    this.#kept.add(kept);
    try {
      await copyPrivately(target, kept, isGivenUp);
      if (!this.#isUndone) this.#steps.push({ name, kept, takeBack: () => overwriteNow(kept, target) });
      if (!this.#isUndone) await overwrite(temporary, target, isGivenUp);
    } catch (error) {
      throw ioError(error, name);
    }
    if (this.#isUndone) throw new PerfconvError('io', 'was abandoned', { file: name });
  }

  #removeKept(paths: readonly string[] = [...this.#kept]): void {
    for (const path of paths) {
      try {
        rmSync(systemPath(path), { force: true });
      } catch {
        // A leftover file does no harm; a failure here would report finished outputs as missing.
      }
      this.#kept.delete(path);
    }
  }
}

/** Whether the path is a regular file that this user may write to. */
export function isWritableFile(path: string): boolean {
  try {
    accessSync(systemPath(path), constants.W_OK);
    return statSync(systemPath(path)).isFile();
  } catch {
    return false;
  }
}
