import type { RecordingSource } from '../bytes/byte-source.ts';

/** An input that is open, and when its bytes were last written. */
export interface OpenInput {
  readonly source: RecordingSource;
  /** Unix time in nanoseconds; undefined for a pipe. */
  readonly modifiedNs: bigint | undefined;
  /** Of a directory recording: the directory of the recorded kernel's own symbols, `kcore_dir`; undefined where there is none. */
  readonly kcoreDir?: string;
}
