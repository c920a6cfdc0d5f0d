import { existsSync } from 'node:fs';
import { PerfconvError } from '../../base/problems/errors.ts';
import { statNow } from '../../host/system/stat-now.ts';
import { systemPath } from '../../host/system/system-path.ts';
import { convert } from '../../pipeline/convert.ts';
import { FORMATS } from '../../pipeline/formats.ts';
import type { WriteOptions } from '../../pipeline/write-profile.ts';
import type { Arguments } from '../command-line/arguments.ts';
import { COMMANDS } from '../command-line/commands.ts';
import { didYouMean } from '../command-line/did-you-mean.ts';
import { type Conversion, checkConflicts, checkDistinct, checkTerminal } from '../plans/output-conflicts.ts';
import { planOutputs } from '../plans/outputs.ts';
import { optionsByPlan, planReading, type ReadingPlan } from '../plans/reading.ts';
import { checkSymbolPaths } from '../plans/symbol-paths.ts';
import { planWriting, reportPackedTables, reportUnusedOptions } from '../plans/writing.ts';
import type { Terminal } from '../printing/terminal.ts';
import { EXIT_DONE, EXIT_FAILED } from '../run/exit-status.ts';
import { inputsOf, Run } from '../run/run.ts';
import { convertMerged } from './convert-merged.ts';

/** `perfconv convert`. All options are checked before any input is read. */
export async function runConvert(args: Arguments, terminal: Terminal): Promise<number> {
  const inputs = inputsOf(args);
  checkNoCommand(args.inputs[0]);
  checkNoFormats(inputs);
  const outputs = args.texts('output');
  const format = args.choice('format', FORMATS);
  const reading = planReading(args, terminal);
  const writing = planWriting(args);
  const isMerging = inputs.length > 1 && outputs.length > 0;
  const conversions = (isMerging ? [inputs] : inputs.map((input) => [input])).map(
    (each): Conversion => ({ inputs: each, outputs: planOutputs(each[0], outputs, format, isDirectory) }),
  );
  const planned = conversions.flatMap((conversion) => conversion.outputs);
  if (isMerging) {
    const { requireMergeable } = await import('../../pipeline/merge-recordings.ts');
    const formats = planned.map((output) => output.format);
    requireMergeable(formats, 'leave out -o to convert each separately');
  }
  checkTerminal(planned, terminal);
  checkConflicts(conversions, args, terminal);
  if (isMerging) checkDistinct(inputs, terminal);
  checkSymbolPaths(args, terminal);

  const plan = { reading, writing, args, terminal, isOneOfSeveral: conversions.length > 1 };
  const statuses: number[] = [];
  // A bad recording does not prevent the others from being converted.
  for (const conversion of conversions) statuses.push(await convertTo(conversion, plan));
  return statuses.includes(EXIT_FAILED) ? EXIT_FAILED : (statuses.findLast((status) => status !== EXIT_DONE) ?? EXIT_DONE);
}

/** What all conversions of a command line have in common. */
interface ConversionPlan {
  readonly reading: ReadingPlan;
  readonly writing: WriteOptions;
  readonly args: Arguments;
  readonly terminal: Terminal;
  readonly isOneOfSeveral: boolean;
}

async function convertTo({ inputs, outputs: planned }: Conversion, { reading, writing, args, terminal, isOneOfSeveral }: ConversionPlan): Promise<number> {
  const run = new Run(inputs, args, terminal, { optionsOf: optionsByPlan(reading), isOneOfSeveral });
  return run.complete(async () => {
    reportUnusedOptions(planned, args, run.diagnostics);
    reportPackedTables(planned, run.diagnostics);
    if (inputs.length === 1) {
      await run.read(async ({ source, options, diagnostics }) => {
        const outputs = await run.openOutputs(planned, reading.openedFiles);
        await outputs.written(convert(source, outputs.all, { ...options, ...writing }, diagnostics));
      });
    } else {
      const outputs = await run.openOutputs(planned, reading.openedFiles);
      await outputs.written(convertMerged(run, outputs.all, { ...writing, filter: reading.filter }));
    }
    await run.commitOutputs();
  });
}

/** Refuses a first word that is not a file but almost the name of a command, since it was probably meant as one. */
function checkNoCommand(word: string | undefined): void {
  // The exact name of a command is meant as a file here, as in `convert convert` and `-- report`.
  if (word === undefined || COMMANDS.some(({ name }) => name === word) || existsSync(systemPath(word))) return;
  const hint = didYouMean(
    word,
    COMMANDS.map(({ name }) => name),
  );
  if (hint !== '') throw new PerfconvError('usage', `there is no file or command ${word}${hint}`);
}

function checkNoFormats(inputs: readonly string[]): void {
  const format = inputs.find((word) => FORMATS.some((name) => name === word) && !existsSync(systemPath(word)));
  if (format !== undefined) throw new PerfconvError('usage', `there is no file ${format}; for the format, give -t ${format}`);
}

/** @throws PerfconvError `io` if the path cannot be looked up: the output could not be written either */
function isDirectory(path: string): boolean {
  return statNow(path, path)?.isDirectory() ?? false;
}
