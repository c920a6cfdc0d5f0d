import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compareReports } from '../support/perf/compare-reports.ts';
import { compareScripts, describeComparison, isAcceptable } from '../support/perf/compare-scripts.ts';
import { compareTables } from '../support/perf/compare-tables.ts';
import { announceSkipped, makeTempDir, removeTempDir, whyNoPerf } from '../support/perf/perf-tool.ts';
import { csvTablesOf, scriptsOf, whyNoPerfconv } from '../support/programs/perfconv-tool.ts';

// By hand, for any recordings of this machine:
//   PERFCONV_COMPARE_FILES='a.data b.data' npx vitest run test/live/compare-files.test.ts
// PERFCONV_COMPARE_ARGS adds arguments for both tools to print the script text (--symfs DIR, --kallsyms FILE, --ns, -F …); nothing else is compared then.

const files = words(process.env.PERFCONV_COMPARE_FILES);
const args = words(process.env.PERFCONV_COMPARE_ARGS);
const whyNot = whyNoPerf() ?? whyNoPerfconv();
if (files.length > 0 && whyNot !== undefined) announceSkipped('the comparison of given recordings', whyNot);

describe.skipIf(files.length === 0 || whyNot !== undefined)('given recordings, perf against perfconv', () => {
  describe.each(files)('%s', (file) => {
    test('the script text is that of perf', () => {
      const { perf, perfconv } = scriptsOf(file, args);
      const comparison = compareScripts(perf, perfconv);
      process.stdout.write(`${file}: ${describeComparison(comparison)}\n`);
      expect(isAcceptable(comparison), describeComparison(comparison)).toBe(true);
    });

    test.skipIf(args.length > 0)('the rows of the report are those of perf', () => {
      expect(compareReports(file)).toEqual([]);
    });

    test.skipIf(args.length > 0)('the CSV tables sum up to what perf reports', () => {
      const directory = makeTempDir();
      try {
        expect(compareTables(csvTablesOf(file, join(directory, 'tables')), file)).toEqual([]);
      } finally {
        removeTempDir(directory);
      }
    });
  });
});

function words(text = ''): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
