import { isOutOfDescriptors } from './io-error.ts';
import { processLimit } from './process-limits.ts';

/** At most this many files are held open, and at most this part of what the system allows, since others need descriptors, too. */
const MOST_OPEN = 128;
const MOST_OPEN_PART = 1 / 4;

/** A file whose descriptor can be closed until it is read again. */
export interface SuspendableFile {
  suspend(): void;
}

/**
 * The open symbol files, except those below `/proc/PID`, which may be gone when the process ends. A program may have more libraries than there are descriptors
 * (`ulimit -n`), and their files are read now and then until the recording ends: the least recently read ones are closed meanwhile.
 */
export class OpenDescriptors {
  /** The one read last comes last. */
  readonly #files = new Set<SuspendableFile>();
  #most: number;

  /** @param most how many files may be open at once */
  constructor(most = Math.min(MOST_OPEN, Math.floor((processLimit('Max open files') ?? Number.POSITIVE_INFINITY) * MOST_OPEN_PART))) {
    this.#most = Math.max(1, most);
  }

  /** Opens something; if no descriptors are left, closes other files first. @throws what `open` throws */
  opening<T>(open: () => T): T {
    for (;;) {
      try {
        return open();
      } catch (error) {
        if (!isOutOfDescriptors(error) || this.#files.size === 0) throw error;
        this.#most = Math.max(1, Math.floor(this.#files.size / 2));
        this.#suspendDownTo(Math.floor(this.#files.size / 2));
      }
    }
  }

  /** Notes that an open file is read. */
  use(file: SuspendableFile): void {
    this.#files.delete(file);
    this.#suspendDownTo(this.#most - 1);
    this.#files.add(file);
  }

  /** Notes that a file is closed. */
  forget(file: SuspendableFile): void {
    this.#files.delete(file);
  }

  #suspendDownTo(count: number): void {
    for (const file of this.#files) {
      if (this.#files.size <= count) break;
      this.#files.delete(file);
      file.suspend();
    }
  }
}
