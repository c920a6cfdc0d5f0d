import { printable } from '../base/printable.ts';
import type { Terminal } from './terminal.ts';

const CLEAR_LINE = '\r\x1b[2K';

/**
 * Prints one line on standard error. Everything in it that a terminal would act on is escaped, line breaks too, so that no name can pass for a
 * line of ours; also where it goes into a file, which is shown on a terminal one day.
 */
export function printMessage({ stderr }: Pick<Terminal, 'stderr'>, line: string): void {
  stderr.write(`${printable(line)}\n`);
}

/** Puts a text in place of the line that the cursor of a terminal is in, and leaves the cursor after it. */
export function redrawLine({ stderr }: Pick<Terminal, 'stderr'>, text: string): void {
  stderr.write(CLEAR_LINE + printable(text));
}
