import { Diagnostics } from '../base/diagnostics.ts';
import { PerfconvError } from '../base/errors.ts';
import type { OpenInput } from '../host/open-input.ts';
import type { MergeReadOptions } from '../pipeline/merge-recordings.ts';
import type { Arguments } from './arguments.ts';
import { explainingSymbols } from './explanation.ts';
import { reportingFailures } from './failures.ts';
import { reportingFindings } from './findings.ts';
import { inputLabels } from './input-labels.ts';
import { cleaningUpOnSignals } from './interrupt.ts';
import { firstInterrupt, type ReadingPlan, readOptions, withInput, withProgress } from './reading.ts';
import { EXIT_DONE, EXIT_FAILED, EXIT_USAGE, type Terminal } from './terminal.ts';

/** Reads one of several inputs. Its findings are its own. */
export type ReadInput = (input: OpenInput, label: string, options: MergeReadOptions, diagnostics: Diagnostics) => Promise<unknown>;

/**
 * Reads all inputs, one after the other. One that cannot be read is reported, and does not keep the others from the result.
 * @param keep called after each that was read; what it throws is no input's failure and ends the work
 * @throws PerfconvError `io` when none could be read
 */
export type TakeAll = (read: ReadInput, keep?: () => Promise<void>) => Promise<void>;

/**
 * Runs `work`, which makes one result of several inputs. The status is that of a failure where an input is missing from
 * the result.
 * @param diagnostics of the result
 * @param cleanUp what a signal calls before it ends the program
 */
export async function mergeInputs(
  inputs: readonly string[],
  plan: ReadingPlan,
  args: Arguments,
  terminal: Terminal,
  diagnostics: Diagnostics,
  cleanUp: () => void,
  work: (takeAll: TakeAll) => Promise<void>,
): Promise<number> {
  const labels = inputLabels(inputs);
  const statuses: number[] = [];
  const takeAll: TakeAll = async (read, keep) => {
    for (const [index, input] of inputs.entries()) {
      const status = await readInput(input, labels[index], plan, args, terminal, read);
      statuses.push(status);
      if (!isFailure(status)) await keep?.();
    }
    const bad = statuses.filter(isFailure).length;
    if (bad === inputs.length) throw new PerfconvError('io', 'none of the inputs can be read: nothing is written');
    if (bad > 0) diagnostics.add('merge-missing', 'warning', `the result holds ${inputs.length - bad} of ${inputs.length} inputs: the others cannot be read`);
  };
  const interrupt = inputs.map((input) => firstInterrupt(input, args, terminal)).find((first) => first !== undefined);
  const status = await reportingFailures(undefined, terminal, () =>
    reportingFindings(diagnostics, args, terminal, inputs[0], false, () => cleaningUpOnSignals(cleanUp, () => work(takeAll), interrupt)),
  );
  if (statuses.some(isFailure)) return EXIT_FAILED;
  return [status, ...statuses].find((one) => one !== EXIT_DONE) ?? EXIT_DONE;
}

/** Whether an input is missing from the result; one with lost data is in it. */
function isFailure(status: number): boolean {
  return status === EXIT_FAILED || status === EXIT_USAGE;
}

function readInput(input: string, label: string, plan: ReadingPlan, args: Arguments, terminal: Terminal, read: ReadInput): Promise<number> {
  const diagnostics = new Diagnostics();
  return reportingFailures(input, terminal, () =>
    reportingFindings(diagnostics, args, terminal, input, true, async () => {
      await withInput(input, terminal, diagnostics, (opened) =>
        explainingSymbols(args, terminal, (onSymbols) =>
          withProgress(opened.source, args, terminal, (onProgress) =>
            read(opened, label, { ...readOptions(plan, opened, diagnostics), ...onProgress, ...onSymbols }, diagnostics),
          ),
        ),
      );
    }),
  );
}
