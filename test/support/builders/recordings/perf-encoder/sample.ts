import type { AttrSpec, SampleBit } from './attr.ts';
import { branchCounters, branchHwIndex } from './attr.ts';
import type { ByteWriter } from './byte-writer.ts';

/** One counter's value as `read()` on a perf event gives it. Fields that read_format does not ask for are not written; absent ones are 0. */
export interface ReadValue {
  readonly value: bigint;
  readonly id?: bigint;
  readonly lost?: bigint;
}

/** PERF_SAMPLE_READ and PERF_RECORD_READ. `values` has one entry, or with PERF_FORMAT_GROUP any number. */
export interface ReadSpec {
  readonly timeEnabled?: bigint;
  readonly timeRunning?: bigint;
  readonly values: readonly ReadValue[];
}

/** One entry of a branch stack; its flags are those of struct perf_branch_entry. */
export interface BranchSpec {
  readonly from: bigint;
  readonly to: bigint;
  readonly mispred?: boolean;
  readonly predicted?: boolean;
  readonly inTx?: boolean;
  readonly abort?: boolean;
  readonly cycles?: number;
  readonly type?: number;
  readonly spec?: number;
  readonly newType?: number;
  readonly priv?: number;
}

/** Registers: abi 0 means that none were taken and none follow. */
export interface RegsSpec {
  readonly abi: 0 | 1 | 2;
  /** One per set bit of the attr's mask, lowest bit first. */
  readonly regs?: readonly bigint[];
}

/** The fields of a sample. Those that the attr's sample_type does not ask for are not written; those that it asks for and are absent here are 0 or empty. */
export interface SampleFields {
  readonly ip?: bigint;
  readonly pid?: number;
  readonly tid?: number;
  readonly time?: bigint;
  readonly addr?: bigint;
  /** PERF_SAMPLE_ID and PERF_SAMPLE_IDENTIFIER. Default: the first id of the sample's attr. */
  readonly id?: bigint;
  readonly streamId?: bigint;
  readonly cpu?: number;
  readonly period?: bigint;
  readonly read?: ReadSpec;
  readonly callchain?: readonly bigint[];
  readonly raw?: Uint8Array;
  /** `withoutHwIdx`: not even if it was asked for, as the kernel writes a sample without branches. */
  readonly branchStack?: {
    readonly hwIdx?: bigint;
    readonly withoutHwIdx?: boolean;
    readonly entries: readonly BranchSpec[];
    readonly counters?: readonly bigint[];
  };
  readonly regsUser?: RegsSpec;
  readonly serverPids?: readonly bigint[];
  /** `dynSize` is how much of `data` the kernel really copied; default all of it. Without bytes, only a size of 0 is written. */
  readonly stackUser?: { readonly data: Uint8Array; readonly dynSize?: bigint };
  /** The u64 of PERF_SAMPLE_WEIGHT. */
  readonly weight?: bigint;
  /** The three parts of PERF_SAMPLE_WEIGHT_STRUCT. */
  readonly weightStruct?: { readonly var1: number; readonly var2: number; readonly var3: number };
  readonly dataSrc?: bigint;
  readonly transaction?: bigint;
  readonly regsIntr?: RegsSpec;
  readonly physAddr?: bigint;
  readonly cgroup?: bigint;
  readonly dataPageSize?: bigint;
  readonly codePageSize?: bigint;
  readonly aux?: Uint8Array;
}

type FieldWriter = (out: ByteWriter, sample: SampleFields, attr: AttrSpec) => void;

/** A sample's fields in the kernel's order, each with its writer. AUX really is the last one. */
const fieldOrder: readonly (readonly [SampleBit, FieldWriter])[] = [
  ['identifier', (out, sample, attr) => out.u64(idOf(sample, attr))],
  ['ip', (out, sample) => out.u64(sample.ip ?? 0n)],
  ['tid', (out, sample) => out.u32(sample.pid ?? 0).u32(sample.tid ?? sample.pid ?? 0)],
  ['time', (out, sample) => out.u64(sample.time ?? 0n)],
  ['addr', (out, sample) => out.u64(sample.addr ?? 0n)],
  ['id', (out, sample, attr) => out.u64(idOf(sample, attr))],
  ['streamId', (out, sample) => out.u64(sample.streamId ?? 0n)],
  ['cpu', (out, sample) => out.u32(sample.cpu ?? 0).u32(0)],
  ['period', (out, sample) => out.u64(sample.period ?? 0n)],
  ['read', (out, sample, attr) => writeReadValues(out, sample.read ?? { values: [] }, attr)],
  ['callchain', (out, sample) => writeCounted(out, sample.callchain ?? [])],
  ['raw', (out, sample) => writeRaw(out, sample.raw ?? new Uint8Array())],
  ['branchStack', writeBranchStack],
  ['regsUser', (out, sample, attr) => writeRegs(out, sample.regsUser ?? { abi: 0 }, attr.sampleRegsUser ?? 0n)],
  ['serverPids', (out, sample) => writeCounted(out, sample.serverPids ?? [])],
  ['stackUser', writeStackUser],
  ['weight', (out, sample) => out.u64(sample.weight ?? 0n)],
  ['weightStruct', writeWeightStruct],
  ['dataSrc', (out, sample) => out.u64(sample.dataSrc ?? 0n)],
  ['transaction', (out, sample) => out.u64(sample.transaction ?? 0n)],
  ['regsIntr', (out, sample, attr) => writeRegs(out, sample.regsIntr ?? { abi: 0 }, attr.sampleRegsIntr ?? 0n)],
  ['physAddr', (out, sample) => out.u64(sample.physAddr ?? 0n)],
  ['cgroup', (out, sample) => out.u64(sample.cgroup ?? 0n)],
  ['dataPageSize', (out, sample) => out.u64(sample.dataPageSize ?? 0n)],
  ['codePageSize', (out, sample) => out.u64(sample.codePageSize ?? 0n)],
  ['aux', (out, sample) => writeAux(out, sample.aux ?? new Uint8Array())],
];

/** Writes the body of a PERF_RECORD_SAMPLE of `attr`. */
export function writeSampleFields(out: ByteWriter, sample: SampleFields, attr: AttrSpec): void {
  if (attr.sampleType.includes('weight') && attr.sampleType.includes('weightStruct')) throw new RangeError('WEIGHT and WEIGHT_STRUCT exclude each other');
  for (const [bit, write] of fieldOrder) if (attr.sampleType.includes(bit)) write(out, sample, attr);
}

/** The trailer of every kernel record except a sample when `sample_id_all` is set. */
export interface SampleIdFields {
  readonly pid?: number;
  readonly tid?: number;
  readonly time?: bigint;
  /** Default: the first id of the record's attr. */
  readonly id?: bigint;
  readonly streamId?: bigint;
  readonly cpu?: number;
}

/** Writes struct sample_id; nothing when the attr does not ask for it. */
export function writeSampleId(out: ByteWriter, fields: SampleIdFields, attr: AttrSpec): void {
  if (!attr.flags?.includes('sampleIdAll')) return;
  const has = (bit: SampleBit): boolean => attr.sampleType.includes(bit);
  if (has('tid')) out.u32(fields.pid ?? 0).u32(fields.tid ?? fields.pid ?? 0);
  if (has('time')) out.u64(fields.time ?? 0n);
  if (has('id')) out.u64(idOf(fields, attr));
  if (has('streamId')) out.u64(fields.streamId ?? 0n);
  if (has('cpu')) out.u32(fields.cpu ?? 0).u32(0);
  if (has('identifier')) out.u64(idOf(fields, attr));
}

/** Writes struct read_format, in the single or the group layout. */
export function writeReadValues(out: ByteWriter, read: ReadSpec, attr: AttrSpec): void {
  const format = new Set(attr.readFormat);
  const writeTimes = (): void => {
    if (format.has('timeEnabled')) out.u64(read.timeEnabled ?? 0n);
    if (format.has('timeRunning')) out.u64(read.timeRunning ?? 0n);
  };
  const writeIdAndLost = (value: ReadValue): void => {
    if (format.has('id')) out.u64(value.id ?? 0n);
    if (format.has('lost')) out.u64(value.lost ?? 0n);
  };
  if (format.has('group')) {
    out.u64(BigInt(read.values.length));
    writeTimes();
    for (const value of read.values) {
      out.u64(value.value);
      writeIdAndLost(value);
    }
    return;
  }
  if (read.values.length > 1) throw new RangeError('several values need PERF_FORMAT_GROUP');
  const value = read.values[0] ?? { value: 0n };
  out.u64(value.value);
  writeTimes();
  writeIdAndLost(value);
}

function idOf(fields: { readonly id?: bigint }, attr: AttrSpec): bigint {
  return fields.id ?? attr.ids?.[0] ?? 0n;
}

function writeCounted(out: ByteWriter, words: readonly bigint[]): void {
  out.u64(BigInt(words.length));
  for (const word of words) out.u64(word);
}

/** The kernel makes size word and data together a multiple of 8, and counts the padding in the size. */
function writeRaw(out: ByteWriter, data: Uint8Array): void {
  const sizeBytes = Math.ceil((4 + data.length) / 8) * 8 - 4;
  out
    .u32(sizeBytes)
    .raw(data)
    .zeros(sizeBytes - data.length);
}

function writeBranchStack(out: ByteWriter, sample: SampleFields, attr: AttrSpec): void {
  const stack = sample.branchStack ?? { entries: [] };
  const type = attr.branchSampleType ?? 0n;
  out.u64(BigInt(stack.entries.length));
  if (type & branchHwIndex && !stack.withoutHwIdx) out.u64(stack.hwIdx ?? 0n);
  for (const entry of stack.entries) {
    out.u64(entry.from).u64(entry.to);
    out.bitFields([
      { bits: 1, value: entry.mispred ? 1n : 0n },
      { bits: 1, value: entry.predicted ? 1n : 0n },
      { bits: 1, value: entry.inTx ? 1n : 0n },
      { bits: 1, value: entry.abort ? 1n : 0n },
      { bits: 16, value: BigInt(entry.cycles ?? 0) },
      { bits: 4, value: BigInt(entry.type ?? 0) },
      { bits: 2, value: BigInt(entry.spec ?? 0) },
      { bits: 4, value: BigInt(entry.newType ?? 0) },
      { bits: 3, value: BigInt(entry.priv ?? 0) },
    ]);
  }
  if (type & branchCounters) for (let i = 0; i < stack.entries.length; i++) out.u64(stack.counters?.[i] ?? 0n);
}

function writeRegs(out: ByteWriter, spec: RegsSpec, mask: bigint): void {
  out.u64(BigInt(spec.abi));
  if (spec.abi === 0) return;
  const count = [...mask.toString(2)].filter((digit) => digit === '1').length;
  if (spec.regs?.length !== count) throw new RangeError(`the register mask has ${count} bits, the sample ${spec.regs?.length ?? 0} registers`);
  for (const value of spec.regs) out.u64(value);
}

function writeStackUser(out: ByteWriter, sample: SampleFields): void {
  const stack = sample.stackUser ?? { data: new Uint8Array() };
  if (stack.data.length % 8 !== 0) throw new RangeError('a stack dump is a multiple of 8 bytes');
  out.u64(BigInt(stack.data.length));
  if (stack.data.length > 0) out.raw(stack.data).u64(stack.dynSize ?? BigInt(stack.data.length));
}

/** The union's u64 is one number to the kernel: a big-endian machine has the parts in the other order. */
function writeWeightStruct(out: ByteWriter, sample: SampleFields): void {
  const { var1, var2, var3 } = sample.weightStruct ?? { var1: 0, var2: 0, var3: 0 };
  if (out.byteOrder === 'little') out.u32(var1).u16(var2).u16(var3);
  else out.u16(var3).u16(var2).u32(var1);
}

function writeAux(out: ByteWriter, data: Uint8Array): void {
  const sizeBytes = Math.ceil(data.length / 8) * 8;
  out
    .u64(BigInt(sizeBytes))
    .raw(data)
    .zeros(sizeBytes - data.length);
}
