import { PerfconvError } from '../base/errors.ts';
import { refusalOf } from '../host/io-error.ts';
import { errorText } from './messages.ts';
import { printMessage } from './standard-error.ts';
import { isReaderGone } from './standard-output.ts';
import { EXIT_DONE, EXIT_FAILED, EXIT_USAGE, type Terminal } from './terminal.ts';

/**
 * Runs a command's work on one input. An error becomes one line on standard error and a status; only one that is our
 * own mistake goes further.
 */
export async function reportingFailures(input: string | undefined, terminal: Terminal, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (thrown) {
    const error = thrown instanceof PerfconvError ? thrown : refusalOf(thrown);
    if (error === undefined) throw thrown;
    if (isReaderGone(error)) return EXIT_DONE;
    printMessage(terminal, `perfconv: ${errorText(error, input)}`);
    return error.code === 'usage' ? EXIT_USAGE : EXIT_FAILED;
  }
}
