import type { Random } from './random.ts';

/** What kinds of recordings are mutated; `--kind` takes these names. */
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
  'jit',
  'symbols',
  'wrapped',
  'long-names',
  'forks',
  'bombs',
  'times',
  'terminals',
  'outputs',
] as const;

export type SeedKind = (typeof SEED_KINDS)[number];

/**
 * Files by name: one file under {@link SINGLE_FILE}, with what a JIT has written beside it (`perf-200.map`, `jit-200.dump`), or with binaries and
 * debug files; or those of a directory recording (`data`, `data.0` …).
 */
export type InputFiles = ReadonlyMap<string, Uint8Array>;

/** The name of the one file of an input that is no directory. */
export const SINGLE_FILE = 'perf.data';

/** An input made out of random numbers alone. */
export interface Grown {
  readonly files: InputFiles;
  /** What a packed one unpacks to, where that is much more than it has itself. */
  readonly unpackedBytes?: number;
}

/** A sound recording to start from. */
export interface Seed {
  readonly kind: SeedKind;
  readonly name: string;
  readonly files: InputFiles;
  /**
   * Makes an input of the same kind, of any size up to about `maxBytes`, for what shows only where there is much of it. Absent: the files are
   * mutated.
   */
  readonly grow?: (random: Random, maxBytes: number) => Grown;
}

/** Whether an input is a directory recording. */
export function isDirectory(files: InputFiles): boolean {
  return !files.has(SINGLE_FILE);
}

/** Whether a file of an input has records: all but what a JIT has written and symbol files. */
export function hasRecords(files: InputFiles, name: string): boolean {
  return name === SINGLE_FILE || isDirectory(files);
}
