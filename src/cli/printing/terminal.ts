import type { Readable, Writable } from 'node:stream';

/** The streams that a command reads and writes: those of the process, or a test's. */
export interface Terminal {
  readonly stdin: Readable & { readonly fd?: number };
  readonly stdout: Writable & { readonly fd?: number; readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Exit statuses. */
export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;
/** Data was lost, and `--strict` was given. */
export const EXIT_LOSS = 3;
