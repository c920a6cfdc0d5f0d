import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FORMATS, type Format, mergeProfiles, openRecording, type ProfileOptions, type WriteOptions } from '../../src/node.ts';
import { fileRecording, lossyRecording, pipeRecording, truncatedRecording } from '../support/builders/recordings/cli-recordings.ts';
import { makeDirectoryRecording } from '../support/builders/recordings/directory-recording.ts';
import { encodeFile, record } from '../support/builders/recordings/perf-encoder.ts';
import { failure } from '../support/failure.ts';
import { runMain } from '../support/programs/run-main.ts';
import { htmlText } from '../support/readers/read-html.ts';
import { parquetText } from '../support/readers/read-parquet.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));

let dir: string;
const at = (...names: string[]): string => join(dir, ...names);
/** A directory recording with all kinds of names. */
let directory: string;
/** A recording of a thread whose name a spreadsheet would run as a formula. */
let formula: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-library-'));
  directory = makeDirectoryRecording(dir);
  formula = at('formula.data');
  const attrs = [{ name: 'cpu-clock', period: 1n, sampleType: ['ip', 'tid', 'time'] }] as const;
  writeFileSync(formula, encodeFile({ attrs, records: [record.comm({ pid: 1, tid: 1, comm: '=1+1' }), record.sample({ ip: 1n, pid: 1, tid: 1, time: 1n })] }));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** The bytes of an output; for CSV, those of its tables, one after the other. */
function contentOf(path: string, format: Format): Buffer {
  return format === 'csv' ? Buffer.concat(readdirSync(path).map((name) => readFileSync(join(path, name)))) : readFileSync(path);
}

const ENDINGS: Readonly<Record<Format, string>> = {
  pprof: 'pb.gz',
  speedscope: 'speedscope.json',
  chrome: 'trace.json',
  cpuprofile: 'cpuprofile',
  csv: 'csv',
  script: 'txt',
  folded: 'folded',
  firefox: 'firefox.json',
  html: 'html',
  parquet: 'parquet',
  otlp: 'otlp',
};

let outputs = 0;
const freshPath = (format: Format): string => at(`output-${outputs++}.${ENDINGS[format]}`);

/** What the command line writes. */
async function byCommandLine(format: Format, args: readonly string[]): Promise<Buffer> {
  const path = freshPath(format);
  const { status, stderr } = await runMain(['-q', '-t', format, '-o', path, ...args], { env: { HOME: process.env.HOME ?? '' } });
  if (status !== 0) throw new Error(stderr);
  return contentOf(path, format);
}

/** What the library writes. */
async function byLibrary(format: Format, input: Parameters<typeof openRecording>[0], options?: ProfileOptions, writing?: WriteOptions): Promise<Buffer> {
  const recording = await openRecording(input);
  const path = freshPath(format);
  await (await recording.profile(options)).write(format, path, writing);
  await recording.close();
  return contentOf(path, format);
}

describe('the library gives the same as the command line for', () => {
  test.each(FORMATS)('a directory with a kernel list, jitdump file and inlined functions, as %s', async (format) => {
    const written = await byLibrary(format, directory);
    expect(written.equals(await byCommandLine(format, [directory]))).toBe(true);
    const texts = { pprof: () => gunzipSync(written), html: () => htmlText(written), parquet: () => parquetText(written) };
    const text = Object.hasOwn(texts, format) ? await texts[format as keyof typeof texts]() : written;
    for (const name of ['recorded_list', 'compiled', 'main']) expect(text.includes(name)).toBe(true);
  });

  const SYMBOLS = { symfs: fixture('symfs'), kallsyms: fixture('kallsyms') };
  interface Recorded {
    readonly input: () => string;
    readonly symbols?: Readonly<Record<string, string>>;
  }
  const THREADS: Recorded = { input: () => fixture('threads.data'), symbols: SYMBOLS };
  const argsOf = ({ input, symbols = {} }: Recorded): string[] => [...Object.entries(symbols).flatMap(([option, path]) => [`--${option}`, path]), input()];
  test.for<[string, Format, ProfileOptions, WriteOptions, string[], Recorded?]>([
    ['events', 'folded', { event: 'page-faults' }, {}, ['--event', 'page-faults'], { input: () => fixture('events.data') }],
    ['processes', 'script', { pid: [1, 24858] }, {}, ['--pid', '1,24858'], { input: () => fixture('tree.data') }],
    ['names of threads', 'folded', { comm: ['worker 1', 'worker 2'] }, {}, ['--comm', 'worker 1,worker 2']],
    ['CPUs', 'folded', { cpu: [-1, 0] }, {}, ['--cpu=-1,0'], { input: () => fixture('fields.data') }],
    ['a span of time', 'script', { time: '10%-50%' }, {}, ['--time', '10%-50%']],
    ['the depth of stacks', 'folded', { maxStack: 2 }, {}, ['--max-stack', '2']],
    ['only complete stacks', 'folded', { truncated: 'drop' }, {}, ['--truncated', 'drop'], { input: () => fixture('dwarf.data') }],
    ['no inlined functions if files and lines are shown', 'pprof', { inlines: false }, {}, ['--no-inline'], { input: () => directory }],
    ['no inlined functions if they are not shown', 'folded', { inlines: false }, {}, ['--no-inline'], { input: () => directory }],
    ['perf 6.1', 'script', { compat: 'perf' }, { fields: ['+srcline'] }, ['--compat', 'perf', '-F', '+srcline']],
    ['mangled names', 'folded', { demangle: 'none' }, {}, ['--no-demangle']],
    ['full names', 'pprof', { demangle: 'full' }, {}, ['--demangle-style', 'full']],
    ['short names', 'folded', { demangle: 'simple' }, {}, ['--demangle-style', 'simple']],
    ['a style of names for script, which has its own', 'script', { demangle: 'full' }, {}, ['--demangle-style', 'full']],
    ['weights', 'speedscope', {}, { weight: 'samples', group: 'process' }, ['--weight', 'samples', '--group', 'process']],
    ['labels', 'pprof', {}, { labels: ['comm'] }, ['--labels', 'comm']],
    ['no labels', 'pprof', {}, { labels: 'none' }, ['--labels', 'none']],
    ['marks', 'folded', {}, { marks: ['inlined', 'jit'] }, ['--marks', 'inlined,jit']],
    ['no marks', 'folded', {}, { marks: 'none' }, ['--marks', 'none']],
    ['fields', 'script', {}, { fields: ['comm', 'ip'], ns: true }, ['-F', 'comm,ip', '--ns']],
    ['fields of events of one type', 'script', {}, { fields: [{ type: 'sw', fields: ['comm', 'ip'] }] }, ['-F', 'sw:comm,ip']],
    ['traces of calls', 'chrome', {}, { chromeStyle: 'events' }, ['--chrome-style', 'events']],
    ['tables for spreadsheets', 'csv', {}, { csvSafe: true }, ['--csv-safe'], { input: () => formula }],
  ])('the same options, which make a difference: %s', async ([, format, options, writing, args, recorded = THREADS]) => {
    const { input, symbols } = recorded;
    const written = await byLibrary(format, input(), { ...symbols, ...options }, writing);
    expect(written.equals(await byCommandLine(format, [...args, ...argsOf(recorded)]))).toBe(true);
    expect(written.equals(await byLibrary(format, input(), symbols))).toBe(false);
  });

  test('several formats, which are read together if they were announced', async () => {
    const recording = await openRecording(directory);
    const progress: number[] = [];
    const profile = await recording.profile({ formats: ['pprof', 'speedscope', 'script', 'csv'], onProgress: (bytes) => progress.push(bytes) });
    const readings = progress.length;
    for (const format of ['pprof', 'speedscope', 'script', 'csv'] as const) {
      const path = freshPath(format);
      await profile.write(format, path);
      expect(contentOf(path, format).equals(await byCommandLine(format, [directory]))).toBe(true);
    }
    expect(progress.length).toBe(readings);
    // These were not announced.
    await profile.toBytes('chrome');
    await profile.toBytes('script', { fields: ['addr'] });
    expect(progress.length).toBeGreaterThanOrEqual(readings);
    await recording.close();
    expect((await profile.toBytes('speedscope')).length).toBeGreaterThan(0);
    expect(await failure(profile.toBytes('script', { fields: ['addr'] }))).toEqual(['usage', expect.stringContaining('the recording is closed')]);
  });

  test('samples, periods and everything else in info --json', async () => {
    const recording = await openRecording(fixture('events.data'));
    const { stdout } = await runMain(['info', '--json', fixture('events.data')]);
    const info = await recording.info();
    expect(JSON.parse(JSON.stringify(info))).toEqual(JSON.parse(stdout.toString()));
    const profile = await recording.profile();
    expect(profile.events.map(({ name, samples, period }) => ({ name, samples, period }))).toEqual(
      info.events.map(({ name, samples, period }) => ({ name, samples, period })),
    );
    expect((await recording.info({ anonymous: true })).host.name).toBe(undefined);
    await recording.close();
  });

  test('the records of dump --json', async () => {
    const recording = await openRecording(fixture('tree.data'));
    const { stdout } = await runMain(['dump', '--json', '--type', 'COMM,EXIT', fixture('tree.data')]);
    const records: unknown[] = [];
    for await (const { type, offset, size } of recording.records({ types: ['COMM', 'EXIT'] })) records.push({ type, offset, size });
    const dumped = stdout
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; offset: number; size: number });
    expect(records).toEqual(dumped.map(({ type, offset, size }) => ({ type, offset, size })));
    expect(records.length).toBeGreaterThan(3);
    await recording.close();
  });

  test('the rows of report', async () => {
    const recording = await openRecording(fixture('threads.data'));
    const profile = await recording.profile({ ...SYMBOLS, lines: false, demangle: 'no-params' });
    const [{ events, rows }] = await profile.report({ children: true, limit: 20 });
    const { stdout } = await runMain(['report', '--children', '--limit', '20', ...argsOf(THREADS)], { env: { HOME: process.env.HOME ?? '' } });
    const lines = stdout.toString().split('\n').slice(2, 22);
    expect(events).toEqual(['cpu-clock']);
    expect(
      rows.map(({ percent, period, samples, selfPercent, function: name = '', dso }) =>
        [percent.toFixed(2), period, samples, selfPercent.toFixed(2), name, dso].join(' '),
      ),
    ).toEqual(lines.map((line) => line.trim().replace(/ {2,}/g, ' ')));
    await recording.close();
  });
});

describe('several recordings', () => {
  const inputs = (): string[] => [at('mon/a.data'), at('tue/a.data')];
  beforeAll(() => {
    for (const day of ['mon', 'tue']) mkdirSync(at(day));
    writeFileSync(at('mon/a.data'), fileRecording());
    writeFileSync(at('tue/a.data'), pipeRecording(6));
  });

  test.each(['pprof', 'speedscope', 'folded', 'csv'] as const)('merge into one profile, as %s', async (format) => {
    const recordings = await Promise.all(inputs().map((path) => openRecording(path)));
    const merged = await mergeProfiles(await Promise.all(recordings.map((recording) => recording.profile())));
    const path = freshPath(format);
    await merged.write(format, path, { byInput: true });
    const args = format === 'csv' ? inputs() : ['--by-input', ...inputs()];
    expect(contentOf(path, format).equals(await byCommandLine(format, args))).toBe(true);
    expect(merged.events.map(({ name, samples }) => [name, samples])).toEqual([
      ['cpu-clock', 6],
      ['page-faults', 3],
    ]);
    for (const recording of recordings) await recording.close();
  });

  test('are labeled as requested', async () => {
    const profiles = await Promise.all(inputs().map(async (path) => (await openRecording(path)).profile()));
    const merged = await mergeProfiles(profiles, { labels: ['base', 'base'] });
    const [table] = await merged.report({ sort: ['input'] });
    expect(table.rows.map(({ input, samples }) => [input, samples])).toEqual([
      ['base#2', 4],
      ['base', 2],
    ]);
    const { 'overview.csv': overview } = await merged.toTables();
    const labels = new TextDecoder()
      .decode(overview)
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((row) => row.slice(row.lastIndexOf(',') + 1));
    expect([...new Set(labels)]).toEqual(['base', 'base#2']);
    // Merged profiles can be merged again.
    const again = await mergeProfiles([merged, profiles[0]]);
    expect(again.events[0].samples).toBe(8);
  });

  test('are refused if there is nothing to merge', async () => {
    expect(await failure(mergeProfiles([]))).toEqual(['usage', 'there is no profile to merge']);
    const profile = await (await openRecording(inputs()[0])).profile();
    expect(await failure(mergeProfiles([profile], { labels: [] }))).toEqual(['usage', 'there are 0 labels for 1 recordings']);
    expect(await failure((await mergeProfiles([profile])).toBytes('script'))).toEqual(['usage', expect.stringContaining('cannot be merged into script')]);
  });
});

describe('findings', () => {
  test('are plain values, and count the same damage only once however often it is read', async () => {
    writeFileSync(at('lossy.data'), lossyRecording());
    const recording = await openRecording(at('lossy.data'));
    expect(recording.findings).toEqual([]);
    const profile = await recording.profile();
    const [lost] = profile.findings.filter(({ severity }) => severity === 'loss');
    expect(lost).toEqual({
      code: expect.any(String),
      severity: 'loss',
      message: expect.any(String),
      count: expect.any(Number),
      firstOffset: expect.anything(),
    });
    await recording.info();
    for await (const record of recording.records()) if (record.type === 'LOST') expect(record.lost).toBe(5n);
    const codes = recording.findings.map(({ code, count }) => [code, count]);
    expect(codes).toEqual(expect.arrayContaining(profile.findings.map(({ code, count }) => [code, count])));
    expect(new Set(codes.map(([code]) => code)).size).toBe(codes.length);
    await recording.close();
  });

  test('about a directory or a packed input belong to each reading', async () => {
    const cut = gzipSync(truncatedRecording());
    const recording = await openRecording(cut.subarray(0, cut.length - 12));
    for (let reading = 0; reading < 2; reading++) {
      expect((await recording.profile()).findings.map(({ code }) => code)).toContain('unpack-damaged');
    }
    await recording.close();
    const parts = at('parts.data');
    mkdirSync(parts);
    writeFileSync(join(parts, 'data'), fileRecording());
    writeFileSync(join(parts, 'data.1'), '');
    const incomplete = await openRecording(parts);
    for (let reading = 0; reading < 2; reading++) {
      const { findings } = await incomplete.profile();
      expect(findings.find(({ code }) => code === 'part-missing')?.count).toBe(1);
    }
    expect((await incomplete.info()).diagnostics.map(({ code }) => code)).toContain('part-missing');
    expect(incomplete.findings.find(({ code }) => code === 'part-missing')?.count).toBe(1);
    await incomplete.close();
  });

  test('name options with a missing directory', async () => {
    const recording = await openRecording(fileRecording());
    const { findings } = await recording.profile({ symfs: at('no-such-directory') });
    expect(findings.find(({ code }) => code === 'symbol-path')?.message).toBe(
      `symfs ${at('no-such-directory')}: no such directory: no symbols can come from it`,
    );
    await recording.close();
  });
});
