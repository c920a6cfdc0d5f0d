import { fromBinary } from '@bufbuild/protobuf';
import { ProfileSchema } from '../../../src/proto/profile_pb.ts';
import { decodeOtlp } from '../readers/decode-otlp.ts';
import { parseCsv } from '../readers/parse-csv.ts';
import { readFirefox } from '../readers/read-firefox.ts';
import { readHtml } from '../readers/read-html.ts';
import { readParquetPieces } from '../readers/read-parquet.ts';
import { type EventCount, type EventTotals, totalsOf } from './event-totals.ts';

// How many samples an output has of each event, and the sum of their periods, read without the help of anything else. Each function throws if
// the output is not well-formed.
//
// Some formats do not name an event as perf does: `names` lists the events with samples, one name for each event. Without it, totals have the names in
// the output.

/** Whether a sum of doubles is the same in each order; larger ones lose their last digits. */
const isExact = (sum: bigint): boolean => sum <= BigInt(Number.MAX_SAFE_INTEGER);

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/**
 * Two columns for each event: how many samples, and the sum of their periods. Those of the first event have names that tools look for (`samples` and, for
 * clocks, `cpu`); names that are taken become `NAME#2`.
 */
export function pprofTotals(bytes: Uint8Array, names?: readonly string[]): EventTotals {
  const message = fromBinary(ProfileSchema, bytes);
  const types = message.sampleType.map(({ type }) => message.stringTable[Number(type)]);
  return totalsOfColumns(
    types,
    types.map((_, column) => message.sample.reduce((sum, { value }) => sum + value[column], 0n)),
    names,
  );
}

/** Two profiles for each event, its periods and its samples, with the names that they have in pprof. */
export function otlpTotals(bytes: Uint8Array, names?: readonly string[]): EventTotals {
  const { dictionary, resourceProfiles } = decodeOtlp(bytes);
  const profiles = resourceProfiles.flatMap(({ scopeProfiles }) => scopeProfiles.flatMap((scope) => scope.profiles));
  const columns = profiles.flatMap((_, index) => (index % 2 === 0 ? [profiles[index + 1], profiles[index]] : []));
  return totalsOfColumns(
    columns.map(({ sampleType }) => dictionary.stringTable[sampleType.typeStrindex]),
    columns.map(({ samples }) => samples.reduce((sum, { values }) => values.reduce((before, value) => before + BigInt(value), sum), 0n)),
    names,
  );
}

/** @param types names of columns: those with even indexes count samples, those with odd ones add up periods */
function totalsOfColumns(types: readonly string[], sums: readonly bigint[], names: readonly string[] | undefined): EventTotals {
  if (types.length % 2 !== 0) throw new Error(`${types.length} sample types: expected pairs`);
  if (names === undefined) return totalsOf(types.flatMap((type, i): EventCount[] => (i % 2 === 1 ? [[type, Number(sums[i - 1]), sums[i]]] : [])));
  const left = [...names];
  const take = (type: string): string | undefined => {
    const at = [type, type.replace(/#\d+$/, '')].map((name) => left.indexOf(name)).find((found) => found >= 0);
    return at === undefined ? undefined : left.splice(at, 1)[0];
  };
  const events = types.map((type, column) => (column % 2 === 1 && column > 1 ? take(type) : undefined));
  if (types.length > 0) events[1] = types[1] === 'cpu' && left.length === 1 ? left[0] : take(types[1]);
  return totalsOf(
    types.flatMap((type, column): EventCount[] => {
      if (column % 2 === 0) return [];
      const event = events[column];
      if (event === undefined) throw new Error(`a column of no event: ${type}`);
      return [[event, Number(sums[column - 1]), sums[column]]];
    }),
  );
}

interface SpeedscopeDocument {
  readonly shared: { readonly frames: readonly unknown[] };
  readonly profiles: readonly {
    readonly name: string;
    readonly endValue: number;
    readonly samples: readonly (readonly number[])[];
    readonly weights: readonly number[];
  }[];
}

/** The start of the names of profiles of all threads of an event. A thread of that name has its number after it. */
export const SUM = /^(?:.*: )?all threads (?!\()/s;

/**
 * A profile for each event and thread (process, CPU …), whose name ends in the event's; an entry for each sample, also for one of period 0. Before the
 * threads of an event there may be a profile of all of them, which must add up to the same and does not count.
 */
export function speedscopeTotals(bytes: Uint8Array, names?: readonly string[]): EventTotals {
  const { shared, profiles } = JSON.parse(decode(bytes)) as SpeedscopeDocument;
  const byLength = names && [...names].sort((a, b) => b.length - a.length);
  const single = profiles.filter(({ name }) => !SUM.test(name));
  const sums = single.length === 0 ? [] : profiles.filter(({ name }) => SUM.test(name));
  for (const { name, endValue } of sums) {
    const event = name.replace(SUM, '');
    const threads = single.filter((one) => one.name.endsWith(` ${event}`)).map((one) => BigInt(one.endValue));
    const inSums = sums.filter((one) => one.name.endsWith(`all threads ${event}`)).map((one) => BigInt(one.endValue));
    const [expected, got] = [threads, inSums].map((ends) => ends.reduce((a, b) => a + b, 0n));
    // Of two events with one name, the one that a single thread has may have no such profile.
    const isOnlyOne = byLength?.filter((one) => one === event).length === 1;
    if (isOnlyOne && isExact(expected) && got !== expected) throw new Error(`${name}: ends at ${endValue}, its threads at ${expected}`);
  }
  return totalsOf(
    (single.length === 0 ? profiles : single).map(({ name, endValue, samples, weights }): EventCount => {
      const event = byLength === undefined ? name : byLength.find((one) => name.endsWith(` ${one}`));
      if (event === undefined) throw new Error(`a profile of no event: ${name}`);
      if (samples.length !== weights.length) throw new Error(`${name}: ${samples.length} samples have ${weights.length} weights`);
      if (samples.some((stack) => stack.some((frame) => shared.frames[frame] === undefined))) throw new Error(`${name}: a sample refers to no frame`);
      const period = weights.reduce((sum, weight) => sum + BigInt(weight), 0n);
      if (isExact(period) && BigInt(endValue) !== period) throw new Error(`${name}: ends at ${endValue}, its weights add up to ${period}`);
      return [event, samples.length, period];
    }),
  );
}

interface TraceEvent {
  readonly ph: string;
  readonly name: string;
  readonly ts?: number;
  readonly dur?: number;
  readonly args?: { readonly data?: { readonly cpuProfile?: SampledProfile } };
}

interface SampledProfile {
  readonly nodes?: readonly { readonly id: number; readonly callFrame: { readonly functionName: string } }[];
  readonly samples?: readonly number[];
}

/**
 * How many samples a trace has in all its tracks. A track does not say which event it is of, and lengths are times rather than periods: a bar is
 * several samples in a row with one stack, and a period of a counter is stretched until the next sample.
 */
export function chromeSamples(bytes: Uint8Array): number {
  const { traceEvents } = JSON.parse(decode(bytes)) as { traceEvents: readonly TraceEvent[] };
  let count = 0;
  /** Nodes that are not samples. */
  const idle = new Set<number>();
  for (const { name, ts, dur, args } of traceEvents) {
    for (const time of [ts, dur]) if (time !== undefined && !(time >= 0)) throw new Error(`${name}: not a time: ${time}`);
    const { nodes = [], samples = [] } = args?.data?.cpuProfile ?? {};
    for (const { id, callFrame } of nodes) if (callFrame.functionName === '(idle)') idle.add(id);
    count += samples.filter((node) => !idle.has(node)).length;
  }
  return count;
}

/** A thread for each thread and event; all except those of one event, which the document names first, end in the event's name. */
export function firefoxTotals(bytes: Uint8Array, names?: readonly string[]): EventTotals {
  const { threads, timelineEvent } = readFirefox(bytes);
  const byLength = names && [...names].sort((a, b) => b.length - a.length);
  return totalsOf(
    threads.map(({ samples, thread }): EventCount => {
      const event = byLength === undefined ? thread.name : (byLength.find((one) => thread.name.endsWith(` ${one}`)) ?? timelineEvent);
      return [event, samples.length, samples.reduce((sum, { period }) => sum + period, 0n)];
    }),
  );
}

/** Columns for each event and thread. */
export function htmlTotals(bytes: Uint8Array): EventTotals {
  const { events, totals } = readHtml(bytes);
  return totalsOf(totals.flatMap(({ event, period, samples }) => samples.map((count, row): EventCount => [events[event].name, count, BigInt(period[row])])));
}

/** A row for each sample. */
export async function parquetTotals(bytes: Uint8Array): Promise<EventTotals> {
  const counts: EventCount[] = [];
  for await (const rows of readParquetPieces(bytes, ['event', 'period'])) for (const { event, period } of rows) counts.push([event ?? '', 1, period]);
  return totalsOf(counts);
}

interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { readonly functionName: string }; readonly children: readonly number[] }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
  readonly startTime: number;
  readonly endTime: number;
}

/** How many samples a CPU profile has, all of one event. One of `(root)` does not count: it ends the sample before it. */
export function cpuProfileSamples(bytes: Uint8Array): number {
  const { nodes, samples, timeDeltas, startTime, endTime } = JSON.parse(decode(bytes)) as CpuProfile;
  if (samples.length !== timeDeltas.length) throw new Error(`${samples.length} samples have ${timeDeltas.length} times`);
  const children = nodes.flatMap((node) => node.children);
  if (new Set(children).size !== nodes.length - 1 || children.length !== nodes.length - 1) throw new Error('the nodes are no tree');
  const lengthUs = timeDeltas.reduce((sum, delta) => sum + delta, 0);
  // Sums of doubles are exact up to 2^53.
  if (Math.abs(lengthUs - (endTime - startTime)) > lengthUs * 2 ** -50)
    throw new Error(`the samples end after ${lengthUs} µs, the profile after ${endTime - startTime}`);
  const root = nodes.find(({ callFrame }) => callFrame.functionName === '(root)')?.id;
  return samples.filter((node) => node !== root).length;
}

/** The sum of the lines' weights. Lines tell neither their event nor whether a weight is a number of samples or a period. */
export function foldedWeight(bytes: Uint8Array): bigint {
  const lines = decode(bytes).split('\n');
  if (lines.pop() !== '') throw new Error('the last line does not end');
  return lines.reduce((sum, line) => {
    const weight = / (\d+)$/.exec(line)?.[1];
    if (weight === undefined) throw new Error(`a line without a weight: ${JSON.stringify(line.slice(-80))}`);
    return sum + BigInt(weight);
  }, 0n);
}

/** processes.csv or results.csv, both of which have samples and periods by event. */
export function tableTotals(bytes: Uint8Array): EventTotals {
  const rows = parseCsv(decode(bytes));
  return totalsOf(rows.map(({ event, samples, period }): EventCount => [event, Number(samples), BigInt(period)]));
}

/**
 * The samples among the records of overview.csv: as they are in the file, whatever filters say. A sample that was read with its group is one row, with the
 * period of the group's first event.
 */
export function overviewTotals(bytes: Uint8Array): EventTotals {
  const rows = parseCsv(decode(bytes)).filter(({ type }) => type === 'SAMPLE');
  return totalsOf(rows.map(({ event, info2 }): EventCount => [event, 1, BigInt(info2)]));
}

/** How many records of a kind stat.csv counts. */
export function statCount(bytes: Uint8Array, kind: string): number {
  const row = parseCsv(decode(bytes)).find(({ record }) => record === kind);
  return Number(row?.count ?? 0);
}

/** Text of `-F event,period`: one line for each sample. */
export function scriptTotals(bytes: Uint8Array): EventTotals {
  const lines = decode(bytes).split('\n').slice(0, -1);
  return totalsOf(
    lines.map((line): EventCount => {
      const [, period, event] = /^ *(\d+) +(.*): $/s.exec(line) ?? [];
      if (event === undefined) throw new Error(`no event and period: ${JSON.stringify(line)}`);
      return [event, 1, BigInt(period)];
    }),
  );
}

/** The JSON of `perfconv report --tree`: what each call has of its own. */
export function treeTotals(bytes: Uint8Array): EventTotals {
  type Trees = { trees: { event: { name: string }; calls: { selfSamples: number; selfPeriod: number | string }[] }[] };
  const { trees } = JSON.parse(decode(bytes)) as Trees;
  return totalsOf(trees.flatMap(({ event, calls }) => calls.map(({ selfSamples, selfPeriod }): EventCount => [event.name, selfSamples, BigInt(selfPeriod)])));
}

/** Tables of `perfconv report`: for each event a headline, and rows which must add up to it. */
export function reportTotals(bytes: Uint8Array): EventTotals {
  const counts: EventCount[] = [];
  let rows = { samples: 0, period: 0n };
  const check = (): void => {
    const [event, samples, period] = counts.at(-1) ?? ['', 0, 0n];
    if (rows.samples !== samples || (isExact(period) && rows.period !== period)) {
      throw new Error(`${event}: the rows have ${rows.samples} samples, period ${rows.period}; the headline ${samples}, ${period}`);
    }
    rows = { samples: 0, period: 0n };
  };
  for (const line of decode(bytes).split('\n')) {
    // A name may contain line ends of Unicode.
    const headline = /^# (.*): (\d+) samples?, period (\d+)(?: ns)?$/s.exec(line);
    const row = /^ *\d+\.\d\d +(\d+) +(\d+) /.exec(line);
    if (headline !== null) {
      check();
      counts.push([headline[1], Number(headline[2]), BigInt(headline[3])]);
    } else if (row !== null) {
      rows = { samples: rows.samples + Number(row[2]), period: rows.period + BigInt(row[1]) };
    }
  }
  check();
  return totalsOf(counts);
}

/** The events of `perfconv info --json`. */
export function infoTotals(json: string): EventTotals {
  const { events } = JSON.parse(json) as { events: readonly { name: string; samples: number; period: number }[] };
  return totalsOf(events.map(({ name, samples, period }): EventCount => [name, samples, BigInt(period)]));
}
