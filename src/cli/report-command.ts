import pc from 'picocolors';
import type { ByteSink } from '../base/byte-sink.ts';
import { Diagnostics } from '../base/diagnostics.ts';
import { REPORT_KEYS, WEIGHTS } from '../pipeline/choices.ts';
import { REPORT_NAMING, type ReportOptions, report, reportLeaf, writeReport } from '../pipeline/report.ts';
import type { Arguments } from './arguments.ts';
import { explainingSymbols } from './explanation.ts';
import { reportingFailures } from './failures.ts';
import { reportingFindings } from './findings.ts';
import { cleaningUpOnSignals } from './interrupt.ts';
import { checkDistinct, checkPrinting } from './output-conflicts.ts';
import { DEFAULT_INPUT, firstInterrupt, planReading, type ReadingPlan, readOptions, withInput, withProgress } from './reading.ts';
import { isReaderGone, standardOutput } from './standard-output.ts';
import { checkSymbolPaths } from './symbol-paths.ts';
import type { Terminal } from './terminal.ts';

/** From how many per cent on perf report shows a number in red and in green. */
const HOT_PERCENT = 5;
const WARM_PERCENT = 0.5;

/** `perfconv report`. */
export async function runReport(args: Arguments, terminal: Terminal): Promise<number> {
  const inputs = args.inputs.length > 0 ? args.inputs : [DEFAULT_INPUT];
  const plan = planReading(args, terminal, REPORT_NAMING);
  const limit = args.count('limit');
  const weight = args.choice('weight', WEIGHTS);
  const options = {
    sort: args.choices('sort', REPORT_KEYS) ?? (['function', 'dso'] as const),
    children: args.flag('children'),
    compatPerf: plan.symbols.compatPerf,
    paintPercent: percentPainter(terminal),
    ...(limit !== undefined && { limit }),
    ...(weight && { weight }),
  };
  checkPrinting(inputs, args, terminal);
  if (inputs.length > 1) checkDistinct(inputs, terminal);
  checkSymbolPaths(args, terminal);
  const diagnostics = new Diagnostics();
  const sink = standardOutput(terminal, true);
  if (inputs.length > 1) return reportMerged(inputs, plan, options, sink, args, terminal, diagnostics);
  const [input] = inputs;
  const read = (): Promise<void> =>
    withInput(input, terminal, diagnostics, (opened) =>
      explainingSymbols(args, terminal, (onSymbols) =>
        withProgress(opened.source, args, terminal, (onProgress) =>
          report(opened.source, sink, { ...readOptions(plan, opened, diagnostics), ...options, ...onProgress, ...onSymbols }, diagnostics),
        ),
      ),
    );
  return reportingFailures(input, terminal, () =>
    reportingFindings(diagnostics, args, terminal, input, false, () =>
      untilReaderIsGone(() => cleaningUpOnSignals(() => {}, read, firstInterrupt(input, args, terminal))),
    ),
  );
}

async function reportMerged(
  inputs: readonly string[],
  plan: ReadingPlan,
  options: ReportOptions,
  sink: ByteSink,
  args: Arguments,
  terminal: Terminal,
  diagnostics: Diagnostics,
): Promise<number> {
  const [{ mergeInputs }, { RecordingMerger }] = await Promise.all([import('./merging.ts'), import('../pipeline/merge-recordings.ts')]);
  const merger = new RecordingMerger(plan.filter, false, diagnostics);
  return mergeInputs(
    inputs,
    plan,
    args,
    terminal,
    diagnostics,
    () => {},
    (takeAll) =>
      untilReaderIsGone(async () => {
        await takeAll(({ source }, label, reading, ofInput) => merger.add(source, label, { ...reportLeaf(reading.compatPerf), ...reading }, ofInput));
        const profile = merger.finish();
        merger.requireSamples(profile);
        await writeReport(profile, sink, options);
      }),
  );
}

async function untilReaderIsGone(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isReaderGone(error)) throw error;
  }
}

function percentPainter({ stdout, env }: Terminal): (text: string, percent: number) => string {
  const colors = pc.createColors(stdout.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb');
  return (text, percent) => (percent >= HOT_PERCENT ? colors.red(text) : percent >= WARM_PERCENT ? colors.green(text) : text);
}
