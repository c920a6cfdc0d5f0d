import { appendFileSync, readFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Ends a run with `N passed, N failed`, and `, N skipped` if any were, on a line of its own, for machines that read only the last lines. A hermetic test
 * that is skipped counts as failed: those run alike on every machine.
 *
 * `$PERFCONV_TEST_COUNTS` names a file in which several runs leave their counts: the line then has the totals of all of them.
 */
export default class ClosingLineReporter implements Reporter {
  #choosesByName = false;

  onInit(vitest: Vitest): void {
    this.#choosesByName = vitest.config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const counts: Counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      // A module that could not even be loaded has no tests to count, but it did fail.
      if (module.errors().length > 0) counts.failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') counts.passed++;
        else if (state === 'failed') counts.failed++;
        else if (module.project.name === 'hermetic' && !this.#choosesByName) {
          process.stderr.write(`FAILED: a hermetic test was skipped: ${module.relativeModuleId} > ${test.fullName}\n`);
          counts.failed++;
          process.exitCode = 1;
        } else counts.skipped++;
      }
    }
    const { passed, failed, skipped } = withEarlierRuns(counts);
    process.stdout.write(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
  }
}

/** The counts with those of earlier runs in `$PERFCONV_TEST_COUNTS`, to which these are appended: a line of JSON per run. */
function withEarlierRuns(counts: Counts): Counts {
  const path = process.env.PERFCONV_TEST_COUNTS;
  if (path === undefined || path === '') return counts;
  appendFileSync(path, `${JSON.stringify(counts)}\n`);
  const runs: Counts[] = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const sumOf = (name: keyof Counts): number => runs.reduce((sum, run) => sum + run[name], 0);
  return { passed: sumOf('passed'), failed: sumOf('failed'), skipped: sumOf('skipped') };
}
