import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixtureFile, fixtureNames, fixtureSymbolArgs, isShippedDso } from '../support/fixture-files.ts';
import { compareScripts, describeComparison, isAcceptable } from '../support/perf/compare-scripts.ts';
import { compareTables } from '../support/perf/compare-tables.ts';
import type { ScriptSample } from '../support/perf/perf-script-text.ts';
import { parsePerfScript } from '../support/perf/perf-script-text.ts';
import { announceSkipped, makeTempDir, readWithPerf, removeTempDir, whyNoPerf } from '../support/perf/perf-tool.ts';
import { csvTablesOf, scriptsOf, whyNoPerfconv } from '../support/programs/perfconv-tool.ts';

// The shipped recordings against perf. This needs no permission to record, and the symbols are shipped, too.

/** Removes names in the system's libraries, which are not shipped: they depend on the machine, and on whether a tool looks outside --symfs. */
function withoutForeignNames(samples: readonly ScriptSample[]): ScriptSample[] {
  return samples.map((sample) => ({ ...sample, frames: sample.frames.map((frame) => (isShippedDso(frame.dso) ? frame : { ...frame, symbol: '' })) }));
}

const whyNot = whyNoPerf();
const whyNoComparison = whyNoPerfconv();
if (whyNot !== undefined) announceSkipped('the comparison of the fixtures with perf', whyNot);
else if (whyNoComparison !== undefined) announceSkipped('the comparisons of the fixtures', whyNoComparison);

describe.skipIf(whyNot !== undefined)('fixtures, perf script against perfconv', () => {
  let directory = '';
  beforeAll(() => {
    directory = makeTempDir();
  });
  afterAll(() => removeTempDir(directory));

  describe.each(fixtureNames)('%s', (name) => {
    const file = fixtureFile(name);

    test('the shipped symbols name every frame of the kernel and of the programs', () => {
      const frames = parsePerfScript(readWithPerf('script', file, ['--no-inline', ...fixtureSymbolArgs])).flatMap((sample) => sample.frames);
      const ours = frames.filter((frame) => isShippedDso(frame.dso));
      expect(ours.length).toBeGreaterThan(10);
      expect(ours.filter((frame) => frame.symbol === '[unknown]')).toEqual([]);
    });

    test.skipIf(whyNoComparison !== undefined)('the script text by default is that of perf', () => {
      const { perf, perfconv } = scriptsOf(file, fixtureSymbolArgs);
      const comparison = compareScripts(withoutForeignNames(perf), withoutForeignNames(perfconv));
      if (!isAcceptable(comparison, 1)) expect.fail(describeComparison(comparison));
    });

    test.skipIf(whyNoComparison !== undefined)('the CSV tables sum up to what perf reports', () => {
      mkdirSync(join(directory, 'tables'), { recursive: true });
      expect(compareTables(csvTablesOf(file, join(directory, 'tables', name)), file)).toEqual([]);
    });
  });
});
