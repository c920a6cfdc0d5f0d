import type { ByteView } from '../../base/bytes/byte-view.ts';
import { RECORD_HEADER_BYTES } from '../../base/bytes/record-layout.ts';
import { simpleperfRecordNameOf } from '../../simpleperf/constants.ts';
import { readSimpleperfRecord, type SimpleperfRecord as SimpleperfContent } from '../../simpleperf/records.ts';
import * as abi from '../abi/constants.ts';
import type { PerfEventAttr } from '../samples/attr.ts';
import type { Sample } from '../samples/sample.ts';
import type { SampleId } from '../samples/sample-id.ts';
import { KERNEL_RECORDS, type RecordKind } from './kernel-records.ts';
import { TOOL_RECORDS } from './tool-records.ts';

/** Where a record is, and what its header says about it. */
export interface RecordHead<Type extends string = string> {
  /** Its name in perf_event.h, without PERF_RECORD_. */
  readonly type: Type;
  /** Position of its header in the file; for a record that was compressed, that of the record that held it. */
  readonly offset: number;
  /** Bytes, header included. */
  readonly size: number;
  /** PERF_RECORD_MISC_*. */
  readonly misc: number;
}

type FieldsOf<Kind> = Kind extends { readonly read: (...args: never[]) => infer Result } ? Exclude<Result, string> : never;

type KernelRecords = { [Name in keyof typeof KERNEL_RECORDS]: RecordHead<Name> & SideBandTrailer & FieldsOf<(typeof KERNEL_RECORDS)[Name]> };
type ToolRecords = { [Name in keyof typeof TOOL_RECORDS]: RecordHead<Name> & FieldsOf<(typeof TOOL_RECORDS)[Name]> };

/** What the kernel's records other than SAMPLE say about the moment when they were written. */
export interface SideBandTrailer {
  /** Absent if the events were opened without `sample_id_all`. */
  readonly sampleId?: SampleId;
}

/** One of the recording's events. */
export interface RecordedEvent {
  /** From 0, in the order of the attrs. */
  readonly index: number;
  /** As perf prints it. */
  readonly name: string;
  readonly attr: PerfEventAttr;
}

/** A sample, and the event that it is of. */
export interface SampleRecord extends RecordHead<'SAMPLE'>, Sample {
  readonly event: RecordedEvent;
}

/** A header string of Google's old pipe dialect, which used the numbers 69 to 80 for them: what later perf writes as HEADER_FEATURE. */
export interface LegacyHeaderRecord extends RecordHead<'LEGACY_HEADER'> {
  /** Bit of the header feature. */
  readonly feature: number;
  readonly name: string;
  readonly data: Uint8Array;
}

/** One of simpleperf's own records (32768 and up). */
export interface SimpleperfRecord extends RecordHead<'SIMPLEPERF'> {
  /** Its name in simpleperf, without SIMPLE_PERF_RECORD_: `KERNEL_SYMBOL`. */
  readonly name: string;
  readonly content: SimpleperfContent;
}

/** A record of a type that is not known yet. */
export interface UnknownRecord extends RecordHead<'UNKNOWN'> {
  readonly number: number;
  readonly data: Uint8Array;
}

/** A record whose fields do not fit into it, or a sample whose event is unknown. */
export interface DamagedRecord extends RecordHead<'DAMAGED'> {
  /** Name of its type: `MMAP2`. */
  readonly recordType: string;
  /** What is wrong, as the end of a sentence. */
  readonly problem: string;
}

/** A record of a recording; `type` says which. 64-bit numbers are bigints, bytes are copies. */
export type PerfRecord =
  | KernelRecords[keyof KernelRecords]
  | SampleRecord
  | ToolRecords[keyof ToolRecords]
  | LegacyHeaderRecord
  | SimpleperfRecord
  | UnknownRecord
  | DamagedRecord;

/** What the `type` of a {@link PerfRecord} can be: the names in KERNEL_RECORDS and TOOL_RECORDS, and those of the other records. */
export type PerfRecordType = keyof KernelRecords | keyof ToolRecords | 'SAMPLE' | 'LEGACY_HEADER' | 'SIMPLEPERF' | 'UNKNOWN' | 'DAMAGED';

type NamedKind = RecordKind<object> & { readonly name: string };

const KINDS: ReadonlyMap<number, NamedKind> = new Map(
  Object.entries<RecordKind<object>>({ ...KERNEL_RECORDS, ...TOOL_RECORDS }).map(([name, kind]) => [kind.type, { ...kind, name }]),
);

/** Names of the types that records can have, including SAMPLE and those that are not perf's own. */
export const PERF_RECORD_NAMES: readonly PerfRecordType[] = [
  ...([...KINDS.values()].map(({ name }) => name) as (keyof KernelRecords | keyof ToolRecords)[]),
  'SAMPLE',
  'LEGACY_HEADER',
  'SIMPLEPERF',
  'UNKNOWN',
  'DAMAGED',
];

/** Where a record is in a view, and in the recording. */
export interface RecordPlace {
  readonly view: ByteView;
  /** Offset of its header in the view. */
  readonly at: number;
  readonly size: number;
  readonly type: number;
  readonly misc: number;
  readonly fileOffset: number;
}

/**
 * Reads any record except SAMPLE.
 * @param trailerBytes size of the sample_id trailer at its end
 * @param readFormat that of the event it belongs to
 * @param sampleId what the trailer says
 */
export function readRecord(place: RecordPlace, trailerBytes: number, readFormat: number, sampleId?: SampleId): Exclude<PerfRecord, SampleRecord> {
  const { view, at, size, type, misc, fileOffset } = place;
  const kind = KINDS.get(type);
  if (kind === undefined) return readForeign(place);
  const end = at + size - trailerBytes;
  if (end < at + RECORD_HEADER_BYTES) return damaged(place, `sample_id trailer of ${trailerBytes} bytes overruns record of ${size} bytes`);
  const fields = kind.read(view, at, end, misc, readFormat);
  if (typeof fields === 'string') return damaged(place, fields);
  const record = Object.assign({ type: kind.name, offset: fileOffset, size, misc }, fields, sampleId && { sampleId });
  return record as Exclude<PerfRecord, SampleRecord>;
}

/** A record that cannot be read, and why. */
export function damaged({ type, fileOffset, size, misc }: RecordPlace, problem: string): DamagedRecord {
  const recordType = type === abi.PERF_RECORD_SAMPLE ? 'SAMPLE' : (KINDS.get(type)?.name ?? abi.recordTypeNameOf(type) ?? String(type));
  return { type: 'DAMAGED', offset: fileOffset, size, misc, recordType, problem };
}

/** Records that are not perf's, or not known. */
function readForeign(place: RecordPlace): LegacyHeaderRecord | SimpleperfRecord | UnknownRecord | DamagedRecord {
  const { view, at, size, type, misc, fileOffset } = place;
  const head = { offset: fileOffset, size, misc };
  const content = readSimpleperfRecord(view, at, at + size, type);
  if (typeof content === 'string') return damaged(place, content);
  if (content !== undefined) return { type: 'SIMPLEPERF', ...head, name: simpleperfRecordNameOf(type) ?? String(type), content };
  const data = view.bytes.slice(at + RECORD_HEADER_BYTES, at + size);
  if (!abi.isLegacyHeaderType(type - abi.LEGACY_HEADER_OFFSET)) return { type: 'UNKNOWN', ...head, number: type, data };
  const feature = abi.featureOfLegacyHeader(type);
  return { type: 'LEGACY_HEADER', ...head, feature, name: abi.featureName(feature), data };
}
