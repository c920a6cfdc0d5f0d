import { PerfconvError } from '../../base/problems/errors.ts';
import { REPORT_KEYS, TREE_LEVELS } from '../../pipeline/choices.ts';
import { needsOfReport, REPORT_DEMANGLE, report, writeReport } from '../../pipeline/report.ts';
import type { Arguments } from '../command-line/arguments.ts';
import { checkDistinct, checkPrinting } from '../plans/output-conflicts.ts';
import { optionsByPlan, planReading } from '../plans/reading.ts';
import { checkSymbolPaths } from '../plans/symbol-paths.ts';
import { outputColors } from '../printing/colors.ts';
import { tableOptions, untilReaderIsGone } from '../printing/printed-tables.ts';
import { standardOutput } from '../printing/standard-output.ts';
import type { Terminal } from '../printing/terminal.ts';
import { inputsOf, Run } from '../run/run.ts';

/** The percentages from which perf report shows a number in red and in green. */
const HOT_PERCENT = 5;
const WARM_PERCENT = 0.5;

/** `perfconv report`. */
export async function runReport(args: Arguments, terminal: Terminal): Promise<number> {
  const inputs = inputsOf(args);
  const plan = planReading(args, terminal, { demangle: REPORT_DEMANGLE });
  const options = {
    ...tableOptions(args, terminal),
    tree: treeOptions(args),
    sort: args.choices('sort', REPORT_KEYS) ?? (['function', 'dso'] as const),
    compatPerf: plan.naming.compatPerf,
    paintPercent: percentPainter(terminal),
  };
  checkPrinting(inputs, args, terminal);
  if (inputs.length > 1) checkDistinct(inputs, terminal);
  checkSymbolPaths(args, terminal);
  const stdout = standardOutput(terminal, options.layout === 'text');
  const run = new Run(inputs, args, terminal, { optionsOf: optionsByPlan(plan) });
  return run.complete(() =>
    untilReaderIsGone(async () => {
      if (inputs.length === 1) {
        await run.read((recording) => report(recording.source, stdout, { ...recording.options, ...options }, recording.diagnostics));
      } else {
        const { RecordingMerger } = await import('../../pipeline/merge-recordings.ts');
        const merger = new RecordingMerger(plan.filter, run.diagnostics);
        const needs = needsOfReport({ ...plan.naming, ...options });
        await run.readEach((recording, label) => merger.add(recording.source, label, needs, recording.options, recording.diagnostics));
        const profile = merger.finish();
        merger.requireSamples(profile);
        await writeReport(profile, stdout, options);
      }
    }),
  );
}

/** What is special about a tree; undefined if none is asked for. @throws PerfconvError `usage` */
function treeOptions(args: Arguments) {
  const percentLimit = args.percent('percent-limit');
  if (!args.flag('tree')) {
    if (percentLimit !== undefined) throw new PerfconvError('usage', '--percent-limit needs --tree');
    return undefined;
  }
  if (args.flag('children')) throw new PerfconvError('usage', '--tree cannot be combined with --children: shares in a tree always include callees');
  const keys = args.choices('sort', REPORT_KEYS) ?? [];
  if (keys.includes('event')) throw new PerfconvError('usage', '--sort event cannot be combined with --tree: each event has a tree of its own');
  const levels = keys.flatMap((key) => TREE_LEVELS.filter((level) => level === key));
  return { levels, ...(percentLimit !== undefined && { percentLimit }) };
}

function percentPainter(terminal: Terminal): (text: string, percent: number) => string {
  const colors = outputColors(terminal);
  return (text, percent) => (percent >= HOT_PERCENT ? colors.red(text) : percent >= WARM_PERCENT ? colors.green(text) : text);
}
