import type { Random } from '../random.ts';

/** The kinds of recordings that are mutated; values of `--kind`. */
export const SEED_KINDS = [
  'file',
  'pipe',
  'directory',
  'compressed',
  'simpleperf',
  'big-endian',
  'v1',
  'tracepoint',
  'names',
  'traces',
  'jit',
  'symbols',
  'unwind',
  'wrapped',
  'long-names',
  'forks',
  'bombs',
  'times',
  'terminals',
  'outputs',
  'full-disk',
  'signals',
] as const;

export type SeedKind = (typeof SEED_KINDS)[number];

/**
 * Files by name: a recording under {@link SINGLE_FILE}, with the files that a JIT wrote (`perf-200.map`,
 * `jit-200.dump`) or with binaries and debug files; or the files of a directory recording (`data`, `data.0` …).
 */
export type InputFiles = ReadonlyMap<string, Uint8Array>;

/** Name of the recording in an input that is not a directory. */
export const SINGLE_FILE = 'perf.data';

/** An input made only from random numbers. */
export interface Grown {
  readonly files: InputFiles;
  /** Unpacked size of a compressed input, if it is much larger than the input. */
  readonly unpackedBytes?: number;
}

/** A valid recording to start from. */
export interface Seed {
  readonly kind: SeedKind;
  readonly name: string;
  readonly files: InputFiles;
  /**
   * Makes an input of the same kind, of any size up to about `maxBytes`, for problems that show only in large inputs.
   * If absent, the files are mutated.
   */
  readonly grow?: (random: Random, maxBytes: number) => Grown;
}

/** Whether an input is a directory recording. */
export function isDirectory(files: InputFiles): boolean {
  return !files.has(SINGLE_FILE);
}

/** Whether a file of an input has records: all do but those that a JIT wrote, and symbol files. */
export function hasRecords(files: InputFiles, name: string): boolean {
  return name === SINGLE_FILE || isDirectory(files);
}
