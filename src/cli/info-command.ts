import pc from 'picocolors';
import { Diagnostics } from '../base/diagnostics.ts';
import { showRawBytes } from '../base/text.ts';
import { availableMemory } from '../host/available-memory.ts';
import { nativeZstd } from '../host/native-zstd.ts';
import { type RecordingInfo, readRecordingInfo } from '../info/recording-info.ts';
import type { Arguments } from './arguments.ts';
import { reportingFailures } from './failures.ts';
import { infoText } from './info-text.ts';
import { cleaningUpOnSignals } from './interrupt.ts';
import { checkPrinting } from './output-conflicts.ts';
import { DEFAULT_INPUT, firstInterrupt, withInput, withProgress } from './reading.ts';
import { standardOutput } from './standard-output.ts';
import { EXIT_DONE, EXIT_LOSS, type Terminal } from './terminal.ts';

/** `perfconv info`. What is damaged or missing is part of its result. */
export async function runInfo(args: Arguments, terminal: Terminal): Promise<number> {
  const input = args.inputs[0] ?? DEFAULT_INPUT;
  const diagnostics = new Diagnostics();
  return reportingFailures(input, terminal, async () => {
    checkPrinting([input], args, terminal);
    const stdout = standardOutput(terminal, !args.flag('json'));
    const openZstd = nativeZstd();
    const read = (): Promise<RecordingInfo> =>
      withInput(input, terminal, diagnostics, ({ source, modifiedNs }) =>
        withProgress(source, args, terminal, (onProgress) =>
          readRecordingInfo(
            source,
            {
              ...onProgress,
              anonymous: args.flag('anonymous'),
              availableMemory: availableMemory(),
              ...(openZstd && { openZstd }),
              ...(modifiedNs !== undefined && { modifiedNs }),
            },
            diagnostics,
          ),
        ),
      );
    const info = await cleaningUpOnSignals(() => {}, read, firstInterrupt(input, args, terminal));
    const text = args.flag('json')
      ? `${JSON.stringify(info, (_, value) => (typeof value === 'string' ? showRawBytes(value) : value), 2)}\n`
      : infoText(info, { verbose: args.flag('verbose'), heading: headingPainter(terminal) });
    await stdout.write(new TextEncoder().encode(text));
    return args.flag('strict') && diagnostics.hasLoss ? EXIT_LOSS : EXIT_DONE;
  });
}

function headingPainter({ stdout, env }: Terminal): (text: string) => string {
  return pc.createColors(stdout.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb').bold;
}
