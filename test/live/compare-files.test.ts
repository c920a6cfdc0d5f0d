import { describe, expect, test } from 'vitest';
import { compareScripts, describeComparison, isAcceptable } from '../support/compare-scripts.ts';
import { announceSkipped, whyNoPerf } from '../support/perf-tool.ts';
import { scriptsOf, whyNoPerfconv } from '../support/perfconv-tool.ts';

// By hand, for any recordings of this machine:
//   PERFCONV_COMPARE_FILES='a.data b.data' npx vitest run test/live/compare-files.test.ts
// PERFCONV_COMPARE_ARGS adds arguments for both tools (--symfs DIR, --kallsyms FILE, --ns, -F …).

const files = words(process.env.PERFCONV_COMPARE_FILES);
const args = words(process.env.PERFCONV_COMPARE_ARGS);
const whyNot = whyNoPerf() ?? whyNoPerfconv();
if (files.length > 0 && whyNot !== undefined) announceSkipped('the comparison of given recordings', whyNot);

describe.skipIf(files.length === 0 || whyNot !== undefined)('given recordings, perf script against perfconv', () => {
  test.each(files)('%s', { timeout: 600_000 }, (file) => {
    const { perf, perfconv } = scriptsOf(file, args);
    const comparison = compareScripts(perf, perfconv);
    process.stdout.write(`${file}: ${describeComparison(comparison)}\n`);
    expect(isAcceptable(comparison)).toBe(true);
  });
});

function words(text = ''): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
