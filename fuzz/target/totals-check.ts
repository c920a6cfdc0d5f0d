import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import type { ByteSink } from '../../src/base/streams/byte-sink.ts';
import { writeProfile } from '../../src/pipeline/write-profile.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { writeReport } from '../../src/writers/report/report.ts';
import { type EventCount, type EventTotals, totalsOf, totalsText } from '../../test/support/truth/event-totals.ts';
import {
  chromeSamples,
  cpuProfileSamples,
  firefoxTotals,
  foldedWeight,
  htmlTotals,
  otlpTotals,
  parquetTotals,
  pprofTotals,
  reportTotals,
  scriptTotals,
  speedscopeTotals,
  tableTotals,
} from '../../test/support/truth/output-totals.ts';
import type { Random } from '../random.ts';
import { OutputSink } from './output-sink.ts';

// Every format must hold all samples of a profile with their periods, even if the recording is damaged.

const GROUPS = ['thread', 'process', 'cpu', 'all'] as const;
export type Group = (typeof GROUPS)[number];

/** Larger sums lose digits, and which ones depends on the order of addition. */
const MAX_EXACT = BigInt(Number.MAX_SAFE_INTEGER);
/** Profiles with more samples, or larger outputs (for example with names of a megabyte), are not compared. */
const MAX_SAMPLES = 20_000;
const MAX_OUTPUT_BYTES = 8 << 20;

export function groupFor(random: Random): Group {
  return random.pick(GROUPS);
}

/**
 * What formats disagree about, among those whose outputs can be kept; undefined if they agree.
 * @param tables processes.csv and results.csv
 */
export async function totalsFault(profile: Profile, group: Group, tables: ReadonlyMap<string, Uint8Array>): Promise<string | undefined> {
  const odd = profile.events.find(({ period, samples }) => !Number.isFinite(period) || !Number.isInteger(samples));
  if (odd !== undefined) return `an event has ${odd.samples} samples of period ${odd.period}`;
  const expected = totalsOf(profile.events.map(({ name, samples, period }): EventCount => [name, samples, BigInt(period)]));
  const total = [...expected.values()].reduce((sum, { samples }) => sum + samples, 0);
  if (total === 0 || total > MAX_SAMPLES) return undefined;
  const isExact = [...expected.values()].every(({ period }) => period <= MAX_EXACT);
  // Other names are shown with escapes, or end lines.
  const isPlain = profile.events.every(({ name }) => /^[\w:.,=-]+$/.test(name));
  const names = isPlain ? profile.events.filter(({ samples }) => samples > 0).map(({ name }) => name) : undefined;
  const shown = (totals: EventTotals): string => {
    const lines = isPlain ? totals : totalsOf([...totals.values()].map(({ samples, period }): EventCount => ['all', samples, period]));
    return totalsText(isExact ? lines : totalsOf([...lines].map(([event, { samples }]): EventCount => [event, samples, 0n]))).join('; ');
  };
  const found: [output: string, totals: EventTotals | undefined][] = [...tables].map(([name, bytes]) => [name, tableTotals(bytes)]);
  found.push(['report', read(await bytesOf((sink) => writeReport(profile, sink)), reportTotals)]);
  found.push(['pprof', read(await bytesAs(profile, 'pprof'), (bytes) => pprofTotals(bytes, names))]);
  found.push(['otlp', read(await bytesAs(profile, 'otlp'), (bytes) => otlpTotals(bytes, names))]);
  found.push([`speedscope --group ${group}`, read(await bytesAs(profile, 'speedscope', { group }), (bytes) => speedscopeTotals(bytes, names))]);
  found.push(['firefox', read(await bytesAs(profile, 'firefox'), (bytes) => firefoxTotals(bytes, names))]);
  found.push(['html', read(await bytesAs(profile, 'html'), htmlTotals)]);
  const table = await bytesAs(profile, 'parquet');
  found.push(['parquet', table && (await parquetTotals(table))]);
  if (isPlain) found.push(['script', read(await bytesAs(profile, 'script', { fields: [{ fields: ['event', 'period'] }] }), scriptTotals)]);
  for (const [output, totals] of found) {
    if (totals !== undefined && shown(totals) !== shown(expected)) return `${output} has ${shown(totals)}; the profile ${shown(expected)}`;
  }
  const inTrace = read(await bytesAs(profile, 'chrome', { chromeStyle: group === 'all' ? 'profile' : 'events' }), chromeSamples) ?? total;
  if (inTrace !== total) return `chrome has ${inTrace} samples, the profile ${total}`;
  const inCpuProfile = read(await bytesAs(profile, 'cpuprofile'), cpuProfileSamples);
  if (inCpuProfile !== undefined && !profile.events.some(({ samples }) => samples === inCpuProfile))
    return `the CPU profile has ${inCpuProfile} samples, as no event`;
  const inStacks = read(await bytesAs(profile, 'folded'), foldedWeight);
  const periods = profile.events.filter(({ samples }) => samples > 0).map(({ period }) => BigInt(period));
  if (inStacks === undefined || !isExact || periods.includes(inStacks)) return undefined;
  return `folded has a period of ${inStacks}, the events ${periods.join(', ')}`;
}

/** @param bytes undefined for an output that is too large to be kept */
function read<Result>(bytes: Uint8Array | undefined, readBytes: (bytes: Uint8Array) => Result): Result | undefined {
  return bytes && readBytes(bytes);
}

async function bytesOf(write: (sink: ByteSink) => Promise<void>): Promise<Uint8Array | undefined> {
  const sink = new OutputSink(MAX_OUTPUT_BYTES);
  await write(sink);
  return sink.bytes();
}

function bytesAs(
  profile: Profile,
  format: Parameters<typeof writeProfile>[0],
  options: Parameters<typeof writeProfile>[3] = {},
): Promise<Uint8Array | undefined> {
  return bytesOf((sink) => writeProfile(format, profile, sink, options, new Diagnostics()));
}
