import { createReadStream } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import type { OpenInput } from '../../../src/base/streams/recording-input.ts';
import { openFile, openStream } from '../../../src/host/input/open-input.ts';
import { type ConvertOptions, type ConvertOutput, convert } from '../../../src/pipeline/convert.ts';
import { MergedConversion } from '../../../src/pipeline/convert-merged.ts';
import { readRecordingInfo } from '../../../src/pipeline/read-info.ts';
import { readProfile } from '../../../src/pipeline/read-profile.ts';
import { type WriteOptions, writeProfile } from '../../../src/pipeline/write-profile.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import type { SampleFilter } from '../../../src/session/filter/filter.ts';
import { parseTimeRanges } from '../../../src/session/filter/time-ranges.ts';
import { writeFolded } from '../../../src/writers/folded/folded.ts';
import { findMostSampledEvent, findTimelineEvent } from '../../../src/writers/primary-event.ts';
import { writeReport } from '../../../src/writers/report/report.ts';
import { writeTree } from '../../../src/writers/report/write-tree.ts';
import { makeTempDir, removeTempDir } from '../perf/perf-tool.ts';
import { runMain } from '../programs/run-main.ts';
import { type EventCount, type EventTotals, sumOf, timesOf, totalsOf, totalsText } from './event-totals.ts';
import {
  chromeSamples,
  cpuProfileSamples,
  firefoxTotals,
  foldedWeight,
  htmlTotals,
  infoTotals,
  otlpTotals,
  overviewTotals,
  parquetTotals,
  pprofTotals,
  reportTotals,
  scriptTotals,
  speedscopeTotals,
  statCount,
  tableTotals,
  treeTotals,
} from './output-totals.ts';

// What must be true of every recording, whatever is in it:
//
// - Each format has every sample once, with its period: pprof, OTLP, speedscope however it is grouped, firefox, html, parquet, folded stacks, processes.csv, results.csv, the
//   text of perf script, the report and its tree have the same number of samples and the same sum of periods, event by event.
// - A recording gives the same bytes when it is read from a file and through a pipe.
// - Filters that divide the samples among them (by event, comm, pid, tid, CPU, time) divide the totals.
// - A recording merged with itself has everything twice.
// - A terminal gets no control characters.
//
// What formats leave out or count differently, by design:
//
// - folded has one event: the one with most samples unless another is asked for. Here each is asked for in turn.
// - cpuprofile has one event as well, the one that shows best how time was spent. It shows times, too: the samples are counted.
// - firefox, chrome and cpuprofile do not hold several recordings: they show times.
// - chrome shows times: nothing says which event a track is of, and bars have no periods. The samples of all its tracks are counted.
// - overview.csv, stat.csv and info's counts of records have the records as they are in the file, whatever the filters are. A sample that was read
//   with its group is one record, but a sample of each event in the group, so that there are fewer records than samples. Samples that are made from
//   a hardware trace are no records.
// - `simpleperf record --trace-offcpu`: info, and script and csv when no other format is asked for, have the period 1 that was recorded for each switch;
//   everything else has the time until the thread was back.
// - Samples without a time or a CPU pass no filter by time or CPU.

export const GROUPS = ['thread', 'process', 'cpu', 'all'] as const;
const CHROME_STYLES = ['events', 'profile'] as const;
/** How many parts a recording is divided into by each filter. */
const PARTS = [0, 1, 2] as const;

/** Tests all of the above for each recording. @param reading how the recordings are read */
export function describeInvariants(recordings: readonly (readonly [name: string, path: string])[], reading: { readonly offCpu?: boolean } = {}): void {
  let emptyRoot = '';
  beforeAll(() => {
    emptyRoot = makeTempDir();
  });
  afterAll(() => removeTempDir(emptyRoot));

  describe.each(recordings)('%s', (_, path) => {
    it('has the same totals in every format', async () => {
      const { profile, files } = await convertTo(['pprof', 'otlp', 'speedscope', 'chrome', 'folded', 'script', 'csv'], () => openFile(path), {
        fields: [{ fields: ['event', 'period'] }],
        ...reading,
      });
      const expected = totalsText(profileTotals(profile));
      for (const table of ['processes.csv', 'results.csv']) expect(totalsText(tableTotals(fileOf(files, table))), table).toEqual(expected);
      if (expected.length === 0) return expect([...files.keys()].every((file) => file.endsWith('.csv'))).toBe(true);
      expect(totalsText(scriptTotals(fileOf(files, 'script'))), 'script').toEqual(expected);
      expect(totalsText(pprofTotals(fileOf(files, 'pprof'), eventNames(profile))), 'pprof').toEqual(expected);
      expect(totalsText(otlpTotals(fileOf(files, 'otlp'), eventNames(profile))), 'otlp').toEqual(expected);
      for (const [output, totals] of await totalsOfViews(profile)) expect(totalsText(totals), output).toEqual(expected);
      for (const [index, { samples, period }] of profile.events.entries()) {
        if (samples === 0) continue;
        const weightOf = (weight: 'samples' | 'period'): Promise<Uint8Array> => bytesOf((sink) => writeFolded(profile, sink, { event: index, weight }));
        expect([foldedWeight(await weightOf('samples')), foldedWeight(await weightOf('period'))], 'folded').toEqual([BigInt(samples), BigInt(period)]);
      }
      expect(foldedWeight(fileOf(files, 'folded')), 'folded by default').toBe(BigInt(profile.events[findMostSampledEvent(profile)].period));
      for (const chromeStyle of CHROME_STYLES) {
        const trace = await bytesAs('chrome', profile, { chromeStyle });
        expect(chromeSamples(trace), `chrome ${chromeStyle}`).toBe(sampleCount(profileTotals(profile)));
      }
    });

    it('has all samples of one event in a CPU profile', async () => {
      const { profile } = await read(path, {}, reading);
      const event = profile.events[findTimelineEvent(profile)];
      if (event === undefined) return;
      expect(cpuProfileSamples(await bytesAs('cpuprofile', profile, {}))).toBe(event.samples);
    });

    it('has as many records in the tables as info counts', async () => {
      const info = JSON.stringify(
        await using(
          () => openFile(path),
          (source) => readRecordingInfo(source, {}, new Diagnostics()),
        ),
      );
      const { records, events } = JSON.parse(info) as { records: { SAMPLE?: number; AUXTRACE?: number }; events: { attr: { readFormat: string[] } }[] };
      const { files } = await convertTo(['csv'], () => openFile(path));
      const inOverview = overviewTotals(fileOf(files, 'overview.csv'));
      const counts = [sampleCount(inOverview), statCount(fileOf(files, 'stat.csv'), 'SAMPLE')];
      expect(counts).toEqual([records.SAMPLE ?? 0, records.SAMPLE ?? 0]);
      expect(totalsText(infoTotals(info)), 'info').toEqual(totalsText(tableTotals(fileOf(files, 'results.csv'))));
      const areRecords = records.AUXTRACE === undefined && events.every(({ attr }) => !attr.readFormat.includes('GROUP'));
      if (areRecords) expect(totalsText(inOverview), 'overview.csv').toEqual(totalsText(infoTotals(info)));
    });

    it('is the same through a pipe', async () => {
      const formats = ['pprof', 'otlp', 'speedscope', 'chrome', 'cpuprofile', 'firefox', 'html', 'parquet', 'folded', 'script', 'csv'] as const;
      const fromFile = await convertTo(formats, () => openFile(path), reading);
      const fromPipe = await convertTo(formats, () => openStream(createReadStream(path), path), reading);
      expect([...fromPipe.files.keys()]).toEqual([...fromFile.files.keys()]);
      const differing = [...fromFile.files].filter(([file, bytes]) => Buffer.compare(bytes, fileOf(fromPipe.files, file)) !== 0).map(([file]) => file);
      expect(differing).toEqual([]);
    });

    it('has parts that add up to the whole when filters divide it', async () => {
      const { profile, samples } = await read(path, {}, reading);
      const whole = profileTotals(profile);
      const divided = async (filters: readonly SampleFilter[]): Promise<string[]> => {
        const parts: EventTotals[] = [];
        for (const filter of filters) parts.push(profileTotals((await read(path, filter, reading)).profile));
        return totalsText(sumOf(parts));
      };
      const among = <Value>(values: readonly Value[]): Value[][] => {
        const distinct = [...new Set(values)];
        return PARTS.map((part) => distinct.filter((_, i) => i % PARTS.length === part));
      };
      expect(await divided(among(samples.map(({ event }) => event)).map((events) => ({ events }))), 'by event').toEqual(totalsText(whole));
      expect(await divided(among(samples.map(({ comm }) => comm)).map((comms) => ({ comms }))), 'by comm').toEqual(totalsText(whole));
      expect(await divided(among(samples.map(({ pid }) => pid)).map((pids) => ({ pids }))), 'by pid').toEqual(totalsText(whole));
      expect(await divided(among(samples.map(({ tid }) => tid)).map((tids) => ({ tids }))), 'by tid').toEqual(totalsText(whole));

      const onCpus = samples.filter(({ cpu }) => cpu >= 0);
      expect(await divided(among(onCpus.map(({ cpu }) => cpu)).map((cpus) => ({ cpus }))), 'by CPU').toEqual(totalsText(addedUp(onCpus)));

      const timed = samples.filter(({ timeNs }) => !Number.isNaN(timeNs));
      const withTime = totalsText(addedUp(timed));
      const middle = profile.meta.startTime + BigInt(Math.floor(profile.meta.durationNs / 2));
      const halves: SampleFilter[] = [{ times: [{ kind: 'clock', to: middle }] }, { times: [{ kind: 'clock', from: middle + 1n }] }];
      expect(await divided(halves), 'by seconds').toEqual(withTime);
      const quarters = [1, 2, 3, 4].map((nth): SampleFilter => ({ times: parseTimeRanges(`25%/${nth}`, '--time') }));
      expect(await divided(quarters), 'by per cent').toEqual(withTime);
    });

    it('merged with itself has everything twice', async () => {
      const { profile } = await read(path, {}, reading);
      const single = profileTotals(profile);
      const twice = totalsText(timesOf(single, 2));
      const formats = ['pprof', 'otlp', 'speedscope', 'html', 'parquet', 'folded', 'csv'] as const;
      const { profile: merged, files } = await convertMerged(formats, [path, path], reading);
      expect(totalsText(profileTotals(merged)), 'profile').toEqual(twice);
      for (const table of ['processes.csv', 'results.csv']) expect(totalsText(tableTotals(fileOf(files, table))), table).toEqual(twice);
      if (twice.length === 0) return;
      expect(totalsText(pprofTotals(fileOf(files, 'pprof'), eventNames(merged))), 'pprof').toEqual(twice);
      expect(totalsText(otlpTotals(fileOf(files, 'otlp'), eventNames(merged))), 'otlp').toEqual(twice);
      expect(totalsText(htmlTotals(fileOf(files, 'html'))), 'html').toEqual(twice);
      expect(totalsText(await parquetTotals(fileOf(files, 'parquet'))), 'parquet').toEqual(twice);
      for (const [output, totals] of await totalsOfViews(merged)) expect(totalsText(totals), output).toEqual(twice);
      const folded = foldedWeight(await bytesOf((sink) => writeFolded(profile, sink)));
      expect(foldedWeight(fileOf(files, 'folded')), 'folded').toBe(2n * folded);
    });

    it('shows a terminal no control characters', () => expectNoControls(path, emptyRoot));
  });
}

/** @param emptyRoot a folder without symbols */
export async function expectNoControls(path: string, emptyRoot: string): Promise<void> {
  const options = ['--symfs', emptyRoot, '--no-progress'];
  const script = ['convert', ...options, '-t', 'script', '-o', '-', path];
  const inspecting = [['info'], ['info', '--verbose'], ['dump']].map((words) => [...words, '--no-progress', path]);
  for (const command of [['report', ...options, path], ['report', '--tree', ...options, path], ['diff', ...options, path, path], ...inspecting, script]) {
    const { stdout, stderr } = await runMain(command, { isTTY: true, env: { NO_COLOR: '1' } });
    // Frames of a callchain are indented by a tab.
    const text = command === script ? stdout.toString().replaceAll('\n\t', '\n') : stdout.toString();
    expect(firstControl(text), command.slice(0, -1).join(' ')).toBeUndefined();
    expect(firstControl(stderr), `${command[0]}, standard error`).toBeUndefined();
  }
}

/** The formats that can be written in several ways, or as text. */
async function totalsOfViews(profile: Profile): Promise<[output: string, totals: EventTotals][]> {
  const names = eventNames(profile);
  const views: [string, EventTotals][] = [['report', reportTotals(await bytesOf((sink) => writeReport(profile, sink, { sort: ['comm', 'dso'] })))]];
  views.push(['report --tree', treeTotals(await bytesOf((sink) => writeTree(profile, sink, { layout: 'json', levels: ['comm'], percentLimit: 0 })))]);
  if (profile.inputs === undefined) views.push(['firefox', firefoxTotals(await bytesAs('firefox', profile, {}), names)]);
  views.push(['html', htmlTotals(await bytesAs('html', profile, {}))]);
  views.push(['parquet', await parquetTotals(await bytesAs('parquet', profile, {}))]);
  for (const group of GROUPS) views.push([`speedscope --group ${group}`, speedscopeTotals(await bytesAs('speedscope', profile, { group }), names)]);
  return views;
}

type Files = ReadonlyMap<string, Uint8Array>;

/** Outputs to memory, each by the name of its format, tables by the names of their files. */
function memoryOutputs(formats: readonly ConvertOutput['format'][]): { outputs: ConvertOutput[]; files: () => Files } {
  const sinks = new Map<string, BufferSink>();
  const open = (name: string): BufferSink => {
    const sink = new BufferSink();
    sinks.set(name, sink);
    return sink;
  };
  const outputs = formats.map(
    (format): ConvertOutput => (format === 'csv' ? { format, openTable: async (table) => open(table) } : { format, sink: open(format) }),
  );
  return { outputs, files: () => new Map([...sinks].map(([name, sink]) => [name, sink.bytes()])) };
}

/** Converts to several formats at once; only to tables if there are no samples. */
async function convertTo(
  formats: readonly ConvertOutput['format'][],
  open: () => Promise<OpenInput>,
  options: ConvertOptions = {},
): Promise<{ profile: Profile; files: Files }> {
  try {
    const { outputs, files } = memoryOutputs(formats);
    const { profile } = await using(open, (source) => convert(source, outputs, options, new Diagnostics()));
    return { profile, files: files() };
  } catch (error) {
    if (formats.length > 1 && hasNoSamples(error)) return convertTo(['csv'], open, options);
    throw error;
  }
}

async function convertMerged(
  formats: readonly ConvertOutput['format'][],
  paths: readonly string[],
  reading: { readonly offCpu?: boolean },
): Promise<{ profile: Profile; files: Files }> {
  const { outputs, files } = memoryOutputs(formats);
  const conversion = new MergedConversion(outputs, {}, new Diagnostics());
  try {
    for (const [nth, path] of paths.entries()) {
      await using(
        () => openFile(path),
        (source) => conversion.add(source, `input ${nth}`, reading, new Diagnostics()),
      );
      await conversion.writeRecords();
    }
    return { profile: await conversion.finish(), files: files() };
  } catch (error) {
    if (formats.length > 1 && hasNoSamples(error)) return convertMerged(['csv'], paths, reading);
    throw error;
  }
}

const hasNoSamples = (error: unknown): boolean => error instanceof PerfconvError && error.code === 'no-samples';

async function using<Result>(open: () => Promise<OpenInput>, use: (source: OpenInput['source']) => Promise<Result>): Promise<Result> {
  const { source } = await open();
  try {
    return await use(source);
  } finally {
    await source.close();
  }
}

/** The fields that filters look at. */
interface FilteredSample {
  readonly event: string;
  readonly period: number;
  readonly comm: string;
  readonly pid: number;
  readonly tid: number;
  readonly cpu: number;
  readonly timeNs: number;
}

export async function read(
  path: string,
  filter: SampleFilter = {},
  reading: { readonly offCpu?: boolean; readonly keepThreadEvents?: boolean } = {},
): Promise<{ profile: Profile; samples: FilteredSample[] }> {
  const options = { filter, offCpuTimes: true, keepSamples: true, ...reading };
  const { profile } = await using(
    () => openFile(path),
    (source) => readProfile(source, options, new Diagnostics()),
  );
  const { samples: table, events, tasks, threads } = profile;
  if (table === undefined) throw new Error('no samples kept');
  const samples = Array.from({ length: table.size }, (_, row): FilteredSample => {
    const { comm, thread } = tasks[table.task[row]];
    const { pid, tid } = threads[thread];
    return { event: events[table.event[row]].name, comm, period: table.period[row], pid, tid, cpu: table.cpu[row], timeNs: table.timeNs[row] };
  });
  return { profile, samples };
}

/** What the library itself counts. */
export function profileTotals({ events }: Profile): EventTotals {
  return totalsOf(events.map(({ name, samples, period }): EventCount => [name, samples, BigInt(period)]));
}

function addedUp(samples: readonly FilteredSample[]): EventTotals {
  return totalsOf(samples.map(({ event, period }): EventCount => [event, 1, BigInt(period)]));
}

function sampleCount(totals: EventTotals): number {
  return [...totals.values()].reduce((sum, { samples }) => sum + samples, 0);
}

/** A name for each event with samples. */
export function eventNames({ events }: Profile): string[] {
  return events.filter(({ samples }) => samples > 0).map(({ name }) => name);
}

async function bytesOf(write: (sink: BufferSink) => Promise<unknown>): Promise<Uint8Array> {
  const sink = new BufferSink();
  await write(sink);
  return sink.bytes();
}

export function bytesAs(
  format: 'pprof' | 'speedscope' | 'chrome' | 'cpuprofile' | 'firefox' | 'html' | 'parquet',
  profile: Profile,
  options: WriteOptions,
): Promise<Uint8Array> {
  return bytesOf((sink) => writeProfile(format, profile, sink, options, new Diagnostics()));
}

function fileOf(files: Files, name: string): Uint8Array {
  const bytes = files.get(name);
  if (bytes === undefined) throw new Error(`${name} was not written`);
  return bytes;
}

/** The first place in a text that moves a cursor, sets colors or hides other text; undefined if there is none. */
function firstControl(text: string): string | undefined {
  const found = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/.exec(text);
  return found === null ? undefined : JSON.stringify(text.slice(Math.max(0, found.index - 40), found.index + 40));
}
