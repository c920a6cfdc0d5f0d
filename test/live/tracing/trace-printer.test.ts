import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AttrSpec, encodeFile, encodeTracingData, eventType, record } from '../../support/builders/recordings/perf-encoder.ts';
import { type TraceCase, traceCaseFields, traceCasePayload, traceCasePrintkFormats, traceCases } from '../../support/builders/recordings/trace-cases.ts';
import { compareScripts, describeComparison, isAcceptable } from '../../support/perf/compare-scripts.ts';
import { announceSkipped, makeTempDir, removeTempDir, runTool, whyMissing, whyNoRecording } from '../../support/perf/perf-tool.ts';
import { recordVariant } from '../../support/perf/record-variant.ts';
import { scriptsOf, whyNoPerfconv } from '../../support/programs/perfconv-tool.ts';

// Asks perf what it makes of the print formats in trace-cases.ts.

const whyNot = whyMissing('perf', ['--version']);
if (whyNot !== undefined) announceSkipped('print formats of tracepoints against perf', whyNot);

const CASES_PER_FILE = 60;
const firstId = 1000;
const batches = Array.from({ length: Math.ceil(traceCases.length / CASES_PER_FILE) }, (_, i) => traceCases.slice(i * CASES_PER_FILE, (i + 1) * CASES_PER_FILE));

/** A recording with an event and a sample for each case. */
function recordingOf(cases: readonly TraceCase[]): Uint8Array {
  const formats = cases.map(([printFmt], i) => ({ name: `case${i}`, id: firstId + i, fields: traceCaseFields, printFmt }));
  const attrs = cases.map(
    (_, i): AttrSpec => ({
      name: `lab:case${i}`,
      type: eventType.tracepoint,
      config: BigInt(firstId + i),
      period: 1n,
      ids: [BigInt(i + 1)],
      sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu', 'period', 'raw'],
    }),
  );
  const records = cases.map((_, i) => {
    const common = Uint8Array.of((firstId + i) & 0xff, (firstId + i) >> 8, 0, 0, 0x92, 0x10, 0, 0);
    return record.sample({ id: BigInt(i + 1), pid: 4242, time: BigInt(i + 1) * 1000n, period: 1n, raw: Uint8Array.from([...common, ...traceCasePayload]) });
  });
  const tracingData = encodeTracingData({ systems: [{ name: 'lab', formats }], printkFormats: traceCasePrintkFormats });
  return encodeFile({ attrs, records, features: { tracingData } });
}

describe.skipIf(whyNot !== undefined)('print formats', () => {
  let directory = '';
  beforeAll(() => {
    directory = makeTempDir();
  });
  afterAll(() => removeTempDir(directory));

  /** What perf prints for each case; undefined if it crashes, as with some formats, by themselves or together with others. */
  const ask = (cases: readonly TraceCase[]): (string | undefined)[] => {
    const file = join(directory, 'cases.data');
    writeFileSync(file, recordingOf(cases));
    const { status, stdout } = runTool('perf', ['script', '-f', '-i', file, '-F', 'event,trace']);
    if (status !== 0) {
      if (cases.length === 1) return [undefined];
      const middle = cases.length >> 1;
      return [...ask(cases.slice(0, middle)), ...ask(cases.slice(middle))];
    }
    const texts = `\n${stdout}`.split(/\n *lab:case\d+: /).slice(1);
    return texts.map((text, i) => (i === texts.length - 1 ? text.replace(/\n$/, '') : text));
  };

  test.each(batches.map((cases, batch) => ({ cases, batch })))('of batch $batch are shown as in perf', ({ cases, batch }) => {
    const shown = ask(cases);
    expect(shown.length).toBe(cases.length);
    expect(shown.filter((text) => text === undefined).length, `perf's crashes in batch ${batch}`).toBeLessThan(5);
    shown.forEach((text, i) => {
      const [printFmt, expected] = cases[i];
      if (text === undefined) return;
      if (expected === undefined) expect(text, printFmt).toMatch(/^\[FAILED TO PARSE\]/);
      else expect(text, printFmt).toBe(expected);
    });
  });
});

const whyNoPipe = whyNoRecording() ?? whyNoPerfconv();
if (whyNoPipe !== undefined) announceSkipped('tracepoints of a pipe against perf', whyNoPipe);

// Not in perf-suite.test.ts, since perf report cannot read such a file.
test.skipIf(whyNoPipe !== undefined)('tracepoints from a pipe are shown as in perf', () => {
  const directory = makeTempDir();
  try {
    const file = join(directory, 'pipe.data');
    const variant = { name: 'pipe', record: ['-e', 'sched:*', '-e', 'kmem:*', '-a'], pipe: true, workload: ['sh', '-c', 'ls -R /usr/include'] };
    expect(recordVariant(variant, file, directory)).toBeUndefined();
    const { perf, perfconv } = scriptsOf(file);
    const comparison = compareScripts(perf, perfconv);
    expect(perf.length).toBeGreaterThan(0);
    expect(perf.filter(({ trace }) => trace !== '').length).toBeGreaterThan(0);
    expect(isAcceptable(comparison) && comparison.traceTexts === 0, describeComparison(comparison)).toBe(true);
  } finally {
    removeTempDir(directory);
  }
});
