import { type DebugInfoUse, defaultDebugInfo } from '../naming/location-naming.ts';
import type { KeptBranches } from '../profile/builder.ts';
import type { DetailName } from '../profile/sample-details.ts';
import type { LeafRule } from '../session/reading/sample-reader.ts';
import { askedFields, type ScriptFieldRequest } from '../writers/script/field-requests.ts';
import { scriptBranchesOf, scriptDetailsOf } from '../writers/script/fields.ts';
import type { EventKind } from './assemble-profile.ts';
import type { Format } from './formats.ts';
import type { ReadProfileOptions } from './read-profile.ts';

const EVERY_SAMPLE_FORMATS: readonly Format[] = ['speedscope', 'chrome', 'cpuprofile', 'firefox', 'script', 'parquet'];

/** What formats need from the reading. A recording that was read for some formats may lack what others show. */
export interface ReadingNeeds {
  /** Each single sample, in time order. */
  readonly keepSamples: boolean;
  /** See ReadProfileOptions. */
  readonly keepThreadEvents: boolean;
  /** A row for each record, samples or not, for the tables of CSV. */
  readonly keepLog: boolean;
  /** See ReadProfileOptions. Formats that print record by record keep the recorded periods. */
  readonly offCpuTimes: boolean;
  readonly debugInfo: DebugInfoUse;
  /** The fields that were asked for in perf-script text, none for perf's choice; undefined if no such text is written. */
  readonly scriptFields: readonly ScriptFieldRequest[] | undefined;
  /** What the leaf of a stack is; undefined for the default. */
  readonly leaf: LeafRule | undefined;
  /** The payloads of tracepoints, whose texts are shown. */
  readonly tracepointTexts: boolean;
  /** The callers of leaf functions: without them, only the leaf of each stack is read. */
  readonly callers: boolean;
}

/** The options that decide about it. */
export type NeedsOptions = Pick<ReadProfileOptions, 'debugInfo' | 'compatPerf' | 'offCpuTimes'> & { readonly fields?: readonly ScriptFieldRequest[] };

/** What writing these formats needs. */
export function readingNeeds(formats: readonly Format[], options: NeedsOptions): ReadingNeeds {
  return {
    keepSamples: formats.some(needsSamples),
    keepThreadEvents: formats.includes('firefox'),
    keepLog: formats.includes('csv'),
    offCpuTimes: options.offCpuTimes ?? formats.some((format) => format !== 'csv' && format !== 'script'),
    debugInfo: neededDebugInfo(formats, options),
    scriptFields: formats.includes('script') ? (options.fields ?? []) : undefined,
    leaf: undefined,
    tracepointTexts: formats.includes('chrome') || formats.includes('firefox'),
    callers: true,
  };
}

/**
 * What a report needs. It counts by the functions that symbols name, as perf report does. perf report also counts a sample at its own address, whatever its
 * callchain says; with `compatPerf`, a report does the same.
 * @param children whether functions also count in the samples of what they called
 */
export function reportNeeds(compatPerf: boolean, children: boolean): ReadingNeeds {
  const leaf = compatPerf ? 'ip' : undefined;
  const nothing = { keepSamples: false, keepThreadEvents: false, keepLog: false, scriptFields: undefined, tracepointTexts: false };
  return { ...nothing, offCpuTimes: true, debugInfo: 'none', leaf, callers: children };
}

/**
 * What a tree of calls needs. It has inlined functions, as all formats of stacks do: it shows who calls whom in the source. A sample is where its callchain
 * says.
 */
export function treeNeeds({ compatPerf = false, debugInfo = defaultDebugInfo(compatPerf) }: Pick<NeedsOptions, 'compatPerf' | 'debugInfo'>): ReadingNeeds {
  return { ...reportNeeds(false, true), debugInfo: debugInfo === 'inlines' ? 'inlines' : 'none' };
}

/** Whether a recording that was read for some needs has what others need, exactly as if it had been read for them. */
export function coversNeeds(read: ReadingNeeds, wanted: ReadingNeeds): boolean {
  return (
    (read.keepSamples || !wanted.keepSamples) &&
    (read.keepThreadEvents || !wanted.keepThreadEvents) &&
    (read.keepLog || !wanted.keepLog) &&
    read.offCpuTimes === wanted.offCpuTimes &&
    read.debugInfo === wanted.debugInfo &&
    read.leaf === wanted.leaf &&
    (wanted.scriptFields === undefined || JSON.stringify(read.scriptFields) === JSON.stringify(wanted.scriptFields)) &&
    (read.tracepointTexts || !wanted.tracepointTexts) &&
    (read.callers || !wanted.callers)
  );
}

/** Which details of samples are kept for these needs; undefined if none are. */
export function keptDetails({ scriptFields, tracepointTexts }: ReadingNeeds): ReadProfileOptions['keepDetails'] {
  if (scriptFields === undefined && !tracepointTexts) return undefined;
  return (event: EventKind) => {
    const details = new Set<DetailName>(scriptFields && scriptDetailsOf(event, scriptFields));
    if (tracepointTexts && event.isTracepoint) details.add('raw');
    return details;
  };
}

/** Which branches of samples are kept for these needs; undefined if none are. One of the CSV tables shows their totals. */
export function keptBranches({ keepLog, scriptFields }: ReadingNeeds): KeptBranches | undefined {
  const samples = scriptFields === undefined ? 'none' : scriptBranchesOf(scriptFields);
  return keepLog || samples !== 'none' ? { totals: keepLog, samples } : undefined;
}

/** Whether a format shows samples one by one, so that the profile must have kept them. */
function needsSamples(format: Format): boolean {
  return EVERY_SAMPLE_FORMATS.includes(format);
}

/** Lines without inlined functions are read only for formats that show lines. */
function neededDebugInfo(
  formats: readonly Format[],
  { compatPerf = false, debugInfo = defaultDebugInfo(compatPerf), fields = [] }: NeedsOptions,
): DebugInfoUse {
  if (debugInfo !== 'lines') return debugInfo;
  if (formats.some((format) => format !== 'script' && format !== 'folded')) return 'lines';
  const showsSourceLines = fields.some((request) => askedFields(request).includes('srcline'));
  if (!showsSourceLines || formats.every((format) => format !== 'script')) return 'none';
  return compatPerf ? 'lines-like-perf' : 'lines';
}
