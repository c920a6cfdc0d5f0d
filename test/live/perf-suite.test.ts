import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compareChildren, compareReports } from '../support/perf/compare-reports.ts';
import { compareScripts, describeComparison, isAcceptable } from '../support/perf/compare-scripts.ts';
import { compareTables } from '../support/perf/compare-tables.ts';
import { parseReportStats } from '../support/perf/perf-report-text.ts';
import { parsePerfScript } from '../support/perf/perf-script-text.ts';
import { announceSkipped, makeTempDir, readWithPerf, removeTempDir, whyNoRecording } from '../support/perf/perf-tool.ts';
import { recordVariant, variantFileName } from '../support/perf/record-variant.ts';
import { csvTablesOf, scriptsOf, whyNoPerfconv } from '../support/programs/perfconv-tool.ts';
import { buildWorkloads, whyNoCompiler } from '../support/programs/workloads.ts';
import { variants } from './variants.ts';

// Records programs in every way that variants.ts lists, and compares the output of perf with perfconv's.

const whyNot = whyNoRecording() ?? whyNoCompiler();
const whyNoComparison = whyNoPerfconv();
if (whyNot !== undefined) announceSkipped('the differential suite against perf', whyNot);
else if (whyNoComparison !== undefined) announceSkipped('the comparisons of the differential suite', whyNoComparison);

describe.skipIf(whyNot !== undefined)('a fresh recording', () => {
  let directory = '';

  beforeAll(() => {
    directory = makeTempDir();
    buildWorkloads(directory);
  });
  afterAll(() => removeTempDir(directory));

  describe.each(variants)('$name', (variant) => {
    let file = '';
    let problem: string | undefined;

    beforeAll(() => {
      file = join(directory, variantFileName(variant));
      problem = recordVariant(variant, file, directory);
      if (problem !== undefined) announceSkipped(`variant ${variant.name}`, problem);
    });

    test('perf can read it, and every line of its text is understood', ({ skip }) => {
      if (problem !== undefined) skip(problem);
      const samples = parsePerfScript(readWithPerf('script', file, ['--no-inline', '--no-demangle']));
      const { samples: delivered } = parseReportStats(readWithPerf('report', file, ['--stats']));
      expect(samples.length).toBe([...delivered.values()].reduce((sum, count) => sum + count, 0));
      expect(samples.length).toBeGreaterThan(0);
    });

    test.skipIf(whyNoComparison !== undefined)('the script text by default, with demangled names, is that of perf', ({ skip }) => {
      if (problem !== undefined) skip(problem);
      const { perf, perfconv } = scriptsOf(file, [], []);
      const comparison = compareScripts(perf, perfconv);
      if (!isAcceptable(comparison)) expect.fail(describeComparison(comparison));
      expect(comparison.traceTexts).toBe(0);
      if (comparison.frameDifferences > 0) process.stderr.write(`${variant.name}: ${describeComparison(comparison)}\n`);
    });

    test.skipIf(whyNoComparison !== undefined)('the script text with process ids and nanoseconds is that of perf', ({ skip }) => {
      if (problem !== undefined) skip(problem);
      const { perf, perfconv } = scriptsOf(file, ['--ns', '-F', 'comm,pid,tid,time,event,period,ip,sym,symoff,dso']);
      const comparison = compareScripts(perf, perfconv);
      if (!isAcceptable(comparison)) expect.fail(describeComparison(comparison));
    });

    test.skipIf(whyNoComparison !== undefined)('the rows of the report are those of perf', ({ skip }) => {
      if (problem !== undefined) skip(problem);
      expect(compareReports(file)).toEqual([]);
      // Without callchains perf has no children, and for a pipe it shows none.
      if (variant.record.includes('-g') && variant.pipe !== true) expect(compareChildren(file)).toEqual([]);
    });

    test.skipIf(whyNoComparison !== undefined)('the CSV tables sum up to what perf reports', ({ skip }) => {
      if (problem !== undefined) skip(problem);
      const tables = join(directory, 'tables', variant.name.replaceAll(/[^\w]+/g, '_'));
      mkdirSync(join(directory, 'tables'), { recursive: true });
      expect(compareTables(csvTablesOf(file, tables), file)).toEqual([]);
    });
  });
});
