import pc from 'picocolors';
import { REPORT_KEYS, WEIGHTS } from '../choices.ts';
import { Diagnostics } from '../diagnostics.ts';
import { WritableSink } from '../host/writable-sink.ts';
import { report } from '../report.ts';
import type { Arguments } from './arguments.ts';
import { isReaderGone, reportingFailures, STANDARD_OUTPUT } from './failures.ts';
import { reportingFindings } from './findings.ts';
import { cleaningUpOnSignals } from './interrupt.ts';
import { DEFAULT_INPUT, firstInterrupt, planReading, readOptions, withInput, withProgress } from './reading.ts';
import { checkSymbolPaths } from './symbol-paths.ts';
import type { Terminal } from './terminal.ts';

/** From how many per cent on perf report shows a number in red and in green. */
const HOT_PERCENT = 5;
const WARM_PERCENT = 0.5;

/** `perfconv report`. */
export async function runReport(args: Arguments, terminal: Terminal): Promise<number> {
  const input = args.inputs[0] ?? DEFAULT_INPUT;
  const plan = planReading(args);
  const limit = args.count('limit');
  const weight = args.choice('weight', WEIGHTS);
  const options = {
    sort: args.choices('sort', REPORT_KEYS) ?? (['function', 'dso'] as const),
    children: args.flag('children'),
    paintPercent: percentPainter(terminal),
    ...(limit !== undefined && { limit }),
    ...(weight && { weight }),
  };
  checkSymbolPaths(args);
  const diagnostics = new Diagnostics();
  const sink = new WritableSink(terminal.stdout, STANDARD_OUTPUT);
  const read = (): Promise<void> =>
    withInput(input, terminal, (opened) =>
      withProgress(opened.source, args, terminal, (onProgress) =>
        report(opened.source, sink, { ...readOptions(plan, opened, diagnostics), ...options, ...onProgress }, diagnostics),
      ),
    );
  return reportingFailures(input, terminal, () =>
    reportingFindings(diagnostics, args, terminal, input, false, async () => {
      try {
        await cleaningUpOnSignals(() => {}, read, firstInterrupt(input, args, terminal));
      } catch (error) {
        if (!isReaderGone(error)) throw error;
      }
    }),
  );
}

function percentPainter({ stdout, env }: Terminal): (text: string, percent: number) => string {
  const colors = pc.createColors(stdout.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb');
  return (text, percent) => (percent >= HOT_PERCENT ? colors.red(text) : percent >= WARM_PERCENT ? colors.green(text) : text);
}
