import { PerfconvError } from '../../base/problems/errors.ts';
import type { ByteSink } from '../../base/streams/byte-sink.ts';
import type { Profile } from '../../profile/profile.ts';
import type { Weight } from '../../profile/weight.ts';
import { FieldBytes, fieldLength, wordsOf } from '../pprof/field-bytes.ts';
import { FieldWriter } from '../pprof/field-writer.ts';
import { defaultLabels, type PprofLabel } from '../pprof/labels.ts';
import { putNumber } from '../pprof/messages.ts';
import { commentsOf } from '../pprof/pprof.ts';
import { planSampleTypes, type SampleType, samplePeriod } from '../pprof/sample-types.ts';
import { Dictionary } from './dictionary.ts';
import { PROFILE, PROFILES_DATA, RESOURCE_PROFILES, SCOPE_PROFILES, VALUE_TYPE } from './field-numbers.ts';
import { attributeSets } from './labels.ts';
import { putResource, putScope } from './resource.ts';
import { Samples } from './samples.ts';
import { equalStacks } from './stacks.ts';

export interface OtlpOptions {
  /** What samples have attributes for. Samples that differ in one are kept apart. Default: pid, tid, comm and, for merged recordings, input. */
  readonly labels?: readonly PprofLabel[] | undefined;
  /** Which of an event's two profiles comes first: tools show the first of all. Default: its periods. */
  readonly weight?: Weight;
  /** The program that writes the profiles, with its version: `perfconv@1.0.0`. */
  readonly exporter: string;
}

/** A profile of the output: one event, by one of its weights. */
interface ProfilePlan {
  readonly event: number;
  readonly weight: Weight;
  readonly type: SampleType;
  /** Type of the periods. */
  readonly periodType: SampleType;
}

/**
 * Writes a profile as ProfilesData of OTLP, not compressed; ExportProfilesServiceRequest, which collectors accept, has the same fields. Each event has two
 * profiles, number of samples and weight, with the names that they have in pprof ({@link planSampleTypes}); all share one dictionary.
 *
 * A Sample has one value, the sum of what has the same stack and attributes, and no timestamps: so the output grows with the number of different stacks, not
 * with that of samples. The same profile always gives the same bytes. For that, profiles have no profile_id, which is optional and would be new each time: two
 * conversions of a recording are the same profile, but one with other options is not.
 *
 * Lengths come before messages in protobuf. The long ones are not kept for that: they are encoded twice, first to measure them.
 *
 * @throws PerfconvError `no-samples` for a profile without samples, which would have no profiles
 * @see https://github.com/open-telemetry/opentelemetry-proto/blob/v1.11.0/opentelemetry/proto/profiles/v1development/profiles.proto
 */
export async function writeOtlp(profile: Profile, sink: ByteSink, options: OtlpOptions): Promise<void> {
  const plans = planProfiles(profile, options.weight ?? 'period');
  if (plans.length === 0) throw new PerfconvError('no-samples', 'no samples to write to an OTLP profile');
  const dictionary = new Dictionary(profile);
  const attributes = attributeSets(profile, options.labels ?? defaultLabels(profile), dictionary.attributes);
  const { locationId, locations } = dictionary.tables;
  const samples = new Samples(profile, attributes, equalStacks(profile.stacks, locationId, locations.size));
  const out = new FieldWriter(sink);
  await writeResourceProfiles(
    out,
    encoded((fields) => putResource(fields, profile.meta)),
    encoded((fields) => putScope(fields, options.exporter)),
    plans.map((plan) => (target) => writeProfileMessage(target, profile, plan, samples, dictionary)),
  );
  const write = (target: FieldWriter): Promise<void> => dictionary.write(target, samples.usedStacks);
  // What the dictionary adds to its strings, it has added when it was measured.
  out.lengthPrefix(PROFILES_DATA.dictionary, await lengthOf(write));
  await write(out);
  await out.flush();
}

/** Writes part of a message. It is called twice, and must write the same. */
type Part = (out: FieldWriter) => Promise<void>;

/** Writes the only ResourceProfiles, with its only ScopeProfiles. */
async function writeResourceProfiles(out: FieldWriter, resource: Uint8Array, scope: Uint8Array, profiles: readonly Part[]): Promise<void> {
  const lengths: number[] = [];
  for (const profile of profiles) lengths.push(await lengthOf(profile));
  const scopeLength = lengths.reduce((sum, length) => sum + fieldLength(length), scope.length);
  out.lengthPrefix(PROFILES_DATA.resourceProfiles, resource.length + fieldLength(scopeLength));
  out.append(resource);
  out.lengthPrefix(RESOURCE_PROFILES.scopeProfiles, scopeLength);
  out.append(scope);
  for (const [index, profile] of profiles.entries()) {
    out.lengthPrefix(SCOPE_PROFILES.profiles, lengths[index]);
    await profile(out);
  }
}

/** Number of bytes that a part writes. */
async function lengthOf(part: Part): Promise<number> {
  let length = 0;
  const out = new FieldWriter({
    write: async (chunk) => {
      length += chunk.length;
    },
  });
  await part(out);
  await out.flush();
  return length;
}

function encoded(put: (fields: FieldBytes) => void): Uint8Array {
  const fields = new FieldBytes();
  put(fields);
  return fields.collected;
}

/** The profiles of all events with samples, in the order of pprof's columns: the primary event's come first. */
function planProfiles(profile: Profile, first: Weight): ProfilePlan[] {
  const { columns, countColumn } = planSampleTypes(profile);
  const events = [...profile.events.keys()].filter((event) => countColumn[event] >= 0).sort((a, b) => countColumn[a] - countColumn[b]);
  return events.flatMap((event): ProfilePlan[] => {
    const [count, period] = columns.slice(countColumn[event], countColumn[event] + 2);
    const plans: ProfilePlan[] = [
      { event, weight: 'period', type: period, periodType: period },
      { event, weight: 'samples', type: count, periodType: period },
    ];
    return first === 'period' ? plans : plans.reverse();
  });
}

async function writeProfileMessage(
  out: FieldWriter,
  profile: Profile,
  { event, weight, type, periodType }: ProfilePlan,
  samples: Samples,
  { attributes, strings }: Dictionary,
): Promise<void> {
  const putValueType = (field: number, { type, unit }: SampleType): void => {
    const start = out.begin(field);
    out.number(VALUE_TYPE.typeStrindex, strings.intern(type));
    out.number(VALUE_TYPE.unitStrindex, strings.intern(unit));
    out.end(start);
  };
  const { captureTimeNs = 0n, durationNs } = profile.meta;
  const comments = commentsOf(profile);
  const rows = samples.ofEvent(event);
  putValueType(PROFILE.sampleType, type);
  await out.putEach(rows.length, (index) => samples.put(out, rows[index], weight));
  // A damaged recording may have a time that does not fit the field. It is left out.
  if (BigInt.asUintN(64, captureTimeNs) === captureTimeNs) out.fixed64(PROFILE.timeUnixNano, ...wordsOf(captureTimeNs));
  putNumber(out, PROFILE.durationNano, Math.round(durationNs));
  putValueType(PROFILE.periodType, periodType);
  putNumber(out, PROFILE.period, samplePeriod(profile, event));
  if (comments.length > 0) out.packed(PROFILE.attributeIndices, [attributes.intern('pprof.profile.comment', comments)]);
}
