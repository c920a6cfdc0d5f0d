import { STANDARD_STREAM } from '../../base/names/input-names.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { DIFF_KEYS } from '../../pipeline/choices.ts';
import { type DiffSide, readForDiff, writeDiff } from '../../pipeline/diff.ts';
import { REPORT_DEMANGLE } from '../../pipeline/report.ts';
import type { Arguments } from '../command-line/arguments.ts';
import { checkPrinting } from '../plans/output-conflicts.ts';
import { optionsByPlan, planReading } from '../plans/reading.ts';
import { checkSymbolPaths } from '../plans/symbol-paths.ts';
import { outputColors } from '../printing/colors.ts';
import { tableOptions, untilReaderIsGone } from '../printing/printed-tables.ts';
import { standardOutput } from '../printing/standard-output.ts';
import type { Terminal } from '../printing/terminal.ts';
import { Run } from '../run/run.ts';

/** `perfconv diff`. */
export async function runDiff(args: Arguments, terminal: Terminal): Promise<number> {
  const { inputs } = args;
  if (inputs.length !== 2) {
    const given = inputs.length === 0 ? 'none is given' : inputs.length === 1 ? 'only one is given' : `${inputs.length} are given`;
    throw new PerfconvError('usage', `perfconv diff compares two recordings, but ${given}: perfconv diff BASE NEW`);
  }
  if (inputs.every((input) => input === STANDARD_STREAM)) throw new PerfconvError('usage', 'standard input can be read only once');
  const plan = planReading(args, terminal, { demangle: REPORT_DEMANGLE });
  const options = {
    ...tableOptions(args, terminal),
    sort: args.choices('sort', DIFF_KEYS) ?? (['function', 'dso'] as const),
    absolute: args.flag('absolute'),
    paintChange: changePainter(terminal),
  };
  checkPrinting(inputs, args, terminal);
  checkSymbolPaths(args, terminal);
  const stdout = standardOutput(terminal, options.layout === 'text');
  const run = new Run(inputs, args, terminal, { optionsOf: optionsByPlan(plan) });
  return run.complete(() =>
    untilReaderIsGone(async () => {
      const sides: DiffSide[] = [];
      const { children } = options;
      const areAllRead = await run.readAll(async ({ source, options: reading, diagnostics }, label) => {
        sides.push({ label, profile: await readForDiff(source, { ...reading, children }, diagnostics) });
      });
      const [base, next] = sides;
      if (areAllRead) await writeDiff(base, next, stdout, options, run.diagnostics);
    }),
  );
}

/** Paints what became slower beyond noise red, and what became faster green. */
function changePainter(terminal: Terminal): (text: string, direction: number) => string {
  const colors = outputColors(terminal);
  return (text, direction) => (direction > 0 ? colors.red(text) : direction < 0 ? colors.green(text) : text);
}
