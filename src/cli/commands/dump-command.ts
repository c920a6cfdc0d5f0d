import { RECORD_TYPES } from '../../pipeline/choices.ts';
import { dump } from '../../records/dump.ts';
import type { Arguments } from '../command-line/arguments.ts';
import { checkPrinting } from '../plans/output-conflicts.ts';
import { standardOutput } from '../printing/standard-output.ts';
import type { Terminal } from '../printing/terminal.ts';
import { inputsOf, Run } from '../run/run.ts';

/** `perfconv dump`. */
export async function runDump(args: Arguments, terminal: Terminal): Promise<number> {
  const run = new Run(inputsOf(args), args, terminal, { optionsOf: () => ({}) });
  checkPrinting(run.inputs, args, terminal);
  const types = args.choices('type', RECORD_TYPES);
  const stdout = standardOutput(terminal);
  return run.complete(() =>
    run.read(({ source, options, diagnostics }) => dump(source, stdout, { ...options, json: args.flag('json'), ...(types && { types }) }, diagnostics)),
  );
}
