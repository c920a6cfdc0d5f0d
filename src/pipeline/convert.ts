import type { ByteSink } from '../base/byte-sink.ts';
import type { RecordingSource } from '../base/byte-source.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { PerfconvError } from '../base/errors.ts';
import { printable } from '../base/printable.ts';
import { demangleSymbol } from '../naming/function-names.ts';
import { type DebugInfoUse, defaultDebugInfo } from '../naming/location-naming.ts';
import { HEADER_STAT, PERF_RECORD_STAT } from '../perfdata/constants.ts';
import type { Profile } from '../profile/profile.ts';
import type { SampleFilter } from '../session/filter.ts';
import type { SessionResult } from '../session/session.ts';
import type { RecordLog } from '../stats/record-log.ts';
import { scriptDetailsOf } from '../writers/script/fields.ts';
import type { EventKind } from './assemble-profile.ts';
import type { StreamFormat } from './formats.ts';
import { type ReadProfileOptions, type ReadProfileResult, readProfile } from './read-profile.ts';
import { needsSamples, type WriteOptions, writeProfile } from './write-profile.ts';

export type { SampleFilter } from '../session/filter.ts';
export { parseTimeRanges, type TimeRange } from '../session/time-ranges.ts';
export { DEFAULT_DEBUG_DIRS, type SymbolFiles, Symbolizer, type SymbolizerOptions } from '../symbolizer/symbolizer.ts';

/** One thing to make of a recording: bytes for a sink, or CSV tables for sinks that are opened by file name. */
export type ConvertOutput =
  | {
      readonly format: StreamFormat;
      readonly sink: ByteSink;
      /** Whether the bytes are shown as they come: then no name in perf-script text can make a line or a column of its own. */
      readonly isTerminal?: boolean;
    }
  | { readonly format: 'csv'; readonly openTable: (fileName: string) => Promise<ByteSink> };

/** How to read the recording, and how to write what it holds. */
export type ConvertOptions = Omit<ReadProfileOptions, 'keepSamples' | 'observer'> & WriteOptions;

/**
 * Converts a recording into one or more formats. It is decoded once; the outputs are written one after the other, in
 * the order given, and not compressed. Findings that are no errors go to `diagnostics`.
 *
 * @throws PerfconvError when the input is no recording or too damaged; `no-samples` when there is nothing to write
 * (CSV tells of other records, too, and is written all the same); whatever a sink throws
 */
export async function convert(
  source: RecordingSource,
  outputs: readonly ConvertOutput[],
  options: ConvertOptions,
  diagnostics: Diagnostics,
): Promise<ReadProfileResult> {
  const wantsCsv = outputs.some((output) => output.format === 'csv');
  const log = wantsCsv ? new (await import('../stats/record-log.ts')).RecordLog() : undefined;
  const keepSamples = outputs.some((output) => output.format !== 'csv' && needsSamples(output.format));
  // What is printed record by record stays as it was recorded.
  const offCpuTimes = options.offCpuTimes ?? outputs.some(({ format }) => format !== 'csv' && format !== 'script');
  const wantsScript = outputs.some(({ format }) => format === 'script');
  const keepDetails = wantsScript ? (event: EventKind) => scriptDetailsOf(event, options.fields) : undefined;
  const result = await readProfile(
    source,
    { ...options, debugInfo: neededDebugInfo(outputs, options), offCpuTimes, keepSamples, ...(keepDetails && { keepDetails }), ...(log && { observer: log }) },
    diagnostics,
  );
  if (outputs.some((output) => output.format !== 'csv')) requireSamples(result, options.filter);
  reportUnknownEvents(result.profile, options.filter, diagnostics);

  // perf script prints names without parameters: who reads its text expects no others.
  const writing: WriteOptions = options.demangle === undefined ? { scriptName: (name) => demangleSymbol(name, 'no-params'), ...options } : options;
  for (const output of outputs) {
    if (output.format === 'csv') {
      if (log !== undefined) await writeTables(result, log, await safeTables(output.openTable, options));
    } else {
      const forTerminal = output.isTerminal ? { scriptText: printable } : {};
      await writeProfile(output.format, result.profile, output.sink, { ...writing, ...forTerminal }, diagnostics);
    }
  }
  return result;
}

/** Lines without inlined functions are read only for outputs that have a place for them. */
export function neededDebugInfo(
  outputs: readonly Pick<ConvertOutput, 'format'>[],
  { compatPerf = false, debugInfo = defaultDebugInfo(compatPerf), fields = [] }: Pick<ConvertOptions, 'debugInfo' | 'compatPerf' | 'fields'>,
): DebugInfoUse {
  if (debugInfo !== 'lines') return debugInfo;
  if (outputs.some(({ format }) => format !== 'script' && format !== 'folded')) return 'lines';
  const showsSourceLines = fields.some((field) => field === 'srcline' || field === '+srcline');
  if (!showsSourceLines || outputs.every(({ format }) => format !== 'script')) return 'none';
  return compatPerf ? 'lines-like-perf' : 'lines';
}

/**
 * Makes sure that there is something to show.
 * @throws PerfconvError `no-samples`, saying why there are none
 */
export function requireSamples({ profile, session }: ReadProfileResult, filter: SampleFilter = {}): void {
  if (profile.totals.size > 0) return;
  throw new PerfconvError('no-samples', whyNoSamples(session, filter));
}

function whyNoSamples(session: SessionResult, filter: SampleFilter): string {
  if (session.features.present.has(HEADER_STAT) || session.counts.get(PERF_RECORD_STAT) > 0) {
    return 'the recording holds counts of perf stat, not samples';
  }
  if (session.sampleCount === 0) return 'the recording holds no samples';
  if (Object.values(filter).every((wanted) => wanted === undefined)) return `there was no room for any of the ${session.sampleCount} samples in the recording`;
  const unknown = unknownEvents(session.events, filter);
  const hint = unknown.length > 0 ? `: ${unknownEventsText(unknown, session.events)}` : '';
  return `no sample passes the filters, of ${session.sampleCount} in the recording${hint}`;
}

/** Warns of events that a filter asks for and the recording does not have. */
export function reportUnknownEvents(profile: Profile, filter: SampleFilter | undefined, diagnostics: Diagnostics): void {
  const unknown = unknownEvents(profile.events, filter);
  if (unknown.length > 0) diagnostics.add('unknown-event', 'warning', unknownEventsText(unknown, profile.events));
}

function unknownEvents(events: readonly { readonly name: string }[], filter: SampleFilter = {}): string[] {
  return (filter.events ?? []).filter((name) => events.every((event) => event.name !== name && event.name.trim() !== name));
}

function unknownEventsText(unknown: readonly string[], events: readonly { readonly name: string }[]): string {
  return `the recording has no event ${unknown.join(', ')}; it has ${events.map((event) => event.name).join(', ')}`;
}

type OpenTable = (fileName: string) => Promise<ByteSink>;

async function safeTables(openTable: OpenTable, { csvSafe = false }: WriteOptions): Promise<OpenTable> {
  return csvSafe ? (await import('../writers/csv/safe.ts')).withoutFormulas(openTable) : openTable;
}

async function writeTables({ profile, session }: ReadProfileResult, log: RecordLog, openTable: OpenTable): Promise<void> {
  const [{ recordingStats }, { CSV_TABLES }] = await Promise.all([import('../stats/recording-stats.ts'), import('../writers/csv/csv.ts')]);
  const stats = recordingStats(session, log);
  for (const { fileName, write } of CSV_TABLES) await write({ profile, stats }, await openTable(fileName));
}
