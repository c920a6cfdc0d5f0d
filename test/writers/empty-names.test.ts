import { describe, expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import { writeProfile } from '../../src/pipeline/write-profile.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { writeResultsCsv } from '../../src/writers/csv/results.ts';
import { writeReport } from '../../src/writers/report/report.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';
import { type AttrSpec, encodePipe, record, toolRecords } from '../support/builders/recordings/perf-encoder.ts';
import { decode } from '../support/readers/decode.ts';
import { parseCsv } from '../support/readers/parse-csv.ts';
import { readFirefox } from '../support/readers/read-firefox.ts';
import { readHtml, stackOf } from '../support/readers/read-html.ts';
import { readOtlp } from '../support/readers/read-otlp.ts';
import { readParquet } from '../support/readers/read-parquet.ts';
import { readPprof } from '../support/readers/read-pprof.ts';

/** A thread, functions and a binary with empty names, and some with names. */
const PROFILE: Profile = buildProfile([
  { timeNs: 0, comm: '', stack: ['main', { name: '', address: 0x1234 }, { name: 'leaf', inlined: [{ name: '' }] }] },
  { timeNs: 1, comm: 'app', stack: [{ name: '', dso: '' }] },
  { timeNs: 2, comm: 'app', stack: [{ name: 'x', dso: '', unresolved: true }] },
]);

async function written(
  format: 'folded' | 'speedscope' | 'chrome' | 'cpuprofile' | 'firefox' | 'html' | 'parquet' | 'script' | 'pprof' | 'otlp',
  profile = PROFILE,
): Promise<BufferSink> {
  const sink = new BufferSink();
  await writeProfile(format, profile, sink, {}, new Diagnostics());
  return sink;
}

async function textOf(write: (sink: BufferSink) => Promise<void>): Promise<string> {
  const sink = new BufferSink();
  await write(sink);
  return sink.text();
}

describe('empty names', () => {
  test('leave no empty frames in folded stacks', async () => {
    const text = (await written('folded')).text();
    for (const line of text.trimEnd().split('\n')) expect(line.replace(/ \d+$/, '').split(';')).not.toContain('');
    expect(text).toContain('[unknown];main;0x1234 (app);leaf;0x');
    expect(text).toContain(' ([unknown]) ');
  });

  test('leave no empty names of frames, tracks or profiles in speedscope, Chrome and CPU profiles', async () => {
    const speedscope = (await written('speedscope')).text();
    expect(speedscope).not.toMatch(/"name":"\s*"/);
    for (const { name } of JSON.parse(speedscope).profiles) expect(name).toMatch(/^(unknown|app) \(/);
    const chrome = (await written('chrome')).text();
    expect(chrome).not.toMatch(/"(name|functionName)":"\s*"/);
    expect((await written('cpuprofile')).text()).not.toMatch(/"functionName":"\s*"/);
  });

  test('leave no empty names of frames, libraries or threads for Firefox Profiler', async () => {
    const { document, framesOf, threads } = readFirefox((await written('firefox')).bytes());
    for (const { samples } of threads) for (const { stack } of samples) expect(framesOf(stack).map(({ name }) => name)).not.toContain('');
    expect(document.libs.map(({ name }) => name)).toEqual(['app', '[unknown]']);
    expect(threads.map(({ thread }) => thread.name)).not.toContain('');
  });

  test('leave no empty names of functions, processes or threads in html', async () => {
    const data = readHtml((await written('html')).bytes());
    const names = data.nodes.code.flatMap((_, node) => stackOf(data, node).map(({ name }) => name));
    expect(names).toContain('0x1234 (app)');
    expect([...names, ...data.processes.map(({ name }) => name), ...data.threads.map(({ name }) => name)]).not.toContain('');
  });

  test('leave no empty names in parquet: those of threads are absent', async () => {
    const rows = await readParquet((await written('parquet')).bytes());
    expect(rows.flatMap((row) => [row.stack, row.stack_dsos, Object.values(row)].flat())).not.toContain('');
    expect(rows.map(({ comm }) => comm)).toEqual([null, 'app', 'app']);
    expect(rows.map((row) => row.function)).toEqual(['0x1020 (app)', '0x1030 ([unknown])', '[unknown]']);
  });

  test('leave no empty names of functions or mappings in pprof', async () => {
    const { message } = readPprof((await written('pprof')).bytes());
    expect(message.function.map(({ name }) => message.stringTable[Number(name)])).not.toContain('');
    expect(message.mapping.map(({ filename }) => message.stringTable[Number(filename)])).not.toContain('');
  });

  test('leave no empty names of functions, mappings or threads in otlp', async () => {
    const { mappings, profiles } = readOtlp((await written('otlp')).bytes());
    const frames = profiles.flatMap(({ samples }) => samples.flatMap(({ locations }) => locations.flatMap((location) => location.frames)));
    expect(frames.filter((frame) => frame.startsWith('|'))).toEqual([]);
    expect(mappings.map(({ name }) => name)).toEqual(['/bin/app', '[unknown]']);
    for (const { attributes } of profiles[0].samples) expect(attributes.get('thread.name')).not.toBe('');
  });

  test('leave no empty cells in the report and in results.csv', async () => {
    const report = await textOf((sink) => writeReport(PROFILE, sink, { sort: ['comm', 'dso', 'function', 'event'] }));
    const rows = report.split('\n').filter((line) => /^ *\d/.test(line));
    for (const row of rows) expect(row.trim().split(/ {2,}/)).toHaveLength(6);
    expect(report).toContain('[unknown]');
    for (const row of parseCsv(await textOf((sink) => writeResultsCsv(PROFILE, sink)))) expect([row.function, row.dso]).not.toContain('');
  });

  test('are shown as [unknown] in perf-script text', async () => {
    expect((await written('script')).text()).toMatch(/ \[unknown\]\+0x/);
  });

  test('do not rename an event', async () => {
    const attr: AttrSpec = { type: 1, config: 0n, period: 1n, ids: [5n], sampleType: ['identifier', 'ip', 'tid', 'time'], flags: ['sampleIdAll'] };
    const unnaming = toolRecords.eventUpdate({ id: 5n, name: '' });
    const { profile } = await decode(encodePipe({ attrs: [attr], records: [unnaming, record.sample({ ip: 1n, pid: 1, time: 1n })] }));
    expect(profile.events.map(({ name }) => name)).toEqual(['cpu-clock']);
  });
});
