import type { AttrSpec } from './attr.ts';
import { writeAttr } from './attr.ts';
import { ByteWriter } from './byte-writer.ts';
import type { BuildIdSpec, FeatureName, FeatureSpec } from './features.ts';
import { featureBits, featureBytes, writeBuildIdBody } from './features.ts';
import type { RecordSpec } from './kernel-records.ts';
import { misc } from './kernel-records.ts';

/** A record that the perf tool writes: no trailer, no attr. */
function toolRecord(type: number, writeBody: (out: ByteWriter) => void, fields: { misc?: number; payload?: Uint8Array } = {}): RecordSpec {
  return { type, misc: fields.misc ?? 0, attr: 0, writeBody, ...(fields.payload ? { payload: fields.payload } : {}) };
}

function padTo8(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil(bytes.length / 8) * 8);
  padded.set(bytes);
  return padded;
}

/** The records that the perf tool adds: types 64 and up. Source of the layouts: perf.data-file-format, and perf 6.1's own files. */
export const toolRecords = {
  headerAttr: (attr: AttrSpec): RecordSpec =>
    toolRecord(64, (out) => {
      writeAttr(out, attr, () => new ByteWriter(out.byteOrder));
      for (const id of attr.ids ?? []) out.u64(id);
    }),

  /** `{ u64 event_id; char name[64] }`, of old files. */
  headerEventType: (fields: { eventId: bigint; name: string }): RecordSpec => toolRecord(65, (out) => out.u64(fields.eventId).fixedString(fields.name, 64)),

  /** The u32 size counts the payload padded to 8 bytes, which follows outside header.size. */
  tracingData: (data: Uint8Array): RecordSpec => {
    const payload = padTo8(data);
    return toolRecord(66, (out) => out.u32(payload.length).u32(0), { payload });
  },

  /** A header string of Google's old pipes: types 69 to 77, in a field of 64 bytes, so that the record is no multiple of 8 long. */
  legacyHeaderString: (type: number, text: string): RecordSpec => toolRecord(type, (out) => out.u32(64).fixedString(text, 64)),

  headerBuildId: (spec: BuildIdSpec): RecordSpec =>
    toolRecord(67, (out) => writeBuildIdBody(out, spec), { misc: (spec.misc ?? misc.user) | (spec.sizeByte === false ? 0 : misc.buildIdSize) }),

  finishedRound: (): RecordSpec => toolRecord(68, () => {}),

  /** cpu and tid −1 mean any. */
  idIndex: (entries: readonly { id: bigint; idx?: bigint; cpu?: bigint; tid?: bigint }[]): RecordSpec =>
    toolRecord(69, (out) => {
      out.u64(BigInt(entries.length));
      for (const entry of entries) {
        out
          .u64(entry.id)
          .u64(entry.idx ?? 0n)
          .u64(entry.cpu ?? -1n)
          .u64(entry.tid ?? -1n);
      }
    }),

  auxtraceInfo: (fields: { auxtraceType: number; priv?: readonly bigint[] }): RecordSpec =>
    toolRecord(70, (out) => {
      out.u32(fields.auxtraceType).u32(0);
      for (const word of fields.priv ?? []) out.u64(word);
    }),

  /** The trace data follows outside header.size. */
  auxtrace: (fields: { data: Uint8Array; offset?: bigint; reference?: bigint; idx?: number; tid?: number; cpu?: number }): RecordSpec =>
    toolRecord(
      71,
      (out) => {
        out
          .u64(BigInt(fields.data.length))
          .u64(fields.offset ?? 0n)
          .u64(fields.reference ?? 0n);
        out
          .u32(fields.idx ?? 0)
          .u32(fields.tid ?? 0)
          .u32(fields.cpu ?? 0)
          .u32(0);
      },
      { payload: fields.data },
    ),

  threadMap: (threads: readonly { pid: number; comm?: string }[]): RecordSpec =>
    toolRecord(73, (out) => {
      out.u64(BigInt(threads.length));
      for (const thread of threads) out.u64(BigInt(thread.pid)).fixedString(thread.comm ?? '', 16);
    }),

  /** The form that lists CPUs as u16 (PERF_CPU_MAP__CPUS). */
  cpuMap: (cpus: readonly number[]): RecordSpec =>
    toolRecord(74, (out) => {
      out.u16(0).u16(cpus.length);
      for (const cpu of cpus) out.u16(cpu);
      out.align(8);
    }),

  /** Gives the event of an id its name, unit or scale, as pipes do. */
  eventUpdate: (fields: { id: bigint } & ({ name: string } | { unit: string } | { scale: number })): RecordSpec =>
    toolRecord(78, (out) => {
      if ('name' in fields) out.u64(2n).u64(fields.id).cString(fields.name);
      else if ('unit' in fields) out.u64(0n).u64(fields.id).cString(fields.unit);
      else out.u64(1n).u64(fields.id).f64(fields.scale);
    }),

  timeConv: (fields: { shift: bigint; mult: bigint; zero: bigint }): RecordSpec =>
    toolRecord(79, (out) => out.u64(fields.shift).u64(fields.mult).u64(fields.zero)),

  /** One feature section inside a record, as pipes do; see {@link toolRecords.lastFeature} for the end of them. */
  headerFeature: <Name extends FeatureName>(name: Name, value: FeatureSpec[Name], attrs: readonly AttrSpec[] = []): RecordSpec =>
    toolRecord(80, (out) => out.u64(BigInt(featureBits[name])).raw(featureBytes(name, value, { byteOrder: out.byteOrder, attrs }))),

  /** A HEADER_FEATURE without a body, which perf writes behind the last one. */
  lastFeature: (): RecordSpec => toolRecord(80, (out) => out.u64(32n)),

  finishedInit: (): RecordSpec => toolRecord(82, () => {}),
} as const;
