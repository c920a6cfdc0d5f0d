import type { ByteView } from '../../base/bytes/byte-view.ts';
import { RECORD_HEADER_BYTES } from '../../base/bytes/record-layout.ts';
import * as abi from '../abi/constants.ts';
import { BRANCH_ENTRY_BYTES, type BranchFlags, readBranchFlags } from './branch-stack.ts';
import { type ReadFormatValues, readFormatValues } from './read-format.ts';
import { emptySampleOffsets, endsWithStackId, type SampleFieldName, type SampleLayout, type SampleOffsets } from './sample-layout.ts';

/** Everything in a PERF_RECORD_SAMPLE, under the names of perf_event.h. Fields that the event did not ask for are absent. */
export interface Sample {
  /** PERF_RECORD_MISC_CPUMODE_*: kernel 1, user 2, hypervisor 3, guest kernel 4, guest user 5. */
  readonly cpumode: number;
  readonly identifier?: bigint;
  readonly ip?: bigint;
  readonly pid?: number;
  readonly tid?: number;
  readonly time?: bigint;
  readonly addr?: bigint;
  readonly id?: bigint;
  readonly streamId?: bigint;
  readonly cpu?: number;
  readonly period?: bigint;
  readonly read?: ReadFormatValues;
  /** As recorded: leaf first, PERF_CONTEXT_* markers included. */
  readonly callchain?: readonly bigint[];
  /** A tracepoint's or a PMU's own data, padding included. */
  readonly raw?: Uint8Array;
  readonly branchStack?: BranchStack;
  readonly userRegs?: SampledRegs;
  /** hiperf on HarmonyOS's own kernel: the processes that worked for the sampled one. */
  readonly serverPids?: readonly bigint[];
  readonly userStack?: UserStack;
  /** PERF_SAMPLE_WEIGHT. */
  readonly weight?: bigint;
  /** PERF_SAMPLE_WEIGHT_STRUCT. */
  readonly weightStruct?: WeightStruct;
  readonly dataSrc?: bigint;
  readonly transaction?: bigint;
  readonly intrRegs?: SampledRegs;
  readonly physAddr?: bigint;
  readonly cgroup?: bigint;
  readonly dataPageSize?: bigint;
  readonly codePageSize?: bigint;
  /** A piece of the hardware trace. */
  readonly aux?: Uint8Array;
  /** hiperf's `--dedup_stack`: what leads to the callchain in its tables, instead of a callchain. */
  readonly stackId?: bigint;
  /** Number of bytes after all these that belong to no field; absent if there are fewer than 8 or, as it should be, none. */
  readonly surplusBytes?: number;
}

/** PERF_SAMPLE_BRANCH_STACK: the last branches taken, newest first. */
export interface BranchStack {
  /** PERF_SAMPLE_BRANCH_HW_INDEX: place of the newest entry in the hardware's ring, ~0 for unknown. Also absent if the kernel had no branches to give. */
  readonly hwIdx?: bigint;
  readonly entries: readonly BranchEntry[];
}

/** struct perf_branch_entry. */
export interface BranchEntry extends BranchFlags {
  readonly from: bigint;
  readonly to: bigint;
  /** PERF_SAMPLE_BRANCH_COUNTERS. */
  readonly counters?: bigint;
}

/** PERF_SAMPLE_REGS_*: one value for each set bit of the attr's mask, lowest first; none if `abi` is 0. */
export interface SampledRegs {
  /** PERF_SAMPLE_REGS_ABI_*: none 0, 32-bit 1, 64-bit 2. */
  readonly abi: bigint;
  readonly regs: readonly bigint[];
}

/** PERF_SAMPLE_STACK_USER: the stack from the stack pointer on. */
export interface UserStack {
  /** How many bytes the record has space for. */
  readonly size: number;
  /** How many of them were actually copied. */
  readonly dynSize: number;
  /** The copied bytes. */
  readonly bytes: Uint8Array;
}

/** union perf_sample_weight: what the three values mean depends on the machine; the first is a latency. */
export interface WeightStruct {
  readonly var1: number;
  readonly var2: number;
  readonly var3: number;
}

/** Reused for each sample. */
const offsets: SampleOffsets = emptySampleOffsets();

/**
 * Reads a whole sample.
 * @param at offset of the record's header; `end` just after the record
 * @param layout that of the sample's event
 * @param hasStackTables whether samples may have ids instead of callchains (hiperf)
 * @returns what is wrong, as the end of a sentence, if its fields do not fit
 */
export function readSample(view: ByteView, at: number, end: number, layout: SampleLayout, misc: number, hasStackTables = false): Sample | string {
  // The layout may have no callchain: then this is that of an earlier sample.
  offsets.callchain = -1;
  const problem = layout.locate(view, at + RECORD_HEADER_BYTES, end, offsets);
  if (problem !== undefined) return problem;
  const { attr } = layout;
  const sample: { -readonly [Name in keyof Sample]: Sample[Name] } = { cpumode: misc & abi.PERF_RECORD_MISC_CPUMODE_MASK };
  const has = (field: SampleFieldName): boolean => layout.has(field);
  const word = (field: SampleFieldName): bigint => view.big(offsets[field]);
  if (has('identifier')) sample.identifier = word('identifier');
  if (has('ip')) sample.ip = word('ip');
  if (has('tid')) {
    sample.pid = view.i32(offsets.tid);
    sample.tid = view.i32(offsets.tid + 4);
  }
  if (has('time')) sample.time = word('time');
  if (has('addr')) sample.addr = word('addr');
  if (has('id')) sample.id = word('id');
  if (has('streamId')) sample.streamId = word('streamId');
  if (has('cpu')) sample.cpu = view.i32(offsets.cpu);
  if (has('period')) sample.period = word('period');
  if (has('read')) sample.read = readFormatValues(attr.readFormat, view, offsets.read);
  if (has('callchain')) sample.callchain = words(view, offsets.callchainIps, offsets.callchainCount);
  if (has('raw')) sample.raw = view.bytes.slice(offsets.raw + 4, offsets.raw + 4 + view.u32(offsets.raw));
  if (has('branchStack')) sample.branchStack = readBranchStack(view, offsets.branchStack, offsets.branchEntries, attr.branchSampleType);
  if (has('regsUser')) sample.userRegs = readRegs(view, offsets.regsUser, layout.regsUserCount);
  if (has('serverPids')) sample.serverPids = words(view, offsets.serverPids + 8, view.u64(offsets.serverPids));
  if (has('stackUser')) sample.userStack = readUserStack(view, offsets.stackUser);
  if (has('weight')) readWeight(view, offsets.weight, attr.sampleType, sample);
  if (has('dataSrc')) sample.dataSrc = word('dataSrc');
  if (has('transaction')) sample.transaction = word('transaction');
  if (has('regsIntr')) sample.intrRegs = readRegs(view, offsets.regsIntr, layout.regsIntrCount);
  if (has('physAddr')) sample.physAddr = word('physAddr');
  if (has('cgroup')) sample.cgroup = word('cgroup');
  if (has('dataPageSize')) sample.dataPageSize = word('dataPageSize');
  if (has('codePageSize')) sample.codePageSize = word('codePageSize');
  if (has('aux')) sample.aux = view.bytes.slice(offsets.aux + 8, offsets.aux + 8 + view.u64(offsets.aux));
  const surplus = end - offsets.end;
  if (hasStackTables && endsWithStackId(offsets, end)) sample.stackId = view.big(offsets.end);
  else if (surplus > layout.slackBytes) sample.surplusBytes = surplus;
  return sample;
}

function words(view: ByteView, at: number, count: number): bigint[] {
  const list: bigint[] = [];
  for (let i = 0; i < count; i++) list.push(view.big(at + i * 8));
  return list;
}

/** Reads the branch stack whose first word is at `at`, and whose entries begin at `first`. */
function readBranchStack(view: ByteView, at: number, first: number, branchSampleType: number): BranchStack {
  const count = view.u64(at);
  const counters = (branchSampleType & abi.PERF_SAMPLE_BRANCH_COUNTERS) === 0 ? -1 : first + count * BRANCH_ENTRY_BYTES;
  const entries = Array.from({ length: count }, (_, i): BranchEntry => {
    const entry = first + i * BRANCH_ENTRY_BYTES;
    return {
      from: view.big(entry),
      to: view.big(entry + 8),
      ...readBranchFlags(view, entry + 16),
      ...(counters >= 0 && { counters: view.big(counters + i * 8) }),
    };
  });
  return { ...(first > at + 8 && { hwIdx: view.big(at + 8) }), entries };
}

function readRegs(view: ByteView, at: number, count: number): SampledRegs {
  const abi = view.big(at);
  return { abi, regs: words(view, at + 8, abi === 0n ? 0 : count) };
}

function readUserStack(view: ByteView, at: number): UserStack {
  const size = view.u64(at);
  if (size === 0) return { size, dynSize: 0, bytes: new Uint8Array(0) };
  const dynSize = view.u64(at + 8 + size);
  return { size, dynSize, bytes: view.bytes.slice(at + 8, at + 8 + Math.min(size, dynSize)) };
}

/** Both kinds are one u64; the parts of the struct are its bits, whatever the byte order. */
function readWeight(view: ByteView, at: number, sampleType: number, target: { weight?: bigint; weightStruct?: WeightStruct }): void {
  if ((sampleType & abi.PERF_SAMPLE_WEIGHT_STRUCT) === 0) target.weight = view.big(at);
  else target.weightStruct = { var1: view.lo(at), var2: view.hi(at) & 0xffff, var3: view.hi(at) >>> 16 };
}
