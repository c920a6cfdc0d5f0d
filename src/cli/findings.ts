import type { Diagnostics } from '../base/diagnostics.ts';
import { PerfconvError } from '../base/errors.ts';
import type { Arguments } from './arguments.ts';
import { displayName, errorText, lossLines, summaryLines } from './messages.ts';
import { printMessage } from './standard-error.ts';
import { EXIT_DONE, EXIT_LOSS, type Terminal } from './terminal.ts';

/**
 * Runs a command's work on one input, says at its end what was found on the way (with `--quiet` only that data was lost), and gives the
 * status. That there are no samples is often explained by what was found: then it is said, too, before the error.
 * @param isOneOfSeveral whether the lines name the input
 */
export async function reportingFindings(
  diagnostics: Diagnostics,
  args: Arguments,
  terminal: Terminal,
  input: string,
  isOneOfSeveral: boolean,
  work: () => Promise<void>,
): Promise<number> {
  const printSummary = (): void => {
    const found = diagnostics.list();
    const lines = args.flag('quiet') ? lossLines(found) : summaryLines(found, args.flag('verbose'));
    const prefix = isOneOfSeveral ? `perfconv: ${displayName(input)}` : 'perfconv';
    for (const line of lines) printMessage(terminal, `${prefix}: ${line}`);
  };
  const isLossy = (): boolean => args.flag('strict') && diagnostics.hasLoss;
  try {
    await work();
  } catch (error) {
    if (!(error instanceof PerfconvError) || error.code !== 'no-samples') throw error;
    printSummary();
    if (!isLossy()) throw error;
    printMessage(terminal, `perfconv: ${errorText(error, input)}`);
    return EXIT_LOSS;
  }
  printSummary();
  return isLossy() ? EXIT_LOSS : EXIT_DONE;
}
