import type { InputFiles, SeedKind } from '../seeds/seed.ts';
import type { Plan } from '../target/plan.ts';

/** Tells a child to make and read inputs. */
export interface RunTask {
  readonly type: 'run';
  readonly seed: number;
  readonly kinds: readonly SeedKind[];
  /** Folder of further recordings; empty for none. */
  readonly corpus: string;
  /** Index of the first input, and index after the last. */
  readonly from: number;
  readonly to: number;
  /** Unix time in milliseconds at which to stop. */
  readonly deadline: number;
  /** File to which the child writes the index of the current input and the Unix time of its start, as two doubles. */
  readonly statusPath: string;
}

/** Tells a child to read one input. */
export interface TryTask {
  readonly type: 'try';
  readonly files: InputFiles;
  readonly plan: Plan;
}

export type ToChild = RunTask | TryTask;

/** Progress since the last such message. */
export interface Progress {
  readonly type: 'progress';
  /** Index after the last input that was read. */
  readonly next: number;
  readonly inputs: Readonly<Partial<Record<SeedKind, number>>>;
  /** Number of inputs refused with a typed error, and number of samples read from the others. */
  readonly refused: number;
  readonly samples: number;
  /** Number of outputs that were too large to be checked. */
  readonly unread: number;
  /** The input that took longest. */
  readonly slowest: { readonly index: number; readonly ms: number };
}

/** An input failed, or seems to have used too much memory. It is read again alone. */
export interface Suspicion {
  readonly type: 'suspicion';
  readonly index: number;
  readonly what: string;
}

/** The end of a run: no time or no inputs are left, or the process must not go on. */
export interface RunEnd {
  readonly type: 'end';
  readonly next: number;
}

export interface TryResult {
  readonly type: 'tried';
  /** What went wrong; undefined if nothing did. */
  readonly what: string | undefined;
}

export type FromChild = Progress | Suspicion | RunEnd | TryResult;

/** Maximum peak memory of a process, for one input or many. */
export const MAX_RESIDENT_BYTES = 512 << 20;

const MAX_CPU_MS_PER_MEGABYTE = 2000;
/** How many times faster than it is read highly compressed data must be unpacked. */
const UNPACKED_PER_READ = 32;

/** Maximum CPU time of a command, per file that it reads. */
export function allowedCpuMs(files: InputFiles, { unpackedBytes }: Plan): number {
  const sizeBytes = [...files.values()].reduce((sum, bytes) => sum + bytes.length, 0);
  return MAX_CPU_MS_PER_MEGABYTE * Math.max(1, sizeBytes / 2 ** 20, unpackedBytes / 2 ** 20 / UNPACKED_PER_READ);
}
