import type { ByteView } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_DUMMY, PERF_COUNT_SW_TASK_CLOCK, PERF_SAMPLE_STACK_USER, PERF_TYPE_SOFTWARE } from '../abi/constants.ts';

/** Size of the first published struct (PERF_ATTR_SIZE_VER0): no attr can be smaller. */
export const PERF_ATTR_SIZE_VER0 = 64;

/** One bit each of the flag word after `read_format`, in its order (perf_event.h, struct perf_event_attr). Only `precise_ip` has two bits. */
const FLAG_FIELDS = [
  'disabled',
  'inherit',
  'pinned',
  'exclusive',
  'exclude_user',
  'exclude_kernel',
  'exclude_hv',
  'exclude_idle',
  'mmap',
  'comm',
  'freq',
  'inherit_stat',
  'enable_on_exec',
  'task',
  'watermark',
  'precise_ip',
  'precise_ip_high',
  'mmap_data',
  'sample_id_all',
  'exclude_host',
  'exclude_guest',
  'exclude_callchain_kernel',
  'exclude_callchain_user',
  'mmap2',
  'comm_exec',
  'use_clockid',
  'context_switch',
  'write_backward',
  'namespaces',
  'ksymbol',
  'bpf_event',
  'aux_output',
  'cgroup',
  'text_poke',
  'build_id',
  'inherit_thread',
  'remove_on_exec',
  'sigtrap',
  'defer_callchain',
  'defer_output',
] as const;

/** The same for the word `aux_action`. */
const AUX_ACTION_FIELDS = ['aux_start_paused', 'aux_pause', 'aux_resume'] as const;

export type AttrFlag = Exclude<(typeof FLAG_FIELDS)[number], 'precise_ip' | 'precise_ip_high'> | (typeof AUX_ACTION_FIELDS)[number];

/**
 * What was asked of the kernel for one event: struct perf_event_attr, fields under its names in camel case. Fields that are beyond the end of the recording's
 * struct are 0.
 */
export interface PerfEventAttr {
  readonly type: number;
  /** Size of the struct as recorded, in bytes. */
  readonly sizeBytes: number;
  readonly config: bigint;
  /** Events per sample; 0 when `freq` is set (the two share one word). */
  readonly samplePeriod: bigint;
  /** Samples per second; 0 when `freq` is not set. */
  readonly sampleFreq: bigint;
  /** PERF_SAMPLE_* bits. */
  readonly sampleType: number;
  /** PERF_FORMAT_* bits. */
  readonly readFormat: number;
  readonly flags: ReadonlySet<AttrFlag>;
  /** Flags that have no name yet: bit i for the one that is i-th in C, whatever the byte order. */
  readonly unnamedFlags: bigint;
  /** The same for the word `aux_action`. */
  readonly unnamedAuxActions: number;
  readonly preciseIp: number;
  /** Samples before the reader is woken; bytes if the flag `watermark` is set. */
  readonly wakeupEvents: number;
  /** HW_BREAKPOINT_* bits of a breakpoint. */
  readonly bpType: number;
  /** The address of a breakpoint; else more of what `config` says. */
  readonly config1: bigint;
  /** The length of a breakpoint; else as `config1`. */
  readonly config2: bigint;
  readonly branchSampleType: number;
  /** Masks of the registers in a sample. */
  readonly sampleRegsUser: bigint;
  readonly sampleRegsIntr: bigint;
  readonly sampleStackUser: number;
  /** Clock of the times, if the flag `use_clockid` is set (clock_gettime). */
  readonly clockid: number;
  readonly auxWatermark: number;
  readonly sampleMaxStack: number;
  readonly auxSampleSize: number;
  readonly sigData: bigint;
  readonly config3: bigint;
  readonly config4: bigint;
}

/** An attr with the ids of the kernel events that were opened for it (one per CPU or thread). */
export interface AttrWithIds {
  readonly attr: PerfEventAttr;
  readonly ids: readonly bigint[];
}

/** Event ids from `at` up to `end`. */
export function readIds(view: ByteView, at: number, end: number): bigint[] {
  const ids: bigint[] = [];
  for (let offset = at; offset + 8 <= end; offset += 8) ids.push(view.big(offset));
  return ids;
}

/**
 * Reads a perf_event_attr at `offset`.
 * @param sizeBytes how many bytes may be read: missing ones count as zero, bytes after the known fields are not looked at
 * @throws PerfconvError `damaged` if these are fewer bytes than any version of the struct has
 */
export function readAttr(view: ByteView, offset: number, sizeBytes: number, fileOffset: number): PerfEventAttr {
  if (sizeBytes < PERF_ATTR_SIZE_VER0) {
    throw new PerfconvError('damaged', `${sizeBytes} bytes are too few for an attr`, { offset: fileOffset, record: 'perf_event_attr' });
  }
  const ownSize = view.u32(offset + 4);
  // Old writers leave the field 0: then the stride in the file is the size.
  const size = ownSize === 0 ? sizeBytes : Math.min(ownSize, sizeBytes);
  const u32At = (at: number): number => (at + 4 <= size ? view.u32(offset + at) : 0);
  const u64At = (at: number): number => (at + 8 <= size ? view.u64(offset + at) : 0);
  const bigAt = (at: number): bigint => (at + 8 <= size ? view.big(offset + at) : 0n);

  const { flags, preciseIp, unnamedFlags } = readFlags(view, offset + 40);
  let unnamedAuxActions = 0;
  for (const bit of size >= 120 ? setBits(view, offset + 116, 1) : []) {
    if (bit < AUX_ACTION_FIELDS.length) flags.add(AUX_ACTION_FIELDS[bit]);
    else unnamedAuxActions += 2 ** bit;
  }
  const periodOrFreq = view.big(offset + 16);
  return {
    type: view.u32(offset),
    sizeBytes: ownSize,
    config: view.big(offset + 8),
    samplePeriod: flags.has('freq') ? 0n : periodOrFreq,
    sampleFreq: flags.has('freq') ? periodOrFreq : 0n,
    sampleType: view.lo(offset + 24),
    readFormat: view.lo(offset + 32),
    flags,
    unnamedFlags,
    unnamedAuxActions,
    preciseIp,
    wakeupEvents: view.u32(offset + 48),
    bpType: view.u32(offset + 52),
    config1: bigAt(56),
    config2: bigAt(64),
    branchSampleType: u64At(72),
    sampleRegsUser: bigAt(80),
    sampleStackUser: u32At(88),
    clockid: u32At(92) | 0,
    sampleRegsIntr: bigAt(96),
    auxWatermark: u32At(104),
    sampleMaxStack: size >= 110 ? view.u16(offset + 108) : 0,
    auxSampleSize: u32At(112),
    sigData: bigAt(120),
    config3: bigAt(128),
    config4: bigAt(136),
  };
}

function readFlags(view: ByteView, offset: number): { flags: Set<AttrFlag>; preciseIp: number; unnamedFlags: bigint } {
  const flags = new Set<AttrFlag>();
  let preciseIp = 0;
  let unnamedFlags = 0n;
  for (const bit of setBits(view, offset, 2)) {
    const name = FLAG_FIELDS.at(bit);
    if (name === undefined) unnamedFlags |= 1n << BigInt(bit);
    else if (name === 'precise_ip') preciseIp |= view.littleEndian ? 1 : 2;
    else if (name === 'precise_ip_high') preciseIp |= view.littleEndian ? 2 : 1;
    else flags.add(name);
  }
  return { flags, preciseIp, unnamedFlags };
}

/**
 * Which bits of a C bit field are set, counted as in C: little-endian compilers assign bits from the low end, big-endian ones from the high end.
 * @param words of 32 bits
 */
function setBits(view: ByteView, offset: number, words: number): number[] {
  const bits: number[] = [];
  for (let bit = 0; bit < 32 * words; bit++) {
    const place = view.littleEndian ? bit % 32 : 31 - (bit % 32);
    if (((view.u32(offset + 4 * (bit >>> 5)) >>> place) & 1) === 1) bits.push(bit);
  }
  return bits;
}

/** Whether a period of this event counts nanoseconds: cpu-clock and task-clock. */
export function isClockEvent(attr: PerfEventAttr): boolean {
  return attr.type === PERF_TYPE_SOFTWARE && (attr.config === BigInt(PERF_COUNT_SW_CPU_CLOCK) || attr.config === BigInt(PERF_COUNT_SW_TASK_CLOCK));
}

/** Whether this is perf's dummy event, opened only for side-band records. */
export function isDummyEvent(attr: PerfEventAttr): boolean {
  return attr.type === PERF_TYPE_SOFTWARE && attr.config === BigInt(PERF_COUNT_SW_DUMMY);
}

/** Whether any of the events copies the stack with each sample, so that stacks can be unwound (`--call-graph dwarf`). */
export function dumpStacks(events: readonly { readonly attr: PerfEventAttr }[]): boolean {
  return events.some(({ attr }) => (attr.sampleType & PERF_SAMPLE_STACK_USER) !== 0);
}
