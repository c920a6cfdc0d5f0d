import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { announceSkipped, makeTempDir, readWithPerf, removeTempDir, whyNoRecording } from '../../support/perf/perf-tool.ts';
import { recordVariant } from '../../support/perf/record-variant.ts';
import { convert, whyNoPerfconv } from '../../support/programs/perfconv-tool.ts';
import { buildWorkloads, whyNoCompiler } from '../../support/programs/workloads.ts';

// perf 6.1 prints callchains of tracepoints from a pipe without offsets and binaries, and `perf report` does not read them.

const whyNot = whyNoRecording() ?? whyNoCompiler() ?? whyNoPerfconv();
if (whyNot !== undefined) announceSkipped("tracepoints from a pipe compared with perf's", whyNot);

/** Lines of a text without the blanks around them, and without functions of the vdso, which perf names only from its build-id cache. */
function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => !line.endsWith('([vdso])'));
}

describe.skipIf(whyNot !== undefined)("callchains of tracepoints from a pipe are perf's", () => {
  let directory = '';
  beforeAll(() => {
    directory = makeTempDir();
    buildWorkloads(directory);
  });
  afterAll(() => removeTempDir(directory));

  test.each([
    ['alone', ['-e', 'sched:sched_switch']],
    ['beside a clock', ['-e', 'cpu-clock', '-e', 'sched:sched_switch', '-F', '2000']],
  ])('%s', (name, events) => {
    const file = join(directory, `${name.replaceAll(' ', '-')}.data`);
    expect(recordVariant({ name, record: [...events, '-g'], pipe: true, isReported: false }, file, directory)).toBeUndefined();
    const theirs = linesOf(readWithPerf('script', file, ['--no-inline']));
    const ours = linesOf(convert(['-t', 'script', '--compat', 'perf', '--no-inline', '-o', '-', file]).stdout);
    expect(theirs.filter((line) => / sched:sched_switch: /.test(line)).length).toBeGreaterThan(5);
    expect(ours).toEqual(theirs);
  });
});
