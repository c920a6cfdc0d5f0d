import { existsSync, statSync } from 'node:fs';
import { Diagnostics } from '../base/diagnostics.ts';
import { PerfconvError } from '../base/errors.ts';
import { ioError } from '../host/io-error.ts';
import type { OpenInput } from '../host/open-input.ts';
import { OutputStage } from '../host/output-stage.ts';
import { systemPath } from '../host/system-path.ts';
import { convert } from '../pipeline/convert.ts';
import { FORMATS, FORMATS_TO_COME, type Format } from '../pipeline/formats.ts';
import type { WriteOptions } from '../pipeline/write-profile.ts';
import type { Arguments } from './arguments.ts';
import { didYouMean } from './did-you-mean.ts';
import { explainingSymbols } from './explanation.ts';
import { reportingFailures } from './failures.ts';
import { reportingFindings } from './findings.ts';
import { cleaningUpOnSignals } from './interrupt.ts';
import { displayName } from './messages.ts';
import { checkTerminal, commitOutputs, withOutputs } from './open-outputs.ts';
import { COMMANDS } from './options.ts';
import { checkConflicts } from './output-conflicts.ts';
import { type PlannedOutput, planOutputs } from './outputs.ts';
import { DEFAULT_INPUT, firstInterrupt, planReading, type ReadingPlan, readOptions, withInput, withProgress } from './reading.ts';
import { printMessage } from './standard-error.ts';
import { checkSymbolPaths } from './symbol-paths.ts';
import { EXIT_DONE, EXIT_FAILED, type Terminal } from './terminal.ts';
import { planWriting, reportUnusedOptions } from './writing.ts';

interface Plan {
  readonly input: string;
  readonly reading: ReadingPlan;
  readonly writing: WriteOptions;
  readonly outputs: readonly PlannedOutput[];
}

/** `perfconv convert`. Everything that the options say is checked before anything is done. */
export async function runConvert(args: Arguments, terminal: Terminal, version: string): Promise<number> {
  const inputs = args.inputs.length > 0 ? args.inputs : [DEFAULT_INPUT];
  checkNoCommand(args.inputs[0]);
  checkNoFormats(inputs);
  const outputs = args.texts('output');
  const format = readFormat(args);
  const reading = planReading(args, terminal);
  const writing = planWriting(args, version);
  if (inputs.length > 1 && outputs.length > 0) {
    const { runMergedConvert } = await import('./convert-merged-command.ts');
    return runMergedConvert({ inputs, reading, writing, outputs: planOutputs(inputs[0], outputs, format, isDirectory) }, args, terminal);
  }
  const plans = inputs.map((input): Plan => ({ input, reading, writing, outputs: planOutputs(input, outputs, format, isDirectory) }));
  checkTerminal(
    plans.flatMap((plan) => plan.outputs),
    terminal,
  );
  checkConflicts(plans, args, terminal);
  checkSymbolPaths(args, terminal);

  let status = EXIT_DONE;
  for (const plan of plans) {
    // One bad recording does not keep the others from being converted.
    const next = await reportingFailures(plan.input, terminal, () => convertOne(plan, args, terminal, plans.length > 1));
    status = status === EXIT_FAILED ? status : next === EXIT_DONE ? status : next;
  }
  return status;
}

async function convertOne(plan: Plan, args: Arguments, terminal: Terminal, isOneOfSeveral: boolean): Promise<number> {
  const diagnostics = new Diagnostics();
  reportUnusedOptions(plan.outputs, args, diagnostics);
  return reportingFindings(diagnostics, args, terminal, plan.input, isOneOfSeveral, async () => {
    const stage = new OutputStage({ opened: plan.reading.openedFiles });
    try {
      await cleaningUpOnSignals(
        () => stage.discardNow(),
        async () => {
          await withInput(plan.input, terminal, diagnostics, (input) => writeOutputs(stage, input, plan, args, terminal, diagnostics));
          await commitOutputs(stage, args, terminal);
        },
        firstInterrupt(plan.input, args, terminal),
      );
    } finally {
      await stage.discard();
    }
    if (args.flag('quiet')) return;
    for (const { path, isChosen } of plan.outputs) if (!isChosen) printMessage(terminal, `perfconv: wrote ${displayName(path)}`);
  });
}

async function writeOutputs(stage: OutputStage, input: OpenInput, plan: Plan, args: Arguments, terminal: Terminal, diagnostics: Diagnostics): Promise<void> {
  await withOutputs(stage, plan.outputs, terminal, (outputs) =>
    explainingSymbols(args, terminal, (onSymbols) =>
      withProgress(input.source, args, terminal, (onProgress) =>
        convert(input.source, outputs, { ...readOptions(plan.reading, input, diagnostics), ...plan.writing, ...onProgress, ...onSymbols }, diagnostics),
      ),
    ),
  );
}

/** A first word that is no file is rather a command, if it is nearly the name of one. */
function checkNoCommand(word: string | undefined): void {
  // A command's own name was meant for a file, as in `convert convert` and `-- report`.
  if (word === undefined || COMMANDS.some(({ name }) => name === word) || existsSync(systemPath(word))) return;
  const hint = didYouMean(
    word,
    COMMANDS.map(({ name }) => name),
  );
  if (hint !== '') throw new PerfconvError('usage', `there is no file and no command ${word}${hint}`);
}

function checkNoFormats(inputs: readonly string[]): void {
  const format = inputs.find((word) => FORMATS.some((name) => name === word) && !existsSync(systemPath(word)));
  if (format !== undefined) throw new PerfconvError('usage', `there is no file ${format}; the format is -t ${format}`);
}

function readFormat(args: Arguments): Format | undefined {
  const text = args.text('format');
  if (FORMATS_TO_COME.some(({ name }) => name === text)) throw new PerfconvError('usage', `the format ${text} is not there yet`);
  return args.choice('format', FORMATS);
}

/** @throws PerfconvError `io` where nobody can know: the output could not be written either */
function isDirectory(path: string): boolean {
  try {
    return statSync(systemPath(path), { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch (error) {
    throw ioError(error, path);
  }
}
