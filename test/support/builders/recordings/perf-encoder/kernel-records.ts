import type { AttrSpec } from './attr.ts';
import type { ByteWriter } from './byte-writer.ts';
import type { ReadSpec, SampleFields, SampleIdFields } from './sample.ts';
import { writeReadValues, writeSampleFields, writeSampleId } from './sample.ts';

/** A record that is not bytes yet: its layout depends on the file's byte order and on the attr it belongs to. */
export interface RecordSpec {
  readonly type: number;
  readonly misc: number;
  /** Index of the attr it belongs to. */
  readonly attr: number;
  readonly writeBody: (out: ByteWriter, attr: AttrSpec) => void;
  /** Bytes after the record that its header.size does not count (AUXTRACE, TRACING_DATA). */
  readonly payload?: Uint8Array;
  /** A false header.size, for tests of damaged files. */
  readonly sizeBytes?: number;
}

/** Options of any kernel record besides its own fields. */
export interface RecordOptions {
  readonly misc?: number;
  /** Index of the attr that the record belongs to; default 0. */
  readonly attr?: number;
  /** The trailer; pid and tid default to the record's own, everything else to 0. */
  readonly sampleId?: SampleIdFields;
}

/** PERF_RECORD_MISC_*: the cpumode in the low three bits, and flags. */
export const misc = {
  unknown: 0,
  kernel: 1,
  user: 2,
  hypervisor: 3,
  guestKernel: 4,
  guestUser: 5,
  mmapData: 1 << 13,
  commExec: 1 << 13,
  forkExec: 1 << 13,
  switchOut: 1 << 13,
  exactIp: 1 << 14,
  switchOutPreempt: 1 << 14,
  mmapBuildId: 1 << 14,
  buildIdSize: 1 << 15,
  lostSamplesBpf: 1 << 15,
} as const;

/** PERF_CONTEXT_*: the markers inside callchains, as u64. */
export const context = {
  hypervisor: BigInt.asUintN(64, -32n),
  kernel: BigInt.asUintN(64, -128n),
  user: BigInt.asUintN(64, -512n),
  userDeferred: BigInt.asUintN(64, -640n),
  guest: BigInt.asUintN(64, -2048n),
  guestKernel: BigInt.asUintN(64, -2176n),
  guestUser: BigInt.asUintN(64, -2560n),
  max: BigInt.asUintN(64, -4095n),
} as const;

interface Task {
  readonly pid: number;
  /** Default: the pid. */
  readonly tid?: number;
}

interface Lifetime {
  readonly pid: number;
  readonly ppid: number;
  /** Default: the pid. */
  readonly tid?: number;
  /** Default: the ppid. */
  readonly ptid?: number;
  readonly time?: bigint;
}

export interface MmapSpec extends Task {
  readonly addr: bigint;
  readonly len: bigint;
  readonly pgoff?: bigint;
  readonly filename: string;
}

export interface Mmap2Spec extends MmapSpec {
  readonly maj?: number;
  readonly min?: number;
  readonly ino?: bigint;
  readonly inoGeneration?: bigint;
  /** At most 20 bytes; takes the place of maj … inoGeneration and sets the misc bit that says so. */
  readonly buildId?: Uint8Array;
  /** PROT_*; default read and execute. */
  readonly prot?: number;
  /** MAP_*; default private. */
  readonly flags?: number;
}

/** A record of the kernel: body, then the trailer of its attr. */
function kernelRecord(type: number, options: RecordOptions, task: Task | undefined, writeFields: RecordSpec['writeBody'], defaultMisc = 0): RecordSpec {
  return {
    type,
    misc: options.misc ?? defaultMisc,
    attr: options.attr ?? 0,
    writeBody: (out, attr) => {
      writeFields(out, attr);
      writeSampleId(out, { ...task, ...options.sampleId }, attr);
    },
  };
}

function writeTask(out: ByteWriter, { pid, tid = pid }: Task): void {
  out.u32(pid).u32(tid);
}

function writeLifetime(out: ByteWriter, life: Lifetime): void {
  const { pid, ppid, tid = pid, ptid = ppid } = life;
  out.u32(pid).u32(ppid).u32(tid).u32(ptid);
  out.u64(life.time ?? 0n);
}

function writeMapRange(out: ByteWriter, map: MmapSpec): void {
  writeTask(out, map);
  out
    .u64(map.addr)
    .u64(map.len)
    .u64(map.pgoff ?? 0n);
}

/** The records that the kernel writes, by ascending type, one function each. Absent fields are 0. */
export const record = {
  mmap: (map: MmapSpec, options: RecordOptions = {}): RecordSpec =>
    kernelRecord(
      1,
      options,
      map,
      (out) => {
        writeMapRange(out, map);
        out.cString(map.filename);
      },
      misc.user,
    ),

  lost: (fields: { id?: bigint; lost: bigint }, options: RecordOptions = {}): RecordSpec =>
    kernelRecord(2, options, undefined, (out, attr) => out.u64(fields.id ?? attr.ids?.[0] ?? 0n).u64(fields.lost)),

  /** `exec: true` sets PERF_RECORD_MISC_COMM_EXEC. */
  comm: (fields: Task & { comm: string; exec?: boolean }, options: RecordOptions = {}): RecordSpec =>
    kernelRecord(
      3,
      options,
      fields,
      (out) => {
        writeTask(out, fields);
        out.cString(fields.comm);
      },
      fields.exec ? misc.commExec : 0,
    ),

  exit: (life: Lifetime, options: RecordOptions = {}): RecordSpec => kernelRecord(4, options, life, (out) => writeLifetime(out, life)),

  throttle: (fields: { time?: bigint; id?: bigint; streamId?: bigint } = {}, options: RecordOptions = {}): RecordSpec => throttling(5, fields, options),

  unthrottle: (fields: { time?: bigint; id?: bigint; streamId?: bigint } = {}, options: RecordOptions = {}): RecordSpec => throttling(6, fields, options),

  fork: (life: Lifetime, options: RecordOptions = {}): RecordSpec => kernelRecord(7, options, life, (out) => writeLifetime(out, life)),

  read: (fields: Task & { read: ReadSpec }, options: RecordOptions = {}): RecordSpec =>
    kernelRecord(8, options, fields, (out, attr) => {
      writeTask(out, fields);
      writeReadValues(out, fields.read, attr);
    }),

  /** The fields that its attr does not sample are left out; samples carry no trailer. */
  sample: (fields: SampleFields, options: { misc?: number; attr?: number } = {}): RecordSpec => ({
    type: 9,
    misc: options.misc ?? misc.user,
    attr: options.attr ?? 0,
    writeBody: (out, attr) => writeSampleFields(out, fields, attr),
  }),

  mmap2: (map: Mmap2Spec, options: RecordOptions = {}): RecordSpec => {
    const flags = map.buildId ? misc.mmapBuildId : 0;
    return kernelRecord(
      10,
      { ...options, misc: (options.misc ?? misc.user) | flags },
      map,
      (out) => {
        writeMapRange(out, map);
        if (map.buildId) {
          out
            .u8(map.buildId.length)
            .zeros(3)
            .raw(map.buildId)
            .zeros(20 - map.buildId.length);
        } else {
          out.u32(map.maj ?? 0).u32(map.min ?? 0);
          out.u64(map.ino ?? 0n).u64(map.inoGeneration ?? 0n);
        }
        out.u32(map.prot ?? 5).u32(map.flags ?? 2);
        out.cString(map.filename);
      },
      misc.user,
    );
  },

  aux: (fields: { offset?: bigint; size?: bigint; flags?: bigint } = {}, options: RecordOptions = {}): RecordSpec =>
    kernelRecord(11, options, undefined, (out) =>
      out
        .u64(fields.offset ?? 0n)
        .u64(fields.size ?? 0n)
        .u64(fields.flags ?? 0n),
    ),

  itraceStart: (task: Task, options: RecordOptions = {}): RecordSpec => kernelRecord(12, options, task, (out) => writeTask(out, task)),

  lostSamples: (fields: { lost: bigint }, options: RecordOptions = {}): RecordSpec => kernelRecord(13, options, undefined, (out) => out.u64(fields.lost)),

  /** `out: true` sets PERF_RECORD_MISC_SWITCH_OUT. */
  switch: (fields: { out?: boolean; preempt?: boolean } = {}, options: RecordOptions = {}): RecordSpec =>
    kernelRecord(14, options, undefined, () => {}, switchMisc(fields)),

  switchCpuWide: (fields: { out?: boolean; preempt?: boolean; nextPrevPid: number; nextPrevTid?: number }, options: RecordOptions = {}): RecordSpec =>
    kernelRecord(
      15,
      options,
      undefined,
      (out) => writeTask(out, { pid: fields.nextPrevPid, tid: fields.nextPrevTid ?? fields.nextPrevPid }),
      switchMisc(fields),
    ),

  namespaces: (fields: Task & { links: readonly { dev: bigint; ino: bigint }[] }, options: RecordOptions = {}): RecordSpec =>
    kernelRecord(16, options, fields, (out) => {
      writeTask(out, fields);
      out.u64(BigInt(fields.links.length));
      for (const link of fields.links) out.u64(link.dev).u64(link.ino);
    }),

  /** `ksymType` 1 is BPF, 2 out-of-line code; `unregister` sets flag 1. */
  ksymbol: (fields: { addr: bigint; len: number; ksymType?: number; unregister?: boolean; name: string }, options: RecordOptions = {}): RecordSpec =>
    kernelRecord(17, options, undefined, (out) => {
      out.u64(fields.addr).u32(fields.len);
      out.u16(fields.ksymType ?? 1).u16(fields.unregister ? 1 : 0);
      out.cString(fields.name);
    }),

  /** `bpfType` 1 is load, 2 unload; the tag has 8 bytes. */
  bpfEvent: (fields: { bpfType: number; flags?: number; id: number; tag?: Uint8Array }, options: RecordOptions = {}): RecordSpec =>
    kernelRecord(18, options, undefined, (out) => {
      out
        .u16(fields.bpfType)
        .u16(fields.flags ?? 0)
        .u32(fields.id);
      out.raw(fields.tag ?? new Uint8Array(8));
    }),

  cgroup: (fields: { id: bigint; path: string }, options: RecordOptions = {}): RecordSpec =>
    kernelRecord(19, options, undefined, (out) => {
      out.u64(fields.id);
      out.cString(fields.path);
    }),

  textPoke: (fields: { addr: bigint; oldBytes: Uint8Array; newBytes: Uint8Array }, options: RecordOptions = {}): RecordSpec =>
    kernelRecord(20, options, undefined, (out) => {
      out.u64(fields.addr).u16(fields.oldBytes.length).u16(fields.newBytes.length);
      const sizeBytes = 12 + fields.oldBytes.length + fields.newBytes.length;
      out
        .raw(fields.oldBytes)
        .raw(fields.newBytes)
        .zeros((8 - (sizeBytes % 8)) % 8);
    }),

  auxOutputHwId: (fields: { hwId: bigint }, options: RecordOptions = {}): RecordSpec => kernelRecord(21, options, undefined, (out) => out.u64(fields.hwId)),

  callchainDeferred: (fields: { cookie: bigint; ips: readonly bigint[] }, options: RecordOptions = {}): RecordSpec =>
    kernelRecord(22, options, undefined, (out) => {
      out.u64(fields.cookie).u64(BigInt(fields.ips.length));
      for (const ip of fields.ips) out.u64(ip);
    }),

  /** A record of any type with any body, without a trailer. */
  opaque: (type: number, body: Uint8Array, fields: { misc?: number; sizeBytes?: number } = {}): RecordSpec => ({
    type,
    misc: fields.misc ?? 0,
    attr: 0,
    writeBody: (out) => out.raw(body),
    ...(fields.sizeBytes === undefined ? {} : { sizeBytes: fields.sizeBytes }),
  }),
} as const;

function throttling(type: 5 | 6, fields: { time?: bigint; id?: bigint; streamId?: bigint }, options: RecordOptions): RecordSpec {
  return kernelRecord(type, options, undefined, (out, attr) =>
    out
      .u64(fields.time ?? 0n)
      .u64(fields.id ?? attr.ids?.[0] ?? 0n)
      .u64(fields.streamId ?? 0n),
  );
}

function switchMisc(fields: { out?: boolean; preempt?: boolean }): number {
  return (fields.out ? misc.switchOut : 0) | (fields.preempt ? misc.switchOutPreempt : 0);
}
