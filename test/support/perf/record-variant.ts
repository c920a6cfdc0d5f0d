import { spawnSync } from 'node:child_process';
import { closeSync, openSync, statSync } from 'node:fs';
import { noteRecorded } from './kept-recordings.ts';
import { reportArgs } from './perf-report-text.ts';
import { ENDED_BY_SIGNAL, lastLines, recordArgs, runTool, whyMissing } from './perf-tool.ts';

/** A way of recording. */
export interface Variant {
  readonly name: string;
  /** Arguments of `perf record` before `-o FILE`. */
  readonly record: readonly string[];
  /** The command that is recorded, run in the workloads' directory; default the program with threads. */
  readonly workload?: readonly string[];
  /** Whether it is written through standard output: `-o -`. */
  readonly pipe?: boolean;
  /** Whether `perf report` will read it. True by default. */
  readonly isReported?: boolean;
}

/** perf 6.1 crashes on about one in a hundred pipe recordings, each time that it reads them, so they cannot be compared with anything. */
const MAX_UNREADABLE = 3;

/**
 * Records a variant's program into `file`, and once more if perf crashes on what it has written.
 * @param directory holds the workloads (see buildWorkloads), and is where the program runs
 * @returns why perf could not; undefined when it could
 */
export function recordVariant(variant: Variant, file: string, directory: string): string | undefined {
  const workload = variant.workload ?? ['./threads', '2'];
  const [program = ''] = workload;
  if (!program.startsWith('./')) {
    const missing = whyMissing(program, program === 'sh' ? ['-c', 'true'] : ['--version']);
    if (missing !== undefined) return missing;
  }
  for (let unreadable = 0; ; unreadable++) {
    const problem = record(variant, workload, file, directory);
    if (
      problem !== undefined ||
      !variant.pipe ||
      variant.isReported === false ||
      runTool('perf', ['report', '-f', '-i', file, ...reportArgs]).status !== ENDED_BY_SIGNAL
    )
      return problem;
    process.stderr.write(`perf report crashes on what perf has recorded: ${variant.name}\n`);
    if (unreadable === MAX_UNREADABLE) return 'perf report crashes on each recording';
  }
}

/** @returns why perf could not; undefined when it could */
function record(variant: Variant, workload: readonly string[], file: string, directory: string): string | undefined {
  const output = variant.pipe ? openSync(file, 'w') : undefined;
  const child = spawnSync('perf', [...recordArgs, ...variant.record, '-o', variant.pipe ? '-' : file, '--', ...workload], {
    cwd: directory,
    encoding: 'utf8',
    // The output of the workload is dropped: a pipe recording must not be mixed with it.
    stdio: ['ignore', output ?? 'ignore', 'pipe'],
  });
  if (output !== undefined) closeSync(output);
  if (child.error) return child.error.message;
  noteRecorded(file, ['perf', ...recordArgs, ...variant.record, '-o', file, '--', ...workload], directory);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return child.status === 0 && size > 0 ? undefined : `perf record ${variant.record.join(' ')}: ${lastLines(child.stderr)}`;
}

/** A file name for a variant. */
export function variantFileName({ name }: Variant): string {
  return `${name.replaceAll(/[^\w]+/g, '_')}.data`;
}
