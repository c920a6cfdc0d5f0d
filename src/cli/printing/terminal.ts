import type { Readable, Writable } from 'node:stream';

/** The streams that a command reads and writes: those of the process, or a test's. */
export interface Terminal {
  readonly stdin: Readable & { readonly fd?: number };
  readonly stdout: Writable & { readonly fd?: number; readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}
