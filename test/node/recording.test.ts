import { closeSync, createReadStream, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/diagnostics.ts';
import type { PerfconvErrorCode } from '../../src/base/errors.ts';
import { RepeatableInput } from '../../src/host/repeatable-input.ts';
import { FORMATS, type Format, mergeProfiles, openRecording, PerfconvError, type ProfileOptions, type WriteOptions } from '../../src/node.ts';
import { emptyRecording, fileRecording, lossyRecording, pipeRecording, truncatedRecording } from '../support/cli-recordings.ts';
import { makeDirectoryRecording } from '../support/directory-recording.ts';
import { encodeFile, record } from '../support/perf-encoder.ts';
import { runMain } from '../support/run-main.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));

let dir: string;
const at = (...names: string[]): string => join(dir, ...names);
/** A directory recording with all kinds of names. */
let directory: string;
/** Recordings of a program without symbols, in file form and in pipe form. */
let small: string;
let piped: string;
/** A recording of a thread whose name a spreadsheet would run as a formula. */
let formula: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-library-'));
  directory = makeDirectoryRecording(dir);
  small = at('small.data');
  piped = at('piped.data');
  writeFileSync(small, fileRecording(30));
  writeFileSync(piped, pipeRecording(30));
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

async function failure(work: Promise<unknown>): Promise<[PerfconvErrorCode, string]> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PerfconvError)) throw new Error(`expected a PerfconvError, got ${error}`);
  return [error.code, error.message];
}

describe('the library gives the same as the command line for', () => {
  test.each(FORMATS)('a directory with a kernel list, jitdump file and inlined functions, as %s', async (format) => {
    const written = await byLibrary(format, directory);
    expect(written.equals(await byCommandLine(format, [directory]))).toBe(true);
    const text = format === 'pprof' ? gunzipSync(written) : written;
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

  test('are labelled as requested', async () => {
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

describe('an input', () => {
  const forms: readonly [string, () => Parameters<typeof openRecording>[0]][] = [
    ['a stream', () => createReadStream(small)],
    ['a stream of a recording in pipe form', () => Readable.from([readFileSync(piped)])],
    ['a descriptor', () => openSync(small, 'r')],
    ['a file: URL', () => pathToFileURL(small)],
    ['a web stream', () => new Blob([readFileSync(small)]).stream()],
    ['a web stream of a recording in pipe form', () => new Blob([readFileSync(piped)]).stream()],
    ['a Blob', () => new Blob([readFileSync(small)])],
    ['a packed Blob of a recording in pipe form', () => new Blob([gzipSync(readFileSync(piped))])],
    ['bytes', () => readFileSync(small)],
    ['packed bytes', () => gzipSync(readFileSync(small))],
    ['a packed stream of a recording in pipe form', () => Readable.from([gzipSync(readFileSync(piped))])],
  ];
  test.each(forms)('can be %s, and can be read any number of times', async (name, make) => {
    const input = make();
    const file = name.includes('pipe') ? piped : small;
    const recording = await openRecording(input, { name: file });
    const known = await openRecording(file);
    for (const format of ['folded', 'speedscope'] as const) {
      expect(await (await recording.profile()).toBytes(format)).toEqual(await (await known.profile()).toBytes(format));
    }
    const counts = await Promise.all([recording.info(), recording.info()]);
    expect(counts.map(({ recordCount }) => recordCount)).toEqual(Array(2).fill((await known.info()).recordCount));
    await recording.close();
    await recording.close();
    await known.close();
    if (typeof input === 'number') closeSync(input);
  });

  test('is a directory by its file: URL', async () => {
    const recording = await openRecording(pathToFileURL(directory));
    expect(recording.name).toBe(directory);
    await recording.close();
  });

  test('has the name and time of its File', async () => {
    const file = Object.assign(new Blob([readFileSync(small)]), { name: 'web.data', lastModified: 1_767_545_300_000 });
    const recording = await openRecording(file);
    expect([recording.name, (await recording.info()).modifiedTime]).toEqual(['web.data', '2026-01-04T16:48:20.000000000Z']);
    await recording.close();
  });

  test('is refused if it is a URL of something else, or a web stream that is being read', async () => {
    for (const url of ['https://example.com/perf.data', 'file:///a%2fb', 'file:///%ff']) {
      expect(await failure(openRecording(new URL(url)))).toEqual(['usage', `${url}: a recording is opened from a file: URL with a path on this machine`]);
    }
    const stream = new Blob([readFileSync(small)]).stream();
    stream.getReader();
    expect(await failure(openRecording(stream))).toEqual(['usage', 'the stream cannot be read: it is locked, or no web stream']);
    expect(await failure(openRecording(new ReadableStream({ start: (controller) => controller.error(new Error('gone')) })))).toEqual([
      'io',
      expect.stringContaining('gone'),
    ]);
  });

  test('is refused if it is a stream of text or objects, and the stream is closed', async () => {
    for (const stream of [createReadStream(small, 'latin1'), Readable.from(['text']), Readable.from([5])]) {
      expect(await failure(openRecording(stream))).toEqual(['usage', expect.stringContaining('the stream gives text or objects, not bytes')]);
      expect(stream.destroyed).toBe(true);
    }
    for (const chunk of ['text', 5, {}, new ArrayBuffer(8)]) {
      let isCancelled = false;
      const stream = new ReadableStream({
        start: (controller) => controller.enqueue(chunk),
        cancel: () => {
          isCancelled = true;
        },
      });
      expect(await failure(openRecording(stream))).toEqual(['usage', expect.stringContaining('the stream gives text or objects, not bytes')]);
      expect(isCancelled).toBe(true);
    }
  });

  test('is refused at once if it is missing or not a recording', async () => {
    writeFileSync(at('notes.txt'), 'no recording');
    expect(await failure(openRecording(at('notes.txt')))).toEqual(['not-perf-data', expect.any(String)]);
    expect(await failure(openRecording(at('nothing')))).toEqual(['io', expect.stringContaining('nothing: no such file')]);
    expect(await failure(openRecording(at('mon')))).toEqual(['io', expect.stringContaining('not a recording')]);
  });
});

describe('closing a recording while it is read', () => {
  const forms: readonly [string, () => Parameters<typeof openRecording>[0]][] = [
    ['a file', () => small],
    ['a file in pipe form', () => piped],
    ['a directory', () => directory],
    ['bytes', () => readFileSync(small)],
    ['a stream', () => createReadStream(small)],
    ['packed bytes, which are kept', () => gzipSync(readFileSync(small))],
    ['packed bytes in pipe form, which are unpacked for each reading', () => gzipSync(readFileSync(piped))],
  ];
  test.each(forms)('makes the reading fail: %s', async (_, make) => {
    for (const read of ['profile', 'info'] as const) {
      const recording = await openRecording(make(), { name: 'web.data' });
      const reading = failure(recording[read]());
      await recording.close();
      expect(await reading).toEqual(['usage', expect.stringMatching(/: the recording was closed while it was being read$/)]);
    }
  });

  test('makes the reading of single records fail', async () => {
    const recording = await openRecording(small);
    const first = failure(recording.records().next());
    await recording.close();
    expect(await first).toEqual(['usage', `${small}: the recording was closed while it was being read`]);
  });
});

test('a recording can be read again after a reading that failed for lack of space', async () => {
  // Packed recordings in file form are kept in a file if they are larger than 64 MiB.
  const packed = gzipSync(Buffer.concat([readFileSync(small), Buffer.alloc(64 << 20)]), { level: 1 });
  const { TMPDIR } = process.env;
  process.env.TMPDIR = at('no-such-directory');
  const input = await RepeatableInput.open(packed, 'perf.data');
  try {
    expect((await failure(input.open(new Diagnostics())))[0]).toBe('io');
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
  expect((await input.open(new Diagnostics())).source.sizeBytes).toBeGreaterThan(64 << 20);
  await input.close();
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
    const recording = await openRecording(small);
    const { findings } = await recording.profile({ symfs: at('no-such-directory') });
    expect(findings.find(({ code }) => code === 'symbol-path')?.message).toBe(
      `symfs ${at('no-such-directory')}: no such directory: no symbols can come from it`,
    );
    await recording.close();
  });
});

describe('an output', () => {
  test('can be a stream, which is not ended', async () => {
    const recording = await openRecording(small);
    const profile = await recording.profile();
    const stream = new PassThrough();
    const content = buffer(stream);
    await profile.write('folded', stream);
    await profile.write('pprof', stream, { gzip: false });
    stream.end();
    expect(await content).toEqual(Buffer.concat([await profile.toBytes('folded'), await profile.toBytes('pprof', { gzip: false })]));
    expect(gunzipSync(await profile.toBytes('pprof'))).toEqual(Buffer.from(await profile.toBytes('pprof', { gzip: false })));
    await recording.close();
  });

  test('can be a web stream, which is not closed', async () => {
    const recording = await openRecording(small);
    const profile = await recording.profile();
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const content = new Response(readable).arrayBuffer();
    await profile.write('folded', writable);
    await profile.write('pprof', writable, { gzip: false });
    await writable.close();
    expect(Buffer.from(await content)).toEqual(Buffer.concat([await profile.toBytes('folded'), await profile.toBytes('pprof', { gzip: false })]));
    expect(await failure(profile.write('csv', new WritableStream()))).toEqual(['usage', 'csv is a directory of four tables: give its path']);
    await recording.close();
  });

  test('can be a file: URL', async () => {
    const recording = await openRecording(small);
    const profile = await recording.profile();
    await profile.write('folded', pathToFileURL(at('by url.folded')));
    expect(readFileSync(at('by url.folded'))).toEqual(Buffer.from(await profile.toBytes('folded')));
    await profile.write('csv', pathToFileURL(at('by url.csv')));
    expect(readdirSync(at('by url.csv'))).toContain('overview.csv');
    const remote = 'https://example.org/cpu.folded';
    expect(await failure(profile.write('folded', new URL(remote)))).toEqual([
      'usage',
      `${remote}: a format is written to a file: URL with a path on this machine`,
    ]);
    await recording.close();
  });

  test('does not appear if writing fails', async () => {
    const recording = await openRecording(small);
    const profile = await recording.profile();
    const before = readdirSync(dir);
    expect((await failure(profile.write('chrome', at('x.trace.json'), { wallClock: true })))[0]).toBe('unsupported');
    expect(await failure(profile.write('folded', at('no', 'x.folded')))).toEqual(['io', expect.stringContaining('there is no directory')]);
    expect(await failure(profile.write('csv', at('tables'), { gzip: true }))).toEqual(['usage', expect.any(String)]);
    expect(readdirSync(dir)).toEqual(before);
    await recording.close();
  });

  test('must not replace a file that is read', async () => {
    const copy = at('copy.data');
    const kallsyms = at('kallsyms');
    writeFileSync(copy, readFileSync(small));
    writeFileSync(kallsyms, readFileSync(fixture('kallsyms')));
    const recording = await openRecording(copy);
    const profile = await recording.profile({ kallsyms });
    expect(await failure(profile.write('pprof', copy))).toEqual(['usage', `${copy} would overwrite the input ${copy}`]);
    expect(await failure(profile.write('pprof', kallsyms))).toEqual(['usage', `${kallsyms} would overwrite ${kallsyms}, which symbols were read from`]);
    await recording.close();
    const whole = await openRecording(directory);
    const part = join(directory, 'data.7');
    expect(await failure((await whole.profile()).write('pprof', part))).toEqual(['usage', `${part} would become part of the input ${directory}`]);
    const data = join(directory, 'data');
    expect(await failure((await whole.profile()).write('pprof', data))).toEqual(['usage', `${data} would overwrite data of the input ${directory}`]);
    expect(await failure((await whole.profile()).write('csv', directory))).toEqual(['usage', `${directory} would overwrite the input ${directory}`]);
    expect(existsSync(part)).toBe(false);
    await whole.close();
  });

  test('is an error of type io if it cannot be written', async () => {
    const recording = await openRecording(small);
    const full = new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error('no space'), { code: 'ENOSPC' })) });
    expect((await failure((await recording.profile()).write('folded', full)))[0]).toBe('io');
    expect((await failure((await recording.profile()).write('pprof', full)))[0]).toBe('io');
    await recording.close();
  });

  test('is refused for a recording without samples, except CSV, which also shows other records', async () => {
    const recording = await openRecording(emptyRecording());
    const profile = await recording.profile();
    expect(profile.events.map(({ samples }) => samples)).toEqual([0]);
    expect(await failure(profile.toBytes('pprof'))).toEqual(['no-samples', 'the recording holds no samples']);
    expect(await failure(profile.report())).toEqual(['no-samples', 'no samples to report']);
    expect(Object.keys(await profile.toTables()).sort()).toEqual(['overview.csv', 'processes.csv', 'results.csv', 'stat.csv']);
    await recording.close();
  });
});

/** Options with values of wrong types. */
const ofOtherTypes = {
  reading: [
    ...[{ event: 5 }, { comm: [null] }, { pid: '1' }, { symfs: ['/'] }, { debugDir: [5] }, { kallsyms: true }, { perfMapDir: {} }],
    ...[{ inlines: 'no' }, { lines: 0 }, { demangle: false }, { maxStack: '5' }, { compat: true }, { time: null }],
    ...[{ formats: 'pprof' }, { formats: [5] }, { onProgress: 'log' }, { debuginfod: 5 }],
  ],
  writing: [
    ...[{ weight: ['samples'] }, { byInput: 'no' }, { labels: 'pid' }, { group: null }, { csvSafe: 1 }, { fields: 'comm' }, { fields: [5] }],
    ...[{ ns: 'yes' }, { wallClock: 0 }, { gzip: 'no' }],
  ],
};

describe('options', () => {
  test('are refused if they are misspelt, contradict each other or name missing files', async () => {
    const recording = await openRecording(small);
    const refused = (options: object): Promise<[PerfconvErrorCode, string]> => failure(recording.profile(options));
    expect(await refused({ symFs: '/' })).toEqual(['usage', expect.stringMatching(/^there is no option symFs; there are event, .*debuginfod$/)]);
    expect(await refused({ inlines: true, lines: false })).toEqual(['usage', 'inlines cannot be combined with lines: false']);
    expect(await refused({ time: '12.5' })).toEqual(['usage', expect.stringMatching(/^time 12\.5: expected FROM,TO in seconds/)]);
    expect(await refused({ formats: ['html'] })).toEqual(['usage', `formats html: expected one of ${FORMATS.join(', ')}`]);
    expect(await refused({ kallsyms: at('nothing') })).toEqual(['io', expect.stringContaining(`kallsyms ${at('nothing')}: no such file`)]);
    expect(await refused({ vmlinux: at('notes.txt') })).toEqual(['io', expect.stringContaining('is not an ELF file')]);
    expect(await refused({ debuginfod: 'ftp://x' })).toEqual(['usage', expect.stringContaining('debuginfod ftp://x: expected https://')]);
    expect(await refused({ time: 'noon' })).toEqual(['usage', expect.any(String)]);
    const profile = await recording.profile();
    expect(await failure(profile.toBytes('pprof', { label: ['pid'] } as WriteOptions))).toEqual(['usage', expect.stringContaining('there is no option label')]);
    expect(await failure(profile.toBytes('csv' as 'pprof'))).toEqual(['usage', expect.stringContaining('toTables()')]);
    expect(await failure(profile.toBytes('html' as 'pprof'))).toEqual(['usage', `there is no format html; there are ${FORMATS.join(', ')}`]);
    await recording.close();
    expect(await failure(recording.profile())).toEqual(['usage', expect.stringContaining('the recording is closed')]);
  });

  test('are refused if their values are invalid', async () => {
    const recording = await openRecording(small);
    const profile = await recording.profile();
    const refusals: [string, () => Promise<unknown>][] = [
      ...[{ demangle: 'fancy' }, { compat: 'gdb' }, { pid: 'abc' }, { cpu: [0, 1.5] }, { maxStack: 0 }, { time: 5 }, ...ofOtherTypes.reading].map(
        (options): [string, () => Promise<unknown>] => [Object.keys(options)[0], () => recording.profile(options as ProfileOptions)],
      ),
      ...[{ weight: 'time' }, { labels: ['pids'] }, { group: 'core' }, { chromeStyle: 'bars' }, { fields: ['+symbol'] }, ...ofOtherTypes.writing].map(
        (options): [string, () => Promise<unknown>] => [Object.keys(options)[0], () => profile.toBytes('pprof', options as unknown as WriteOptions)],
      ),
      ...[{ sort: ['name'] }, { weight: 'time' }, { limit: 0 }, { sort: 'function' }, { children: 'yes' }, { limit: '5' }].map(
        (options): [string, () => Promise<unknown>] => [Object.keys(options)[0], () => profile.report(options as never)],
      ),
      ['types', () => recording.records({ types: ['MMAP3' as 'MMAP2'] }).next()],
      ['types', () => recording.records({ types: 'COMM' } as object).next()],
      ['onProgress', () => recording.info({ onProgress: 1 } as object)],
      ['anonymous', () => recording.info({ anonymous: 'yes' } as object)],
      ['name', () => openRecording(small, { name: 5 } as object)],
      ['modifiedNs', () => openRecording(small, { modifiedNs: 5 } as object)],
      ['labels', () => mergeProfiles([profile], { labels: 'monday' } as object)],
      ['labels', () => mergeProfiles([profile], { labels: [1] } as object)],
    ];
    for (const [option, refused] of refusals) {
      expect(await failure(refused()), option).toEqual(['usage', expect.stringMatching(new RegExp(`^${option} .*: expected`))]);
    }
    const misspelt = [
      () => openRecording(small, { nmae: 'x' } as object),
      () => profile.report({ childern: true } as object),
      () => recording.records({ type: ['COMM'] } as object).next(),
      () => recording.info({ anonymus: true } as object),
      () => mergeProfiles([profile], { label: ['x'] } as object),
    ];
    for (const refused of misspelt) expect(await failure(refused())).toEqual(['usage', expect.stringContaining('there is no option')]);
    await recording.close();
  });

  test('are refused if they are not an object', async () => {
    const recording = await openRecording(small);
    const profile = await recording.profile();
    for (const options of [null, 'pprof', 5, ['pprof'], () => {}] as unknown[]) {
      const given = options as object;
      const refusals = [
        () => openRecording(small, given),
        () => recording.profile(given),
        () => recording.info(given),
        () => recording.records(given).next(),
        () => profile.toBytes('pprof', given),
        () => profile.toTables(given),
        () => profile.write('folded', at('refused.folded'), given),
        () => profile.write('csv', at('refused.csv'), given),
        () => profile.report(given),
        () => mergeProfiles([profile], given),
      ];
      for (const refused of refusals) {
        expect(await failure(refused()), String(refused)).toEqual(['usage', expect.stringMatching(/^the options are .*: expected an object$/)]);
      }
    }
    await recording.close();
  });

  test('have their defaults if they are undefined', async () => {
    const recording = await openRecording(small, { name: undefined } as object);
    const all = { event: undefined, inlines: undefined, formats: undefined, symfs: undefined, debuginfod: undefined, maxStack: undefined };
    const profile = await recording.profile(all as object);
    const known = await recording.profile();
    for (const format of ['folded', 'pprof'] as const) {
      expect(await profile.toBytes(format, { weight: undefined, gzip: undefined } as object)).toEqual(await known.toBytes(format));
    }
    expect(await profile.report({ limit: undefined, sort: undefined } as object)).toEqual(await known.report());
    await recording.close();
  });

  test('are not a replacement for a missing output or missing profiles', async () => {
    const recording = await openRecording(small);
    const profile = await recording.profile();
    for (const output of [undefined, null, 5, {}, [at('x')]]) {
      expect(await failure(profile.write('pprof', output as string))).toEqual([
        'usage',
        'a format is written to a path, a file: URL, or a stream of node:stream or of the web',
      ]);
    }
    for (const profiles of [undefined, null, {}, profile]) {
      expect(await failure(mergeProfiles(profiles as []))).toEqual(['usage', 'an array or another iterable of profiles is needed to merge them']);
    }
    await recording.close();
  });

  test('cannot be given in place of an input', async () => {
    for (const input of [undefined, null, -1, {}, [small], new ArrayBuffer(8)]) {
      expect(await failure(openRecording(input as string))).toEqual(['usage', expect.stringContaining('is opened from a path')]);
    }
  });
});
