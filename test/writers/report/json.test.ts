import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import { percentText } from '../../../src/writers/percent.ts';
import { REPORT_KEYS, type ReportKey, type ReportOptions, writeReport } from '../../../src/writers/report/report.ts';
import { writeTree } from '../../../src/writers/report/write-tree.ts';
import { buildProfile } from '../../support/builders/profiles/build-profile.ts';
import { randomProfile } from '../../support/builders/profiles/random-profile.ts';
import { fieldNames, keysOf, publishedSchema } from '../../support/readers/json-schemas.ts';
import { runs } from '../../support/thoroughness.ts';

const { schema, isValid, isDescribed, expectDescribed } = publishedSchema('report');

async function textOf(profile: Profile, options: ReportOptions): Promise<string> {
  const sink = new BufferSink();
  await writeReport(profile, sink, options);
  return sink.text();
}

const jsonOf = async (profile: Profile, options: ReportOptions = {}) => JSON.parse(await textOf(profile, { ...options, layout: 'json' }));

const SAMPLES = buildProfile([
  { timeNs: 0, period: 2 ** 53, stack: ['main', { name: 'naïve "函数"\n\udcff' }] },
  { timeNs: 1, period: 2 ** 53, comm: 'other', stack: ['main'] },
  { timeNs: 2, event: 'page-faults', period: 7, stack: [] },
]);

describe('a report in JSON', () => {
  test('has everything that the table has, with names as recorded', async () => {
    const report = await jsonOf(SAMPLES, { sort: ['function', 'comm'], children: true, limit: 1 });
    expectDescribed(report);
    expect(report).toEqual({
      schemaVersion: 1,
      kind: 'tables',
      inputs: ['perf.data'],
      sort: ['function', 'comm'],
      children: true,
      weight: 'period',
      tables: [
        {
          events: [{ name: 'cpu-clock', unit: 'nanoseconds', samples: 2, period: '18014398509481984' }],
          rows: [
            {
              function: 'main (app)',
              comm: 'app',
              samples: 1,
              period: '9007199254740992',
              percent: 50,
              selfSamples: 0,
              selfPeriod: 0,
              selfPercent: 0,
            },
          ],
          omittedRows: 2,
        },
        {
          events: [{ name: 'page-faults', unit: 'count', samples: 1, period: 7 }],
          rows: [{ function: '[unknown]', comm: 'app', samples: 1, period: 7, percent: 100, selfSamples: 1, selfPeriod: 7, selfPercent: 100 }],
          omittedRows: 0,
        },
      ],
    });
    const { tables } = await jsonOf(SAMPLES, { sort: ['function'] });
    expect(tables[0].rows.map((row: { function: string }) => row.function)).toEqual(['main (app)', 'naïve "函数"\n\\xff (app)']);
  });

  test('has one table for all events with the key event, in the order of samples', async () => {
    const { tables, weight } = await jsonOf(SAMPLES, { sort: ['event'] });
    expect(weight).toBe('samples');
    expect(tables).toHaveLength(1);
    expect(tables[0].events).toHaveLength(2);
    expect(tables[0].rows.map(({ event, samples }: { event: string; samples: number }) => [event, samples])).toEqual([
      ['cpu-clock', 2],
      ['page-faults', 1],
    ]);
  });

  test('is what the schema describes, and has the rows of the table, for any profile', async () => {
    const keys = fc.uniqueArray(fc.constantFrom<ReportKey>(...REPORT_KEYS), { minLength: 1, maxLength: 3 });
    const settings = fc.record({ sort: keys, children: fc.boolean(), weight: fc.constantFrom('period' as const, 'samples' as const) });
    await fc.assert(
      fc.asyncProperty(randomProfile, settings, async (profile, options) => {
        const report = await jsonOf(profile, options);
        expectDescribed(report);
        type Row = Record<string, string | number>;
        const rows: string[] = report.tables.flatMap(({ rows }: { rows: readonly Row[] }) =>
          rows.map(({ percent, period, samples, selfPercent }) =>
            [percentText(Number(percent)), period, samples, ...(options.children ? [percentText(Number(selfPercent))] : [])].join(' '),
          ),
        );
        const lines = (await textOf(profile, options)).split('\n').filter((line) => /^ *\d+\.\d\d /.test(line));
        expect(
          lines.map((line) =>
            line
              .trim()
              .split(/ +/)
              .slice(0, options.children ? 4 : 3)
              .join(' '),
          ),
        ).toEqual(rows);
      }),
      { numRuns: runs(100, 30) },
    );
  });

  test('rejects what the schema does not allow', async () => {
    const report = await jsonOf(SAMPLES);
    expect(isValid({ ...report, schemaVersion: 2 })).toBe(false);
    expect(isValid({ ...report, tables: [{}] })).toBe(false);
    expect(isValid({ ...report, later: 1 })).toBe(true);
    expect(isDescribed({ ...report, later: 1 })).toBe(false);
  });

  test('describes no field that never occurs, and docs/report-json.md names each', async () => {
    const report = await jsonOf(SAMPLES, { sort: REPORT_KEYS, children: true });
    const sink = new BufferSink();
    const inlined = buildProfile([
      { timeNs: 0, period: 9, stack: ['main', { name: 'outer', inlined: [{ name: 'inner' }] }] },
      { timeNs: 1, period: 1, stack: ['main', 'small'] },
    ]);
    await writeTree(inlined, sink, { layout: 'json', levels: ['comm'], limit: 4 });
    const seen = new Set(keysOf([report, JSON.parse(sink.text())]));
    expect([...new Set(fieldNames(schema))].filter((name) => !seen.has(name))).toEqual([]);
    const page = readFileSync(fileURLToPath(new URL('../../../docs/report-json.md', import.meta.url)), 'utf8');
    expect(fieldNames(schema).filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
  });
});
