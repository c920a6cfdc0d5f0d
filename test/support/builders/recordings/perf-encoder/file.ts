import type { AttrSpec } from './attr.ts';
import { writeAttr } from './attr.ts';
import type { ByteOrder } from './byte-writer.ts';
import { ByteWriter } from './byte-writer.ts';
import type { FeatureName, FeatureSpec } from './features.ts';
import { featureBits, featureBytes } from './features.ts';
import type { RecordSpec } from './kernel-records.ts';
import { toolRecords } from './user-records.ts';

/** A recording as a test writes it. */
export interface FileSpec {
  /** Default little. */
  readonly byteOrder?: ByteOrder;
  readonly attrs: readonly AttrSpec[];
  readonly records: readonly RecordSpec[];
  readonly features?: FeatureSpec;
  /** Sections of writers other than perf, by their bits in the header. */
  readonly foreignFeatures?: readonly ForeignFeature[];
  /** Size of perf_event_attr in the file; default that of the attrs, or 128. */
  readonly attrSize?: number;
  /** header.attr_size, the distance between attrs; default attrSize + 16 (a file section with the ids follows each). */
  readonly headerAttrSize?: number;
  /** data.size = 0, as a killed `perf record` leaves it. */
  readonly unfinished?: boolean;
  /** The magic PERFFILE of perf before Linux 3.2. */
  readonly version?: 1;
  /** Names of events by config, as perf listed them before Linux 3.11. */
  readonly eventTypes?: readonly { readonly config: bigint; readonly name: string }[];
  /** Header without a feature bitmap, as perf 2.6.31 wrote it; only with `version: 1`. */
  readonly withoutFeatureBitmap?: boolean;
}

export interface ForeignFeature {
  readonly bit: number;
  readonly bytes: Uint8Array;
}

const fullHeaderSizeBytes = 104;
const oldestHeaderSizeBytes = 72;

/** The bytes of a PERFILE2 file: header, ids, attrs, data, feature table, features. */
export function encodeFile(spec: FileSpec): Uint8Array {
  const byteOrder = spec.byteOrder ?? 'little';
  const attrSize = spec.attrSize ?? Math.max(...spec.attrs.map((attr) => attr.sizeBytes ?? 128));
  const headerAttrSize = spec.headerAttrSize ?? attrSize + 16;
  const newWriter = (): ByteWriter => new ByteWriter(byteOrder);

  const headerSizeBytes = spec.withoutFeatureBitmap ? oldestHeaderSizeBytes : fullHeaderSizeBytes;
  const ids = newWriter();
  const attrs = newWriter();
  for (const attr of spec.attrs) {
    const start = attrs.length;
    writeAttr(attrs, attr, newWriter, attrSize);
    // As in perf.h, the position of the ids is in the last 16 bytes of the entry, wherever those begin.
    attrs.zeros(headerAttrSize - 16 - (attrs.length - start));
    attrs.u64(BigInt(headerSizeBytes + ids.length)).u64(BigInt((attr.ids?.length ?? 0) * 8));
    for (const id of attr.ids ?? []) ids.u64(id);
  }
  const data = newWriter();
  for (const record of spec.records) data.raw(encodeRecord(record, spec.attrs, byteOrder));

  const eventTypes = newWriter();
  for (const { config, name } of spec.eventTypes ?? []) eventTypes.u64(config).fixedString(name, 64);

  const attrsOffset = headerSizeBytes + ids.length;
  const eventTypesOffset = attrsOffset + attrs.length;
  const dataOffset = eventTypesOffset + eventTypes.length;
  const names = featureNames(spec.features);
  const out = newWriter();
  writeMagic(out, spec.version);
  out.u64(BigInt(headerSizeBytes)).u64(BigInt(headerAttrSize));
  out.u64(BigInt(attrsOffset)).u64(BigInt(attrs.length));
  out.u64(BigInt(dataOffset)).u64(BigInt(spec.unfinished ? 0 : data.length));
  out.u64(eventTypes.length === 0 ? 0n : BigInt(eventTypesOffset)).u64(BigInt(eventTypes.length));
  const foreign = [...(spec.foreignFeatures ?? [])].sort((a, b) => a.bit - b.bit);
  const bits = [...names.map((name) => featureBits[name]), ...foreign.map(({ bit }) => bit)];
  const bitmap = bits.reduce((words, bit) => words | (1n << BigInt(bit)), 0n);
  if (!spec.withoutFeatureBitmap) for (let word = 0n; word < 4n; word++) out.u64(bitmap >> (word * 64n));
  out.raw(ids.bytes()).raw(attrs.bytes()).raw(eventTypes.bytes()).raw(data.bytes());
  if (spec.unfinished) return out.bytes();

  const sections = [...names.map((name) => featureBytes(name, spec.features?.[name], { byteOrder, attrs: spec.attrs })), ...foreign.map(({ bytes }) => bytes)];
  let offset = out.length + sections.length * 16;
  for (const section of sections) {
    out.u64(BigInt(offset)).u64(BigInt(section.length));
    offset += section.length;
  }
  for (const section of sections) out.raw(section);
  return out.bytes();
}

/**
 * The bytes that `perf record -o -` would write: attrs, event names and features come as records, then the given ones.
 * An attr without ids gets a HEADER_ATTR without ids and no name.
 */
export function encodePipe(spec: Pick<FileSpec, 'byteOrder' | 'attrs' | 'records' | 'features'>): Uint8Array {
  const byteOrder = spec.byteOrder ?? 'little';
  const out = new ByteWriter(byteOrder);
  writeMagic(out);
  out.u64(16n);
  const features = featureNames(spec.features).map((name) => toolRecords.headerFeature(name, spec.features?.[name], spec.attrs));
  // As perf writes them; it checks GROUP_DESC against the attrs, which therefore come first.
  const prologue = [
    ...spec.attrs.map((attr) => toolRecords.headerAttr(attr)),
    ...features,
    ...(features.length > 0 ? [toolRecords.lastFeature()] : []),
    ...spec.attrs.flatMap((attr) =>
      attr.name !== undefined && attr.ids?.[0] !== undefined ? [toolRecords.eventUpdate({ id: attr.ids[0], name: attr.name })] : [],
    ),
  ];
  for (const record of [...prologue, ...spec.records]) out.raw(encodeRecord(record, spec.attrs, byteOrder));
  return out.bytes();
}

/** The bytes of one record: header, body, trailer, and any payload after it. */
export function encodeRecord(record: RecordSpec, attrs: readonly AttrSpec[], byteOrder: ByteOrder = 'little'): Uint8Array {
  const attr = attrs[record.attr];
  if (!attr) throw new RangeError(`no attr ${record.attr}`);
  const body = new ByteWriter(byteOrder);
  record.writeBody(body, attr);
  const sizeBytes = record.sizeBytes ?? 8 + body.length;
  const out = new ByteWriter(byteOrder);
  if (record.type >= 32768) {
    // simpleperf's own: no misc, and a size of 32 bits with the high half first.
    out
      .u32(record.type)
      .u16(sizeBytes >>> 16)
      .u16(sizeBytes & 0xffff);
    return out.raw(body.bytes()).bytes();
  }
  if (sizeBytes > 0xffff) throw new RangeError(`a record of ${sizeBytes} bytes does not fit its u16 size`);
  out.u32(record.type).u16(record.misc).u16(sizeBytes);
  out.raw(body.bytes());
  if (record.payload) out.raw(record.payload);
  return out.bytes();
}

/** `PERFILE2` is a u64 to its writer: a big-endian machine writes it as `2ELIFREP`. The same goes for `PERFFILE`. */
function writeMagic(out: ByteWriter, version: 1 | 2 = 2): void {
  out.u64(version === 1 ? 0x454c494646524550n : 0x32454c4946524550n);
}

function featureNames(features: FeatureSpec = {}): FeatureName[] {
  const names = (Object.keys(features) as FeatureName[]).filter((name) => features[name] !== undefined);
  return names.sort((a, b) => featureBits[a] - featureBits[b]);
}
