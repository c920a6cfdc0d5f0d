import { printable } from '../../base/text/printable.ts';
import type { Terminal } from './terminal.ts';

const CLEAR_LINE = '\r\x1b[2K';

/**
 * Prints one line on standard error. Everything in it that a terminal would act on is escaped, including line breaks,
 * so that no name from a recording can pass for a line of this program. That holds for files, too: they are shown on a
 * terminal sooner or later.
 */
export function printMessage({ stderr }: Pick<Terminal, 'stderr'>, line: string): void {
  stderr.write(`${printable(line)}\n`);
}

/** Reports a bug in this program, with what shows where it is. */
export function printInternalError(terminal: Pick<Terminal, 'stderr'>, thrown: unknown): void {
  const detail = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  for (const line of `perfconv: internal error, please report it: ${detail}`.split('\n')) printMessage(terminal, line);
}

/** Replaces the current line of a terminal by a text, and leaves the cursor after it. */
export function redrawLine({ stderr }: Pick<Terminal, 'stderr'>, text: string): void {
  stderr.write(CLEAR_LINE + printable(text));
}
