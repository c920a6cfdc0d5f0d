import type { Plan } from './plan.ts';
import type { InputFiles, SeedKind } from './seed.ts';

/** Inputs that a child is to make and read. */
export interface RunTask {
  readonly type: 'run';
  readonly seed: number;
  readonly kinds: readonly SeedKind[];
  /** Folder of further recordings; empty for none. */
  readonly corpus: string;
  /** Index of the first input, and of the one behind the last. */
  readonly from: number;
  readonly to: number;
  /** Unix time in milliseconds at which to stop. */
  readonly deadline: number;
  /** File in which the child says what it is at: the index and the Unix time of its start, two doubles. */
  readonly statusPath: string;
}

/** One input that a child is to read. */
export interface TryTask {
  readonly type: 'try';
  readonly files: InputFiles;
  readonly plan: Plan;
}

export type ToChild = RunTask | TryTask;

/** What was done since the last message of this kind. */
export interface Progress {
  readonly type: 'progress';
  /** Index behind the last input that was read. */
  readonly next: number;
  readonly inputs: Readonly<Partial<Record<SeedKind, number>>>;
  /** Inputs that were refused with a typed error, and samples read from the others. */
  readonly refused: number;
  readonly samples: number;
  /** Outputs that were too large to be looked at. */
  readonly unread: number;
  /** The input that took longest. */
  readonly slowest: { readonly index: number; readonly ms: number };
}

/** An input went wrong, or seems to: the process had more memory than it may. Either is tried again alone. */
export interface Suspicion {
  readonly type: 'suspicion';
  readonly index: number;
  readonly what: string;
}

/** The run's end: its time or its inputs are over, or the process must not go on. */
export interface RunEnd {
  readonly type: 'end';
  readonly next: number;
}

export interface TryResult {
  readonly type: 'tried';
  /** What went wrong; undefined when nothing did. */
  readonly what: string | undefined;
}

export type FromChild = Progress | Suspicion | RunEnd | TryResult;

/** Memory that a process may have had at its most, for one input or for many. */
export const MAX_RESIDENT_BYTES = 512 << 20;

const MAX_CPU_MS_PER_MEGABYTE = 2000;
/** What is packed to little is unpacked at least so much faster than it may be read. */
const UNPACKED_PER_READ = 32;

/** Processor time that a command may take for each of its files. */
export function allowedCpuMs(files: InputFiles, { unpackedBytes }: Plan): number {
  const sizeBytes = [...files.values()].reduce((sum, bytes) => sum + bytes.length, 0);
  return MAX_CPU_MS_PER_MEGABYTE * Math.max(1, sizeBytes / 2 ** 20, unpackedBytes / 2 ** 20 / UNPACKED_PER_READ);
}
