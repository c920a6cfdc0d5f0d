import type { AttrSpec } from './attr.ts';
import { writeAttr } from './attr.ts';
import { ByteWriter } from './byte-writer.ts';
import type { BuildIdSpec, FeatureName, FeatureSpec } from './features.ts';
import { featureBits, featureBytes, writeBuildIdBody } from './features.ts';
import type { RecordSpec } from './kernel-records.ts';
import { misc } from './kernel-records.ts';

/** A record that the perf tool writes: without a trailer and an attr. */
function toolRecord(type: number, writeBody: (out: ByteWriter) => void, fields: { misc?: number; payload?: Uint8Array } = {}): RecordSpec {
  return { type, misc: fields.misc ?? 0, attr: 0, writeBody, ...(fields.payload ? { payload: fields.payload } : {}) };
}

function padTo8(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil(bytes.length / 8) * 8);
  padded.set(bytes);
  return padded;
}

function writeCpuMask(out: ByteWriter, wordBytes: 4 | 8, words: readonly bigint[]): void {
  out
    .u16(1)
    .u16(words.length)
    .u16(wordBytes)
    .zeros(wordBytes === 8 ? 4 : 0);
  for (const word of words) wordBytes === 8 ? out.u64(word) : out.u32(Number(word));
  out.align(8);
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

  /** A header string of Google's old pipes: types 69 to 77, in a field of 64 bytes, so that the record's size is not a multiple of 8. */
  legacyHeaderString: (type: number, text: string): RecordSpec => toolRecord(type, (out) => out.u32(64).fixedString(text, 64)),

  headerBuildId: (spec: BuildIdSpec): RecordSpec =>
    toolRecord(67, (out) => writeBuildIdBody(out, spec), { misc: (spec.misc ?? misc.user) | (spec.sizeByte === false ? 0 : misc.buildIdSize) }),

  finishedRound: (): RecordSpec => toolRecord(68, () => {}),

  /** cpu and tid −1 mean any; the second list is there if an entry is of a virtual machine. */
  idIndex: (entries: readonly { id: bigint; idx?: bigint; cpu?: bigint; tid?: bigint; machinePid?: bigint }[]): RecordSpec =>
    toolRecord(69, (out) => {
      out.u64(BigInt(entries.length));
      for (const entry of entries) {
        out
          .u64(entry.id)
          .u64(entry.idx ?? 0n)
          .u64(entry.cpu ?? -1n)
          .u64(entry.tid ?? -1n);
      }
      if (entries.some(({ machinePid }) => machinePid !== undefined)) for (const { machinePid = 0n } of entries) out.u64(machinePid).u64(0n);
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

  /** The message is not padded; `format` 0 has no time, 2 has the guest in which it happened after 64 bytes of message. */
  auxtraceError: (fields: {
    errorType: number;
    code: number;
    cpu?: number;
    pid?: number;
    tid?: number;
    ip?: bigint;
    time?: bigint;
    msg: string;
    guest?: { machinePid: number; vcpu: number };
  }): RecordSpec =>
    toolRecord(72, (out) => {
      const format = fields.guest !== undefined ? 2 : fields.time !== undefined ? 1 : 0;
      out
        .u32(fields.errorType)
        .u32(fields.code)
        .u32(fields.cpu ?? 0)
        .u32(fields.pid ?? 0)
        .u32(fields.tid ?? 0)
        .u32(format)
        .u64(fields.ip ?? 0n);
      if (format > 0) out.u64(fields.time ?? 0n);
      if (fields.guest === undefined) out.cString(fields.msg);
      else out.fixedString(fields.msg, 64).u32(fields.guest.machinePid).u32(fields.guest.vcpu);
    }),

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

  /** A bit mask of words of 4 or 8 bytes, the lowest CPUs first (PERF_CPU_MAP__MASK); 64-bit words are aligned as in C. */
  cpuMask: (wordBytes: 4 | 8, words: readonly bigint[]): RecordSpec => toolRecord(74, (out) => writeCpuMask(out, wordBytes, words)),

  /** From one CPU to another, both included (PERF_CPU_MAP__RANGE_CPUS). */
  cpuRange: (fields: { first: number; last: number; any?: boolean }): RecordSpec =>
    toolRecord(74, (out) =>
      out
        .u16(2)
        .u8(fields.any ? 1 : 0)
        .u8(0)
        .u16(fields.first)
        .u16(fields.last),
    ),

  statConfig: (terms: readonly { tag: bigint; val: bigint }[]): RecordSpec =>
    toolRecord(75, (out) => {
      out.u64(BigInt(terms.length));
      for (const { tag, val } of terms) out.u64(tag).u64(val);
    }),

  stat: (fields: { id: bigint; cpu: number; thread: number; val: bigint; ena: bigint; run: bigint }): RecordSpec =>
    toolRecord(76, (out) => out.u64(fields.id).u32(fields.cpu).u32(fields.thread).u64(fields.val).u64(fields.ena).u64(fields.run)),

  /** `roundType` 0 is an interval, 1 the end. */
  statRound: (fields: { roundType: bigint; time: bigint }): RecordSpec => toolRecord(77, (out) => out.u64(fields.roundType).u64(fields.time)),

  /** Which CPUs an event is opened on; as a mask. */
  eventUpdateCpus: (fields: { id: bigint; mask: bigint }): RecordSpec =>
    toolRecord(78, (out) => {
      out.u64(3n).u64(fields.id);
      writeCpuMask(out, 8, [fields.mask]);
    }),

  eventUpdateCpuRange: (fields: { id: bigint; first: number; last: number }): RecordSpec =>
    toolRecord(78, (out) => {
      out.u64(3n).u64(fields.id);
      out.u16(2).u16(0).u16(fields.first).u16(fields.last);
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

  /** As since Linux 5.10. */
  timeConvCycles: (fields: { shift: bigint; mult: bigint; zero: bigint; cycles: bigint; mask: bigint; capZero: number; capShort: number }): RecordSpec =>
    toolRecord(79, (out) => {
      out.u64(fields.shift).u64(fields.mult).u64(fields.zero).u64(fields.cycles).u64(fields.mask);
      out.u8(fields.capZero).u8(fields.capShort).zeros(6);
    }),

  compressed: (data: Uint8Array): RecordSpec => toolRecord(81, (out) => out.raw(data)),

  /** The data is padded to a multiple of 8 bytes. */
  compressed2: (data: Uint8Array): RecordSpec => toolRecord(83, (out) => out.u64(BigInt(data.length)).raw(padTo8(data))),

  bpfMetadata: (fields: { progName: string; entries: readonly { key: string; value: string }[] }): RecordSpec =>
    toolRecord(84, (out) => {
      out.fixedString(fields.progName, 512).u64(BigInt(fields.entries.length));
      for (const { key, value } of fields.entries) out.fixedString(key, 64).fixedString(value, 256);
    }),

  schedstatCpu: (fields: { timestamp: bigint; cpu: number; version: number; counters: Uint8Array }): RecordSpec =>
    toolRecord(85, (out) => out.u64(fields.timestamp).u32(fields.cpu).u16(fields.version).u16(0).raw(fields.counters)),

  schedstatDomain: (fields: { timestamp: bigint; cpu: number; version: number; domain: number; counters: Uint8Array }): RecordSpec =>
    toolRecord(86, (out) => out.u64(fields.timestamp).u32(fields.cpu).u16(fields.version).u16(fields.domain).raw(fields.counters)),

  /** One feature section inside a record, as in pipes; {@link toolRecords.lastFeature} ends them. */
  headerFeature: <Name extends FeatureName>(name: Name, value: FeatureSpec[Name], attrs: readonly AttrSpec[] = []): RecordSpec =>
    toolRecord(80, (out) => out.u64(BigInt(featureBits[name])).raw(featureBytes(name, value, { byteOrder: out.byteOrder, attrs }))),

  /** A HEADER_FEATURE without a body, which perf writes after the last one. */
  lastFeature: (): RecordSpec => toolRecord(80, (out) => out.u64(32n)),

  finishedInit: (): RecordSpec => toolRecord(82, () => {}),
} as const;
