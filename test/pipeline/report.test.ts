import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import type { ReadRecordingOptions } from '../../src/pipeline/read-recording.ts';
import { type ReportOptions, report } from '../../src/pipeline/report.ts';
import { Symbolizer } from '../../src/symbolizer/symbolizer.ts';
import { MadeFiles } from '../support/builders/made-symbol-files.ts';

/** A recording of 38 stacks to be unwound, 13 of which are cut off if there are no symbols. */
const RECORDING = new URL('../../fixtures/dwarf.data', import.meta.url);

/** The rows of a report, without its heading, and the codes of the findings. */
async function reported(options: ReadRecordingOptions & Partial<ReportOptions>): Promise<{ rows: string[]; found: string[] }> {
  const diagnostics = new Diagnostics();
  const sink = new BufferSink();
  const symbolizer = new Symbolizer(new MadeFiles(), { debugDirs: [], compatPerf: false }, diagnostics);
  const source = new BufferSource(readFileSync(RECORDING), 'dwarf.data');
  await report(source, sink, { sort: ['function'], symbolizer, ...options }, diagnostics);
  const [, , ...rows] = new TextDecoder().decode(sink.bytes()).trimEnd().split('\n');
  return { rows, found: diagnostics.list().map(({ code }) => code) };
}

test('a report without children unwinds no stacks, and does not report where they end', async () => {
  const { rows, found } = await reported({});
  expect(rows).toEqual(['100.00     38038038      38 [frameless]']);
  expect(found).toEqual(['no-symbols']);
});

test('a report with children unwinds stacks', async () => {
  const { rows, found } = await reported({ children: true });
  expect(rows).toEqual(['100.00     38038038      38 100.00 [frameless]', ' 34.21     13013013      13   0.00 [truncated]']);
  expect(found).toEqual(['no-symbols', 'truncated-stacks']);
});

test('a report that drops samples with truncated stacks unwinds stacks', async () => {
  const { rows } = await reported({ truncated: 'drop' });
  expect(rows).toEqual(['100.00     25025025      25 [frameless]']);
});
