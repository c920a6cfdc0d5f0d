import type { ByteSink } from '../base/byte-sink.ts';
import { PerfconvError } from '../base/errors.ts';
import { systemCode } from '../host/io-error.ts';
import { openStandardOutput } from '../host/standard-output.ts';
import type { Terminal } from './terminal.ts';
import { TerminalSink } from './terminal-sink.ts';

/** What messages call standard output. */
const STANDARD_OUTPUT = 'standard output';

/**
 * Where a command writes its result. It is opened before the work, so that a standard output that is closed is reported at once. Bytes go out
 * as they are, but for a terminal: see {@link TerminalSink}.
 * @param isColoured whether the text may have colours of ours
 * @throws PerfconvError `io`
 */
export function standardOutput({ stdout }: Pick<Terminal, 'stdout'>, isColoured = false): ByteSink {
  const sink = openStandardOutput(stdout, STANDARD_OUTPUT);
  return stdout.isTTY ? new TerminalSink(sink, isColoured) : sink;
}

/** Whether the reader of our standard output has gone (`| head`), which is not a failure. */
export function isReaderGone(error: unknown): boolean {
  return error instanceof PerfconvError && error.file === STANDARD_OUTPUT && systemCode(error) === 'EPIPE';
}
