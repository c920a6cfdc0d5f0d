import type { ByteSink } from '../bytes/byte-sink.ts';
import { PerfconvError } from '../errors.ts';
import { systemCode } from '../host/io-error.ts';
import { openStandardOutput } from '../host/standard-output.ts';
import type { Terminal } from './terminal.ts';

/** What messages call standard output. */
const STANDARD_OUTPUT = 'standard output';

/**
 * Where a command writes its result. It is opened before the work, so that a standard output that is closed is reported at once.
 * @throws PerfconvError `io`
 */
export function standardOutput({ stdout }: Pick<Terminal, 'stdout'>): ByteSink {
  return openStandardOutput(stdout, STANDARD_OUTPUT);
}

/** Whether the reader of our standard output has gone (`| head`), which is not a failure. */
export function isReaderGone(error: unknown): boolean {
  return error instanceof PerfconvError && error.file === STANDARD_OUTPUT && systemCode(error) === 'EPIPE';
}
