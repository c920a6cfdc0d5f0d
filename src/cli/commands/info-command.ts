import { showRawBytes } from '../../base/text/text.ts';
import { availableMemory } from '../../host/system/available-memory.ts';
import { readRecordingInfo } from '../../pipeline/read-info.ts';
import type { Arguments } from '../command-line/arguments.ts';
import { checkPrinting } from '../plans/output-conflicts.ts';
import { outputColors } from '../printing/colors.ts';
import { infoText } from '../printing/info-text.ts';
import { standardOutput } from '../printing/standard-output.ts';
import { type Terminal, terminalWidth } from '../printing/terminal.ts';
import { inputsOf, Run } from '../run/run.ts';

/** `perfconv info`. What is damaged or missing is part of its result. */
export async function runInfo(args: Arguments, terminal: Terminal): Promise<number> {
  const run = new Run(inputsOf(args), args, terminal, {
    optionsOf: ({ modifiedNs }) => ({ availableMemory: availableMemory(), anonymous: args.flag('anonymous'), ...(modifiedNs !== undefined && { modifiedNs }) }),
    hasFindingsInResult: true,
  });
  checkPrinting(run.inputs, args, terminal);
  const stdout = standardOutput(terminal, !args.flag('json'));
  return run.complete(async () => {
    const info = await run.read(({ source, options, diagnostics }) => readRecordingInfo(source, options, diagnostics));
    const text = args.flag('json')
      ? `${JSON.stringify(info, (_, value) => (typeof value === 'string' ? showRawBytes(value) : value), 2)}\n`
      : infoText(info, { verbose: args.flag('verbose'), heading: outputColors(terminal).bold, ...terminalWidth(terminal) });
    await stdout.write(new TextEncoder().encode(text));
  });
}
