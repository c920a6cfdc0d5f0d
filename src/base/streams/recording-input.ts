import type { RecordingSource } from './byte-source.ts';

/** What is known about a recording apart from its records. */
export interface RecordingContext {
  /**
   * When its file was last written, nanoseconds since 1970: the recording had ended by then, and files that were made later were not recorded. Undefined for a
   * pipe.
   */
  readonly modifiedNs?: bigint | undefined;
  /** A directory that was recorded with the samples (`perf record --kcore`) and holds the kernel's `kallsyms` and `modules`; undefined if there is none. */
  readonly kcoreDir?: string | undefined;
}

/** A recording that is open for one reading, and what is known about it. */
export interface OpenInput extends RecordingContext {
  /** To be closed at the end of the reading. */
  readonly source: RecordingSource;
}
