import { expect, test } from 'vitest';
import { needsOfReport } from '../../src/pipeline/report.ts';

test.each([
  [{}, 'inlines'],
  [{ debugInfo: 'lines' }, 'none'],
  [{ compatPerf: true }, 'none'],
  [{ compatPerf: true, debugInfo: 'inlines' }, 'inlines'],
] as const)('a tree with %j reads of debug information: %s', (options, debugInfo) => {
  expect(needsOfReport({ ...options, tree: {} })).toMatchObject({ debugInfo, callers: true, keepSamples: false });
  expect(needsOfReport(options)).toMatchObject({ debugInfo: 'none', callers: false });
});
