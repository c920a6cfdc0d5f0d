import type { Readable, Writable } from 'node:stream';

/** The streams that a command reads and writes: those of the process, or a test's. */
export interface Terminal {
  readonly stdin: Readable & { readonly fd?: number };
  readonly stdout: Writable & { readonly fd?: number; readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How wide standard output is; empty if it does not go to a terminal. */
export function terminalWidth({ stdout }: Terminal): { readonly width?: number } {
  return stdout.isTTY === true && stdout.columns !== undefined && stdout.columns > 0 ? { width: stdout.columns } : {};
}
