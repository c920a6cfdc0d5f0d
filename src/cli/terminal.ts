import type { Readable, Writable } from 'node:stream';

/** Where a command reads and writes: the process's own streams, or a test's. */
export interface Terminal {
  readonly stdin: Readable & { readonly fd?: number };
  readonly stdout: Writable & { readonly fd?: number; readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How a command ended. */
export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;
/** Data was lost on the way, and `--strict` was given. */
export const EXIT_LOSS = 3;
