import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mergeProfiles, openRecording, type Profile, type ProfileOptions, type ReportOptions } from '../../src/node.ts';
import { context, encodeFile, record, simpleperfFeatures } from '../support/builders/recordings/perf-encoder.ts';
import { CLOCK, comm, libMap, SWITCHES, sampleAt } from '../support/builders/recordings/simpleperf-recordings.ts';
import { runMain } from '../support/programs/run-main.ts';

const fixtures = fileURLToPath(new URL('../../fixtures', import.meta.url));
const SYMBOLS = { symfs: join(fixtures, 'symfs'), kallsyms: join(fixtures, 'kallsyms') };

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-report-'));
  // A sample whose callchain does not begin with its own address, and a thread that was off the CPU.
  const own = record.sample({ time: 10n, ip: 0x7000_0010n, pid: 100, tid: 100, cpu: 3, period: 250_000n, callchain: [context.user, 0x1000n] });
  const off = sampleAt(1500n, [context.user, 0x1000n], { attr: 1, period: 1n });
  const features = [simpleperfFeatures.metaInfo({ trace_offcpu: 'true', event_type_info: 'cpu-clock,1,0\nsched:sched_switch,2,47' })];
  const records = [comm, libMap, own, off, sampleAt(4000n, [context.user, 0x1000n])];
  writeFileSync(join(dir, 'made.data'), encodeFile({ attrs: [CLOCK, SWITCHES], records, foreignFeatures: features }));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const RECORDINGS: readonly (readonly [string, () => string])[] = [
  ...readdirSync(fixtures)
    .filter((name) => name.endsWith('.data'))
    .map((name) => [name, () => join(fixtures, name)] as const),
  ['a synthetic recording', () => join(dir, 'made.data')],
];

/** The rows that the command line prints, with single blanks. */
async function byCommandLine(args: readonly string[]): Promise<string[]> {
  const { status, stdout, stderr } = await runMain(['report', '--symfs', SYMBOLS.symfs, '--kallsyms', SYMBOLS.kallsyms, ...args]);
  if (status !== 0) throw new Error(stderr);
  return stdout
    .toString()
    .split('\n')
    .filter((line) => /^ *[\d.]+ /.test(line))
    .map((line) => line.trim().replace(/ +/g, ' '));
}

async function byLibrary(profile: Profile, options: ReportOptions): Promise<string[]> {
  const tables = await profile.report(options);
  return tables.flatMap(({ rows }) =>
    rows.map(({ percent, period, samples, selfPercent, function: name, dso }) =>
      [percent.toFixed(2), period, samples, ...(options.children ? [selfPercent.toFixed(2)] : []), name, dso].join(' ').replace(/ +/g, ' '),
    ),
  );
}

describe('a report by the library has the rows of', () => {
  const cases: readonly (readonly [string, ProfileOptions, readonly string[]])[] = [
    ['', { lines: false, demangle: 'no-params' }, []],
    [', read for CSV', { lines: false, demangle: 'no-params', formats: ['csv'] }, []],
    [' --compat perf', { compat: 'perf' }, ['--compat', 'perf']],
    [' --compat perf, read for several formats', { compat: 'perf', formats: ['script', 'speedscope', 'csv'] }, ['--compat', 'perf']],
  ];
  describe.each(cases)('perfconv report%s', (_, options, args) => {
    test.each(RECORDINGS)('%s', async (_name, path) => {
      const recording = await openRecording(path());
      const profile = await recording.profile({ ...SYMBOLS, ...options });
      for (const children of [false, true]) {
        const expected = await byCommandLine([...args, ...(children ? ['--children'] : []), path()]);
        expect(expected.length).toBeGreaterThan(0);
        expect(await byLibrary(profile, { children })).toEqual(expected);
      }
      await recording.close();
    });

    test('several recordings', async () => {
      const paths = [join(dir, 'made.data'), join(fixtures, 'threads.data')];
      const recordings = await Promise.all(paths.map((path) => openRecording(path)));
      const profiles = await Promise.all(recordings.map((recording) => recording.profile({ ...SYMBOLS, ...options })));
      expect(await byLibrary(await mergeProfiles(profiles), {})).toEqual(await byCommandLine([...args, ...paths]));
      for (const recording of recordings) await recording.close();
    });
  });
});
