import { PerfconvError } from '../base/errors.ts';
import { GzipSink } from '../host/gzip-sink.ts';
import type { OutputStage } from '../host/output-stage.ts';
import { CSV_TABLE_NAMES } from '../pipeline/choices.ts';
import type { ConvertOutput } from '../pipeline/convert.ts';
import type { Arguments } from './arguments.ts';
import { displayName } from './messages.ts';
import { type PlannedOutput, STANDARD_STREAM } from './outputs.ts';
import { printMessage } from './standard-error.ts';
import { isReaderGone, standardOutput } from './standard-output.ts';
import type { Terminal } from './terminal.ts';

/**
 * Opens outputs and gives them to `write`. That comes before the work: an output that cannot be written is told at once.
 * Files are the stage's to commit or discard.
 * @throws PerfconvError `io`; what `write` throws, unless the reader of standard output is gone
 */
export async function withOutputs(
  stage: OutputStage,
  planned: readonly PlannedOutput[],
  terminal: Terminal,
  write: (outputs: readonly ConvertOutput[]) => Promise<unknown>,
): Promise<void> {
  const outputs: ConvertOutput[] = [];
  let compressor: GzipSink | undefined;
  for (const { format, gzip, path } of planned) {
    if (format === 'csv') {
      outputs.push({ format, openTable: await stage.openDirectory(path, CSV_TABLE_NAMES) });
    } else if (path === STANDARD_STREAM) {
      const stdout = standardOutput(terminal);
      if (gzip) compressor = new GzipSink(stdout);
      outputs.push({ format, sink: compressor ?? stdout, isTerminal: terminal.stdout.isTTY ?? false });
    } else {
      outputs.push({ format, sink: await stage.openFile(path, gzip) });
    }
  }
  try {
    await write(outputs);
    await compressor?.end();
  } catch (error) {
    await compressor?.destroy();
    // Standard output comes last: whatever else was asked for is written.
    if (!isReaderGone(error)) throw error;
  }
}

/** Puts all outputs in their places, and says which of them stayed the files that they were. @throws PerfconvError `io`, `usage` */
export async function commitOutputs(stage: OutputStage, args: Arguments, terminal: Terminal): Promise<void> {
  const inPlace = await stage.commit();
  if (args.flag('quiet')) return;
  for (const { name, reason } of inPlace) printMessage(terminal, `perfconv: wrote ${displayName(name)} in place: ${reason}`);
}

/** Refuses bytes that a terminal cannot show. @throws PerfconvError `usage` */
export function checkTerminal(outputs: readonly PlannedOutput[], { stdout }: Terminal): void {
  const isBinary = outputs.some(({ path, gzip, format }) => path === STANDARD_STREAM && (gzip || format === 'pprof'));
  if (stdout.isTTY && isBinary) throw new PerfconvError('usage', 'the output is binary and standard output is a terminal: give -o FILE');
}
