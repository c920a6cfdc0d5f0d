import { PerfconvError } from '../../base/problems/errors.ts';
import { refusalOf } from '../../host/system/io-error.ts';
import { errorText } from '../printing/messages.ts';
import { printMessage } from '../printing/standard-error.ts';
import { isReaderGone } from '../printing/standard-output.ts';
import type { Terminal } from '../printing/terminal.ts';
import { EXIT_DONE, EXIT_FAILED, EXIT_USAGE } from './exit-status.ts';

/**
 * Reports in one line why work failed. It is not a failure if the reader of standard output has gone.
 * @param input the input that was read; undefined if there was none, or several
 * @returns the exit status
 * @throws what was thrown, if it is a bug in this program
 */
export function reportFailure(thrown: unknown, input: string | undefined, terminal: Terminal): number {
  const error = thrown instanceof PerfconvError ? thrown : refusalOf(thrown);
  if (error === undefined) throw thrown;
  if (isReaderGone(error)) return EXIT_DONE;
  printMessage(terminal, `perfconv: ${errorText(error, input)}`);
  return error.code === 'usage' ? EXIT_USAGE : EXIT_FAILED;
}
