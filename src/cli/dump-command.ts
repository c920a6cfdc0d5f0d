import { Diagnostics } from '../base/diagnostics.ts';
import { nativeZstd } from '../host/native-zstd.ts';
import { RECORD_TYPES } from '../pipeline/choices.ts';
import { dump } from '../records/dump.ts';
import type { Arguments } from './arguments.ts';
import { reportingFailures } from './failures.ts';
import { reportingFindings } from './findings.ts';
import { cleaningUpOnSignals } from './interrupt.ts';
import { checkPrinting } from './output-conflicts.ts';
import { DEFAULT_INPUT, firstInterrupt, withInput, withProgress } from './reading.ts';
import { standardOutput } from './standard-output.ts';
import type { Terminal } from './terminal.ts';

/** `perfconv dump`. */
export async function runDump(args: Arguments, terminal: Terminal): Promise<number> {
  const input = args.inputs[0] ?? DEFAULT_INPUT;
  checkPrinting([input], args, terminal);
  const types = args.choices('type', RECORD_TYPES);
  const openZstd = nativeZstd();
  const options = { json: args.flag('json'), ...(types && { types }), ...(openZstd && { openZstd }) };
  const diagnostics = new Diagnostics();
  const sink = standardOutput(terminal);
  const read = (): Promise<void> =>
    withInput(input, terminal, diagnostics, ({ source }) =>
      withProgress(source, args, terminal, (onProgress) => dump(source, sink, { ...options, ...onProgress }, diagnostics)),
    );
  return reportingFailures(input, terminal, () =>
    reportingFindings(diagnostics, args, terminal, input, false, () => cleaningUpOnSignals(() => {}, read, firstInterrupt(input, args, terminal))),
  );
}
