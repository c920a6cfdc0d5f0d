import { PerfconvError } from '../../base/problems/errors.ts';
import type { ByteSink } from '../../base/streams/byte-sink.ts';
import type { Profile } from '../../profile/profile.ts';
import type { Weight } from '../../profile/weight.ts';
import { type FieldBytes, wordsOf } from './field-bytes.ts';
import { PROFILE } from './field-numbers.ts';
import { FieldWriter } from './field-writer.ts';
import { constantLabels, labelSets } from './label-sets.ts';
import { defaultLabels, type PprofLabel } from './labels.ts';
import { putFunction, putLocation, putMapping, putNumber, putValueType } from './messages.ts';
import { planSampleTypes, type SampleTypes, samplePeriod } from './sample-types.ts';
import { writeSamples } from './samples.ts';
import { PprofTables } from './tables.ts';

export type { PprofLabel } from './labels.ts';

export interface PprofOptions {
  /**
   * The labels of samples. Samples that differ in a label are kept apart; without labels, there is one per stack. Default: pid, tid, comm and, for merged
   * recordings, input; labels that are the same for all samples become comments instead, since pprof shows a box of labels at each node.
   */
  readonly labels?: readonly PprofLabel[] | undefined;
  /** The column of the primary event that tools show first. Default: its periods. */
  readonly weight?: Weight;
}

/**
 * Writes a profile in pprof's profile.proto, not compressed. (Files are usually gzipped; pprof reads both.)
 *
 * Every event with samples has two columns, number of samples and weight (see {@link planSampleTypes}). There is one Sample per stack and label set, with 0 in
 * the columns of events without such samples. Samples without a stack are written without locations. Stacks that differ only in what pprof cannot express
 * (cpumode, whether an address was a return address) stay separate Samples, which tools add up. The same profile always gives the same bytes.
 *
 * @throws PerfconvError `no-samples` for a profile without samples, which would have no sample types
 * @see https://github.com/google/pprof/blob/main/proto/profile.proto
 */
export async function writePprof(profile: Profile, sink: ByteSink, options: PprofOptions): Promise<void> {
  const types = planSampleTypes(profile);
  if (types.primaryEvent < 0) throw new PerfconvError('no-samples', 'no samples to write to a pprof profile');
  // pprof names the profile after the main binary, with or without samples.
  const tables = new PprofTables(profile, true);
  const { strings } = tables;
  const [chosen, labelComments] = chooseLabels(profile, options.labels);
  const labels = labelSets(profile, chosen, strings);
  const out = new FieldWriter(sink);
  for (const { type, unit } of types.columns) putValueType(out, PROFILE.sampleType, strings.intern(type), strings.intern(unit));
  await writeSamples(out, profile, { types, locationId: tables.locationId, labels });
  await writeTables(out, tables);
  putMeta(out, profile, { types, weight: options.weight ?? 'period', strings, labelComments });
  // The string table comes last, since everything before may add to it.
  await out.putEach(strings.size, (index) => out.text(PROFILE.stringTable, strings.get(index)));
  await out.flush();
}

/** Which labels samples get, and comments in place of the others. */
function chooseLabels(profile: Profile, asked: readonly PprofLabel[] | undefined): [labels: readonly PprofLabel[], comments: readonly string[]] {
  if (asked !== undefined) return [asked, []];
  const labels = defaultLabels(profile);
  const constant = constantLabels(profile, labels);
  return [labels.filter((label) => !constant.has(label)), [...constant.values()].filter((comment) => comment !== '')];
}

async function writeTables(out: FieldWriter, tables: PprofTables): Promise<void> {
  const { mappings, locations, functions, strings } = tables;
  await out.putEach(mappings.length, (index) => putMapping(out, index + 1, mappings[index], strings));
  await out.putEach(locations.size, (index) => putLocation(out, tables, index));
  await out.putEach(functions.size, (index) => putFunction(out, tables, index));
}

interface MetaInput {
  readonly types: SampleTypes;
  readonly weight: Weight;
  readonly strings: PprofTables['strings'];
  /** Comments in place of labels. */
  readonly labelComments: readonly string[];
}

/** Adds when and how the profile was recorded. */
function putMeta(fields: FieldBytes, profile: Profile, { types, weight, strings, labelComments }: MetaInput): void {
  const { meta } = profile;
  const count = types.countColumn[types.primaryEvent];
  const period = types.columns[count + 1];
  // A damaged recording may have a time that does not fit the field, which is an int64. It is left out.
  const { captureTimeNs = 0n } = meta;
  if (BigInt.asIntN(64, captureTimeNs) === captureTimeNs) fields.words(PROFILE.timeNanos, ...wordsOf(captureTimeNs));
  putNumber(fields, PROFILE.durationNanos, Math.round(meta.durationNs));
  putValueType(fields, PROFILE.periodType, strings.intern(period.type), strings.intern(period.unit));
  putNumber(fields, PROFILE.period, samplePeriod(profile, types.primaryEvent));
  for (const comment of [...commentsOf(profile), ...labelComments]) fields.element(PROFILE.comment, strings.intern(comment));
  putNumber(fields, PROFILE.defaultSampleType, strings.intern(weight === 'period' ? period.type : types.columns[count].type));
}

/** How the recordings were made, as `pprof -comments` prints it; equal lines of merged recordings appear once. */
export function commentsOf({ meta, inputs }: Profile): string[] {
  const comments = new Set<string>();
  for (const { perfVersion, commandLine } of inputs?.map((input) => input.meta) ?? [meta]) {
    if (perfVersion !== '') comments.add(`perf version: ${perfVersion}`);
    if (commandLine.length > 0) comments.add(`command line: ${commandLine.join(' ')}`);
  }
  return [...comments];
}
