import { type BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { ByteSink } from '../../base/byte-sink.ts';
import { PerfconvError } from '../../base/errors.ts';
import { lostInSum } from '../../base/exact-sums.ts';
import { showRawBytes } from '../../base/text.ts';
import type { Profile } from '../../profile/profile.ts';
import { PROFILE } from './field-numbers.ts';
import { LabelSets } from './label-sets.ts';
import type { PprofLabel } from './labels.ts';
import { putFunction, putLocation, putMapping, putNumber, putValueType } from './messages.ts';
import { PprofPieces } from './pieces.ts';
import { SampleBytes } from './sample-bytes.ts';
import { SampleRows } from './sample-rows.ts';
import { planSampleTypes, type SampleTypes, samplePeriod } from './sample-types.ts';
import { PprofTables } from './tables.ts';

export type { PprofLabel } from './labels.ts';

export interface PprofOptions {
  /**
   * The labels of samples. Samples that differ in a label are kept apart; without labels there is one per stack. Default: pid, tid and
   * comm, and for merged recordings input; those that are the same for all samples become comments instead, as pprof shows a box of labels
   * at each node.
   */
  readonly labels?: readonly PprofLabel[] | undefined;
  /** The column of the primary event that tools show first. Default: its periods. */
  readonly weight?: 'period' | 'samples';
}

const DEFAULT_LABELS: readonly PprofLabel[] = ['pid', 'tid', 'comm'];

/** Estimated size of the fixed fields of a message. */
const MESSAGE_BYTES = 16;

/**
 * Writes a profile in pprof's profile.proto, not compressed. (Files are usually gzipped; pprof reads both.)
 *
 * Every event with samples has two columns, number of samples and weight (see {@link planSampleTypes}). There is one
 * Sample per stack and label set, with 0 in the columns of events that have none of it. Samples without a stack are
 * written without locations. Stacks that differ only in what pprof cannot express (cpumode, whether an address was a
 * return address) stay separate Samples, which tools add up. The same profile always gives the same bytes.
 *
 * @throws PerfconvError `no-samples` for a profile without samples, which would have no sample types
 * @see https://github.com/google/pprof/blob/main/proto/profile.proto
 */
export async function writePprof(profile: Profile, sink: ByteSink, options: PprofOptions): Promise<void> {
  const types = planSampleTypes(profile);
  if (types.primaryEvent < 0) throw new PerfconvError('no-samples', 'no samples to write to a pprof profile');
  const tables = new PprofTables(profile);
  const [chosen, labelComments] = chooseLabels(profile, options.labels);
  const labels = new LabelSets(profile, chosen, tables.strings);
  const pieces = new PprofPieces(sink);
  for (const { type, unit } of types.columns) {
    putValueType(pieces.writer, PROFILE.sampleType, tables.strings.intern(type), tables.strings.intern(unit));
  }
  await writeSamples(profile, types, tables.locationId, labels, sink, pieces);
  await writeTables(tables, pieces);
  writeMeta(profile, types, options.weight ?? 'period', tables, labelComments, pieces.writer);
  // The string table comes last, since everything before may add to it.
  await writeStrings(tables, pieces);
  await pieces.flush();
}

/** Which labels samples get, and comments in place of others. */
function chooseLabels(profile: Profile, asked: readonly PprofLabel[] | undefined): [labels: readonly PprofLabel[], comments: readonly string[]] {
  if (asked !== undefined) return [asked, []];
  const labels = profile.inputs === undefined ? DEFAULT_LABELS : [...DEFAULT_LABELS, 'input' as const];
  const constant = LabelSets.constant(profile, labels);
  return [labels.filter((label) => !constant.has(label)), [...constant.values()].filter((comment) => comment !== '')];
}

async function writeSamples(
  profile: Profile,
  types: SampleTypes,
  locationId: Uint32Array,
  labels: LabelSets,
  sink: ByteSink,
  pieces: PprofPieces,
): Promise<void> {
  const { stacks, totals } = profile;
  const rows = new SampleRows(totals, labels);
  const values = new Float64Array(types.columns.length);
  /** Exact values minus the doubles in `values`; 0 up to 2^53. */
  const remainders = new Float64Array(types.columns.length);
  const bytes = new SampleBytes(sink, pieces.take());
  for (let row = 0; row < rows.size; row++) {
    // hot
    for (let stack = rows.stack(row); stack >= 0; stack = stacks.parent(stack)) bytes.addToList(locationId[stacks.location(stack)]);
    bytes.endLocationIds();
    values.fill(0);
    remainders.fill(0);
    for (let total = rows.firstTotal(row); total >= 0; total = rows.nextTotal(total)) {
      const column = types.countColumn[totals.event(total)];
      values[column] += totals.samples(total);
      const before = values[column + 1];
      const period = totals.period(total);
      values[column + 1] = before + period;
      if (values[column + 1] > Number.MAX_SAFE_INTEGER) remainders[column + 1] += lostInSum(before, period) + totals.periodRemainder(total);
    }
    for (let column = 0; column < values.length; column++) bytes.addToList(values[column], remainders[column]);
    bytes.endValues();
    bytes.endSample(labels.encoded(rows.labelSet(row)));
    if (bytes.isFull) await bytes.flush();
  }
  pieces.append(bytes.rest());
}

async function writeTables(tables: PprofTables, pieces: PprofPieces): Promise<void> {
  const { writer } = pieces;
  for (let index = 0; index < tables.mappings.length; index++) {
    putMapping(writer, index + 1, tables.mappings[index], tables.strings);
    if (pieces.added(MESSAGE_BYTES)) await pieces.flush();
  }
  for (let index = 0; index < tables.locations.size; index++) {
    const lineCount = putLocation(writer, tables, index);
    if (pieces.added(MESSAGE_BYTES + lineCount * MESSAGE_BYTES)) await pieces.flush();
  }
  for (let index = 0; index < tables.functions.size; index++) {
    putFunction(writer, tables, index);
    if (pieces.added(MESSAGE_BYTES)) await pieces.flush();
  }
}

async function writeStrings({ strings }: PprofTables, pieces: PprofPieces): Promise<void> {
  for (let index = 0; index < strings.size; index++) {
    // The specification asks for UTF-8, and Go's readers refuse anything else.
    const text = showRawBytes(strings.get(index));
    pieces.writer.tag(PROFILE.stringTable, WireType.LengthDelimited).string(text);
    if (pieces.added(MESSAGE_BYTES + text.length)) await pieces.flush();
  }
}

function writeMeta(
  profile: Profile,
  types: SampleTypes,
  weight: 'period' | 'samples',
  { strings }: PprofTables,
  labelComments: readonly string[],
  writer: BinaryWriter,
): void {
  const { meta } = profile;
  const count = types.countColumn[types.primaryEvent];
  const period = types.columns[count + 1];
  // A damaged recording may have a time that does not fit the field, which is an int64. It is left out.
  if (meta.captureTimeNs !== undefined && isInt64(meta.captureTimeNs)) writer.tag(PROFILE.timeNanos, WireType.Varint).int64(meta.captureTimeNs);
  putNumber(writer, PROFILE.durationNanos, Math.round(meta.durationNs));
  putValueType(writer, PROFILE.periodType, strings.intern(period.type), strings.intern(period.unit));
  putNumber(writer, PROFILE.period, samplePeriod(profile, types.primaryEvent));
  for (const comment of [...commentsOf(profile), ...labelComments]) writer.tag(PROFILE.comment, WireType.Varint).uint32(strings.intern(comment));
  putNumber(writer, PROFILE.defaultSampleType, strings.intern(weight === 'period' ? period.type : types.columns[count].type));
}

function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** How the recordings were made, as `pprof -comments` prints it; equal lines of merged recordings appear once. */
function commentsOf({ meta, inputs }: Profile): string[] {
  const comments = new Set<string>();
  for (const { perfVersion, commandLine } of inputs?.map((input) => input.meta) ?? [meta]) {
    if (perfVersion !== '') comments.add(`perf version: ${perfVersion}`);
    if (commandLine.length > 0) comments.add(`command line: ${commandLine.join(' ')}`);
  }
  return [...comments];
}
