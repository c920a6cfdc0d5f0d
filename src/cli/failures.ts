import { PerfconvError } from '../base/errors.ts';
import { refusalOf } from '../host/io-error.ts';
import { errorText } from './messages.ts';
import { printMessage } from './standard-error.ts';
import { isReaderGone } from './standard-output.ts';
import { EXIT_DONE, EXIT_FAILED, EXIT_USAGE, type Terminal } from './terminal.ts';

/**
 * Reports why work failed, in one line. That the reader of standard output is gone is no failure.
 * @param input what was read; undefined where it was nothing, or several inputs
 * @returns the exit status
 * @throws what was thrown, where it is a mistake of our own
 */
export function reportFailure(thrown: unknown, input: string | undefined, terminal: Terminal): number {
  const error = thrown instanceof PerfconvError ? thrown : refusalOf(thrown);
  if (error === undefined) throw thrown;
  if (isReaderGone(error)) return EXIT_DONE;
  printMessage(terminal, `perfconv: ${errorText(error, input)}`);
  return error.code === 'usage' ? EXIT_USAGE : EXIT_FAILED;
}
