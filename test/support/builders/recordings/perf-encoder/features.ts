import type { AttrSpec } from './attr.ts';
import { writeAttr } from './attr.ts';
import type { ByteOrder } from './byte-writer.ts';
import { ByteWriter } from './byte-writer.ts';
import type { BpfProgSpec, CacheSpec, Caps, CpuDomainsSpec, CpuTopologySpec, MemTopologySpec } from './feature-sections.ts';
import * as sections from './feature-sections.ts';

/** HEADER_*: bit numbers of the feature sections. */
export const featureBits = {
  tracingData: 1,
  buildIds: 2,
  hostname: 3,
  osRelease: 4,
  version: 5,
  arch: 6,
  nrCpus: 7,
  cpuDesc: 8,
  cpuid: 9,
  totalMem: 10,
  cmdline: 11,
  eventDesc: 12,
  cpuTopology: 13,
  numaTopology: 14,
  branchStack: 15,
  pmuMappings: 16,
  groupDesc: 17,
  auxtrace: 18,
  stat: 19,
  cache: 20,
  sampleTime: 21,
  memTopology: 22,
  clockid: 23,
  dirFormat: 24,
  bpfProgInfo: 25,
  bpfBtf: 26,
  compressed: 27,
  cpuPmuCaps: 28,
  clockData: 29,
  hybridTopology: 30,
  pmuCaps: 31,
  cpuDomainInfo: 32,
  eMachine: 33,
  clnSize: 34,
} as const;
export type FeatureName = keyof typeof featureBits;

/** An entry of the build-id table, or a HEADER_BUILD_ID record. */
export interface BuildIdSpec {
  /** −1 is the host's kernel and every process. */
  readonly pid?: number;
  /** The cpumode; default user. */
  readonly misc?: number;
  /** At most 20 bytes. */
  readonly buildId: Uint8Array;
  readonly filename: string;
  /** False: as before Linux 5.10, without the byte that says how long the id is. */
  readonly sizeByte?: boolean;
  /** True: as before Linux 2.6.38, without pid. */
  readonly noPid?: boolean;
}

/** Feature sections by name; bytes are written as they are. */
export interface FeatureSpec {
  readonly tracingData?: Uint8Array;
  readonly buildIds?: readonly BuildIdSpec[];
  readonly hostname?: string;
  readonly osRelease?: string;
  readonly version?: string;
  readonly arch?: string;
  readonly nrCpus?: { readonly available: number; readonly online: number };
  readonly cpuDesc?: string;
  readonly cpuid?: string;
  /** In kB. */
  readonly totalMem?: bigint;
  readonly cmdline?: readonly string[];
  /** The attrs with their names and ids; `true` takes the file's. */
  readonly eventDesc?: readonly AttrSpec[] | true;
  readonly cpuTopology?: CpuTopologySpec | Uint8Array;
  readonly numaTopology?: readonly { readonly node: number; readonly total: bigint; readonly free: bigint; readonly cpus: string }[] | Uint8Array;
  /** An empty section, which only says that there are branch stacks. */
  readonly branchStack?: true;
  readonly pmuMappings?: readonly { readonly type: number; readonly name: string }[];
  readonly groupDesc?: readonly { readonly name: string; readonly leaderIdx: number; readonly nrMembers: number }[];
  readonly auxtrace?: readonly { readonly offset: bigint; readonly size: bigint }[] | Uint8Array;
  readonly stat?: Uint8Array;
  readonly cache?: readonly CacheSpec[] | Uint8Array;
  readonly sampleTime?: { readonly first: bigint; readonly last: bigint };
  readonly memTopology?: MemTopologySpec | Uint8Array;
  /** Resolution of the clock in nanoseconds. */
  readonly clockid?: bigint;
  /** Version of the layout. */
  readonly dirFormat?: bigint | Uint8Array;
  readonly bpfProgInfo?: readonly BpfProgSpec[] | Uint8Array;
  readonly bpfBtf?: readonly { readonly id: number; readonly data: Uint8Array }[] | Uint8Array;
  readonly compressed?: { readonly version: number; readonly type: number; readonly level: number; readonly ratio: number; readonly mmapLen: number };
  readonly cpuPmuCaps?: Caps | Uint8Array;
  readonly clockData?: { readonly clockid: number; readonly wallClockNs: bigint; readonly clockidTimeNs: bigint };
  readonly hybridTopology?: readonly { readonly pmu: string; readonly cpus: string }[] | Uint8Array;
  readonly pmuCaps?: readonly { readonly pmu: string; readonly caps: Caps }[] | Uint8Array;
  readonly cpuDomainInfo?: CpuDomainsSpec | Uint8Array;
  readonly eMachine?: { readonly machine: number; readonly flags: number };
  readonly clnSize?: number;
}

interface FeatureContext {
  readonly byteOrder: ByteOrder;
  /** The file's attrs, for `eventDesc: true`. */
  readonly attrs: readonly AttrSpec[];
}

type Present<Name extends FeatureName> = Exclude<FeatureSpec[Name], undefined>;
type FeatureWriters = { [Name in FeatureName]: (out: ByteWriter, value: Present<Name>, context: FeatureContext) => void };

const { writeString } = sections;
const writeBytes = (out: ByteWriter, bytes: Uint8Array): void => {
  out.raw(bytes);
};

/** A writer that takes bytes as they are, too. */
function orBytes<T>(write: (out: ByteWriter, value: T) => void): (out: ByteWriter, value: T | Uint8Array) => void {
  return (out, value) => {
    if (value instanceof Uint8Array) out.raw(value);
    else write(out, value);
  };
}

const writers: FeatureWriters = {
  tracingData: writeBytes,
  buildIds: (out, entries) => {
    for (const entry of entries) {
      const body = new ByteWriter(out.byteOrder);
      writeBuildIdBody(body, entry.noPid ? { ...entry, sizeByte: false } : entry);
      const bytes = entry.noPid ? body.bytes().subarray(4) : body.bytes();
      const hasSizeByte = entry.sizeByte !== false && !entry.noPid;
      out
        .u32(0)
        .u16((entry.misc ?? 2) | (hasSizeByte ? 1 << 15 : 0))
        .u16(8 + bytes.length)
        .raw(bytes);
    }
  },
  hostname: writeString,
  osRelease: writeString,
  version: writeString,
  arch: writeString,
  nrCpus: (out, { available, online }) => out.u32(available).u32(online),
  cpuDesc: writeString,
  cpuid: writeString,
  totalMem: (out, kilobytes) => out.u64(kilobytes),
  cmdline: (out, words) => {
    out.u32(words.length);
    for (const word of words) writeString(out, word);
  },
  eventDesc: (out, value, context) => {
    const attrs = value === true ? context.attrs : value;
    const attrSizeBytes = Math.max(64, ...attrs.map((attr) => attr.sizeBytes ?? 128));
    out.u32(attrs.length).u32(attrSizeBytes);
    for (const attr of attrs) {
      writeAttr(out, attr, () => new ByteWriter(out.byteOrder), attrSizeBytes);
      out.u32(attr.ids?.length ?? 0);
      writeString(out, attr.name ?? 'unnamed');
      for (const id of attr.ids ?? []) out.u64(id);
    }
  },
  cpuTopology: orBytes(sections.writeCpuTopology),
  numaTopology: orBytes(sections.writeNumaTopology),
  branchStack: () => {},
  pmuMappings: (out, mappings) => {
    out.u32(mappings.length);
    for (const { type, name } of mappings) {
      out.u32(type);
      writeString(out, name);
    }
  },
  groupDesc: (out, groups) => {
    out.u32(groups.length);
    for (const { name, leaderIdx, nrMembers } of groups) {
      writeString(out, name);
      out.u32(leaderIdx).u32(nrMembers);
    }
  },
  auxtrace: orBytes(sections.writeAuxtraceIndex),
  stat: writeBytes,
  cache: orBytes(sections.writeCaches),
  sampleTime: (out, { first, last }) => out.u64(first).u64(last),
  memTopology: orBytes(sections.writeMemTopology),
  clockid: (out, resolutionNs) => out.u64(resolutionNs),
  dirFormat: orBytes((out, version) => out.u64(version)),
  bpfProgInfo: orBytes((out, programs) => sections.writeBpfPrograms(out, programs, () => new ByteWriter(out.byteOrder))),
  bpfBtf: orBytes(sections.writeBtf),
  compressed: (out, { version, type, level, ratio, mmapLen }) => out.u32(version).u32(type).u32(level).u32(ratio).u32(mmapLen),
  cpuPmuCaps: orBytes(sections.writeCaps),
  clockData: (out, { clockid, wallClockNs, clockidTimeNs }) => out.u32(1).u32(clockid).u64(wallClockNs).u64(clockidTimeNs),
  hybridTopology: orBytes(sections.writeHybridTopology),
  pmuCaps: orBytes(sections.writePmuCaps),
  cpuDomainInfo: orBytes(sections.writeCpuDomains),
  eMachine: (out, { machine, flags }) => out.u32(machine).u32(flags),
  clnSize: (out, bytes) => out.u32(bytes),
};

/** The bytes of one feature section. */
export function featureBytes<Name extends FeatureName>(name: Name, value: FeatureSpec[Name], context: FeatureContext): Uint8Array {
  if (value === undefined) throw new RangeError(`no value for the feature ${name}`);
  const out = new ByteWriter(context.byteOrder);
  const write: (out: ByteWriter, value: Present<Name>, context: FeatureContext) => void = writers[name];
  write(out, value as Present<Name>, context);
  return out.bytes();
}

/** struct perf_record_header_build_id after its header: pid, 24 bytes of id (the size at [20] if it is given), name. */
export function writeBuildIdBody(out: ByteWriter, spec: BuildIdSpec): void {
  if (spec.buildId.length > 20) throw new RangeError('a build id has at most 20 bytes here');
  out
    .u32((spec.pid ?? -1) >>> 0)
    .raw(spec.buildId)
    .zeros(20 - spec.buildId.length)
    .u8(spec.sizeByte === false ? 0 : spec.buildId.length)
    .zeros(3);
  out.cString(spec.filename, 64);
}
