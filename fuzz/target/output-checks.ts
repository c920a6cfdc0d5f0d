import { fromBinary } from '@bufbuild/protobuf';
import type { Profile } from '../../src/profile/profile.ts';
import { ProfileSchema } from '../../src/proto/profile_pb.ts';
import { decodeOtlp } from '../../test/support/readers/decode-otlp.ts';
import { parseCsvRows } from '../../test/support/readers/parse-csv.ts';
import { readFirefox } from '../../test/support/readers/read-firefox.ts';
import { readHtml, stackOf } from '../../test/support/readers/read-html.ts';
import { readParquetPieces } from '../../test/support/readers/read-parquet.ts';
import { SUM } from '../../test/support/truth/output-totals.ts';

// What must hold of an output, whatever the recording: it is well-formed, all references are valid, and it has every
// sample.

/** Returns what is wrong with an output; undefined if nothing is. */
export type OutputCheck = (bytes: Uint8Array, profile: Profile) => string | undefined | Promise<string | undefined>;

/** What a missing value prints as. */
const NO_VALUE = /\bNaN\b|\bundefined\b|\[object |\bInfinity\b/;
const CONTROL = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/;

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function valueless(text: string): string | undefined {
  const found = NO_VALUE.exec(text);
  return found === null ? undefined : `the text holds ${JSON.stringify(text.slice(Math.max(0, found.index - 40), found.index + 40))}`;
}

/**
 * What is wrong with text for a terminal: missing values, or characters that move the cursor or change colors or the
 * writing direction.
 */
export function lineFault(text: string): string | undefined {
  const found = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/.exec(text);
  return found === null
    ? valueless(text)
    : `the text holds a control character: ${JSON.stringify(text.slice(Math.max(0, found.index - 40), found.index + 40))}`;
}

/** Whether names contain line breaks. These make extra lines, so that lines cannot be counted. */
function hasControlCharacters({ tasks, events, mappings, functions, strings }: Profile): boolean {
  for (let i = 0; i < functions.size; i++) {
    if (CONTROL.test(strings.get(functions.name(i))) || CONTROL.test(strings.get(functions.file(i)))) return true;
  }
  return [...tasks.map((task) => task.comm), ...events.map((event) => event.name), ...mappings.map((mapping) => mapping.name)].some((name) =>
    CONTROL.test(name),
  );
}

function sampleCount(profile: Profile): number {
  return profile.events.reduce((sum, event) => sum + event.samples, 0);
}

function pprof(bytes: Uint8Array, profile: Profile): string | undefined {
  const message = fromBinary(ProfileSchema, bytes);
  const strings = BigInt(message.stringTable.length);
  const mappings = new Set(message.mapping.map((row) => row.id)).add(0n);
  const functions = new Set(message.function.map((row) => row.id));
  const locations = new Set(message.location.map((row) => row.id));
  if (message.mapping.some((row) => row.filename >= strings || row.buildId >= strings)) return 'a mapping refers to no string';
  if (message.function.some((row) => row.name >= strings || row.systemName >= strings)) return 'a function refers to no string';
  if (message.location.some((row) => !mappings.has(row.mappingId))) return 'a location refers to no mapping';
  if (message.location.some((row) => row.line.some((line) => !functions.has(line.functionId)))) return 'a location refers to no function';
  let samples = 0n;
  for (const row of message.sample) {
    if (row.locationId.some((id) => !locations.has(id))) return 'a sample refers to no location';
    if (row.value.length !== message.sampleType.length) return `a sample has ${row.value.length} values of ${message.sampleType.length}`;
    row.value.forEach((value, column) => {
      if (column % 2 === 0) samples += value;
    });
  }
  const expected = sampleCount(profile);
  return samples === BigInt(expected) ? undefined : `the profile counts ${samples} samples of ${expected}`;
}

function otlp(bytes: Uint8Array, profile: Profile): string | undefined {
  const { dictionary, resourceProfiles } = decodeOtlp(bytes);
  const { attributeTable, functionTable, locationTable, mappingTable, stackTable, stringTable } = dictionary;
  const misses = (table: readonly unknown[], indexes: readonly number[]): boolean => indexes.some((index) => !(index >= 0 && index < table.length));
  if (mappingTable.some((row) => misses(stringTable, [row.filenameStrindex]) || misses(attributeTable, row.attributeIndices)))
    return 'a mapping refers to nothing';
  if (functionTable.some((row) => misses(stringTable, [row.nameStrindex, row.systemNameStrindex, row.filenameStrindex])))
    return 'a function refers to no string';
  if (attributeTable.some((row) => misses(stringTable, [row.keyStrindex]))) return 'an attribute refers to no string';
  const lines = locationTable.flatMap((row) => row.lines.map(({ functionIndex }) => functionIndex));
  if (misses(functionTable, lines)) return 'a location refers to no function';
  if (locationTable.some((row) => misses(mappingTable, [row.mappingIndex]) || misses(attributeTable, row.attributeIndices)))
    return 'a location refers to nothing';
  if (stackTable.some((row) => misses(locationTable, row.locationIndices))) return 'a stack refers to no location';
  let samples = 0n;
  for (const { periodType, sampleType, samples: rows } of resourceProfiles[0].scopeProfiles[0].profiles) {
    if (misses(stringTable, [sampleType.typeStrindex, sampleType.unitStrindex])) return 'a profile has no type';
    if (rows.some((row) => misses(stackTable, [row.stackIndex]) || misses(attributeTable, row.attributeIndices))) return 'a sample refers to nothing';
    if (rows.some((row) => row.values.length !== 1)) return 'a sample has not one value';
    // Either may come first: the number of samples, or their periods.
    if (sampleType.typeStrindex !== periodType.typeStrindex) samples += rows.reduce((sum, { values }) => sum + BigInt(values[0]), 0n);
  }
  const expected = sampleCount(profile);
  return samples === BigInt(expected) ? undefined : `the profiles count ${samples} samples of ${expected}`;
}

interface SpeedscopeDocument {
  readonly shared: { readonly frames: readonly unknown[] };
  readonly profiles: readonly { readonly name: string; readonly samples: readonly (readonly number[])[]; readonly weights: readonly number[] }[];
}

function speedscope(bytes: Uint8Array, profile: Profile): string | undefined {
  const { shared, profiles } = JSON.parse(decode(bytes)) as SpeedscopeDocument;
  const frames = shared.frames.length;
  let count = 0;
  // A sum of all threads comes before the threads of an event.
  const hasThreads = profiles.some(({ name }) => !SUM.test(name));
  for (const { name, samples, weights } of profiles) {
    if (samples.length !== weights.length) return `${samples.length} samples have ${weights.length} weights`;
    if (samples.some((stack) => stack.some((frame) => !(frame >= 0 && frame < frames)))) return 'a sample refers to no frame';
    if (weights.some((weight) => !(Number.isFinite(weight) && weight >= 0))) return 'a weight is no number';
    if (!hasThreads || !SUM.test(name)) count += samples.length;
  }
  const expected = sampleCount(profile);
  return count === expected ? undefined : `the document holds ${count} samples of ${expected}`;
}

interface TraceEvent {
  readonly ph: string;
  readonly ts?: unknown;
  readonly dur?: unknown;
}

function chrome(bytes: Uint8Array): string | undefined {
  const { traceEvents } = JSON.parse(decode(bytes)) as { traceEvents: readonly TraceEvent[] };
  const isTime = (value: unknown): boolean => value === undefined || (typeof value === 'number' && value >= 0);
  const wrong = traceEvents.find((event) => typeof event.ph !== 'string' || !isTime(event.ts) || !isTime(event.dur));
  return wrong && `an event has no sound time: ${JSON.stringify(wrong).slice(0, 200)}`;
}

function firefox(bytes: Uint8Array, profile: Profile): string | undefined {
  const count = readFirefox(bytes).threads.reduce((sum, { samples }) => sum + samples.length, 0);
  const expected = sampleCount(profile);
  return count === expected ? undefined : `the document holds ${count} samples of ${expected}`;
}

function html(bytes: Uint8Array, profile: Profile): string | undefined {
  const data = readHtml(bytes);
  let count = 0;
  for (const { node, period, samples } of data.totals) {
    if (node.length !== samples.length || node.length !== period.length) return 'columns of totals differ in length';
    if (node.some((one) => stackOf(data, one).length === 0)) return 'a sample has no stack';
    count += samples.reduce((sum, one) => sum + one, 0);
  }
  const expected = sampleCount(profile);
  return count === expected ? undefined : `the page holds ${count} samples of ${expected}`;
}

async function parquet(bytes: Uint8Array, profile: Profile): Promise<string | undefined> {
  let count = 0;
  for await (const rows of readParquetPieces(bytes, ['function', 'stack', 'stack_dsos'])) {
    const wrong = rows.find((row) => row.stack.length !== row.stack_dsos.length || row.function !== (row.stack.at(0) ?? null));
    if (wrong !== undefined) return `the stack of a row does not belong to it: ${wrong.function}, ${wrong.stack.join(';')}`;
    count += rows.length;
  }
  const expected = sampleCount(profile);
  return count === expected ? undefined : `the table holds ${count} samples of ${expected}`;
}

/** All samples refer to existing nodes, and the deltas are times. */
function cpuprofile(bytes: Uint8Array): string | undefined {
  const { nodes, samples, timeDeltas } = JSON.parse(decode(bytes)) as {
    nodes: readonly { id: number }[];
    samples: readonly number[];
    timeDeltas: readonly number[];
  };
  if (samples.length !== timeDeltas.length) return `${samples.length} samples have ${timeDeltas.length} times`;
  const ids = new Set(nodes.map(({ id }) => id));
  const wrong = samples.findIndex((node, i) => !ids.has(node) || !(timeDeltas[i] >= 0));
  return wrong < 0 ? undefined : `sample ${wrong} is of node ${samples[wrong]}, ${timeDeltas[wrong]} µs after the one before it`;
}

function script(bytes: Uint8Array, profile: Profile): string | undefined {
  const text = decode(bytes);
  // Payloads may contain anything, and those of BPF programs have several lines.
  if (profile.events.some((event) => event.isTracepoint || event.isBpfOutput) || hasControlCharacters(profile)) return undefined;
  // Frames, and the registers, branches and page sizes after them, are on lines of their own.
  const lines = text.split('\n').filter((line) => line !== '' && !/^(?:\t| ABI:| 0x| N\/A)/.test(line)).length;
  const expected = sampleCount(profile);
  return lines === expected ? valueless(text) : `the text holds ${lines} samples of ${expected}`;
}

function folded(bytes: Uint8Array, profile: Profile): string | undefined {
  if (hasControlCharacters(profile)) return undefined;
  const text = decode(bytes);
  const wrong = text.split('\n').find((line) => line !== '' && !/ \d+$/.test(line));
  return wrong === undefined ? valueless(text) : `a line ends in no weight: ${JSON.stringify(wrong.slice(-100))}`;
}

function report(bytes: Uint8Array): string | undefined {
  return lineFault(decode(bytes));
}

/** One table. */
function csv(bytes: Uint8Array): string | undefined {
  const text = decode(bytes);
  const [header = [], ...rows] = parseCsvRows(text);
  const wrong = rows.find((row) => row.length !== header.length);
  return wrong === undefined ? valueless(text) : `a row has ${wrong.length} fields of ${header.length}: ${wrong.join().slice(0, 100)}`;
}

/** All outputs that are made from a recording. */
export const OUTPUTS = [
  'pprof',
  'otlp',
  'speedscope',
  'chrome',
  'cpuprofile',
  'firefox',
  'html',
  'parquet',
  'script',
  'folded',
  'report',
  'csv',
  'info',
  'records',
] as const;

export type Output = (typeof OUTPUTS)[number];

/** Outputs that are written, as one file or table each; the others are values. */
export const OUTPUT_CHECKS: Readonly<Record<Exclude<Output, 'info' | 'records'>, OutputCheck>> = {
  pprof,
  otlp,
  speedscope,
  chrome,
  cpuprofile,
  firefox,
  html,
  parquet,
  script,
  folded,
  report,
  csv,
};
