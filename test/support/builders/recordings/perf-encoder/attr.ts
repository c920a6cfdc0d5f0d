import type { ByteWriter } from './byte-writer.ts';

// Facts of perf_event.h (UAPI), repeated here: the encoder shares no table with the decoder.

/** PERF_SAMPLE_*: bit numbers of `sample_type`. */
export const sampleBits = {
  ip: 0,
  tid: 1,
  time: 2,
  addr: 3,
  read: 4,
  callchain: 5,
  id: 6,
  cpu: 7,
  period: 8,
  streamId: 9,
  raw: 10,
  branchStack: 11,
  regsUser: 12,
  stackUser: 13,
  weight: 14,
  dataSrc: 15,
  identifier: 16,
  transaction: 17,
  regsIntr: 18,
  physAddr: 19,
  aux: 20,
  cgroup: 21,
  dataPageSize: 22,
  codePageSize: 23,
  weightStruct: 24,
} as const;
/** The one that hiperf sets on HarmonyOS's own kernel; perf_event.h does not have it. */
export const hiperfSampleBits = { serverPids: 31 } as const;
const allSampleBits = { ...sampleBits, ...hiperfSampleBits } as const;
export type SampleBit = keyof typeof allSampleBits;

/** PERF_FORMAT_*: bit numbers of `read_format`. */
export const readFormatBits = { timeEnabled: 0, timeRunning: 1, id: 2, group: 3, lost: 4 } as const;
export type ReadFormatBit = keyof typeof readFormatBits;

/** The bit-fields of perf_event_attr in declaration order: one bit each, except precise_ip. */
const flagFields = [
  'disabled',
  'inherit',
  'pinned',
  'exclusive',
  'excludeUser',
  'excludeKernel',
  'excludeHv',
  'excludeIdle',
  'mmap',
  'comm',
  'freq',
  'inheritStat',
  'enableOnExec',
  'task',
  'watermark',
  'preciseIp',
  'mmapData',
  'sampleIdAll',
  'excludeHost',
  'excludeGuest',
  'excludeCallchainKernel',
  'excludeCallchainUser',
  'mmap2',
  'commExec',
  'useClockid',
  'contextSwitch',
  'writeBackward',
  'namespaces',
  'ksymbol',
  'bpfEvent',
  'auxOutput',
  'cgroup',
  'textPoke',
  'buildId',
  'inheritThread',
  'removeOnExec',
  'sigtrap',
  'deferCallchain',
  'deferOutput',
] as const;
export type AttrFlag = Exclude<(typeof flagFields)[number], 'preciseIp'>;

/** Bit-fields of the u32 `aux_action`, in declaration order. */
const auxActions = ['startPaused', 'pause', 'resume'] as const;
export type AuxAction = (typeof auxActions)[number];

/** PERF_TYPE_*. */
export const eventType = { hardware: 0, software: 1, tracepoint: 2, hwCache: 3, raw: 4, breakpoint: 5 } as const;
/** PERF_COUNT_SW_*. */
export const softwareEvent = { cpuClock: 0, taskClock: 1, pageFaults: 2, contextSwitches: 3, dummy: 9 } as const;

/** An event as a test writes it. Absent numbers are 0, absent flags are clear. */
export interface AttrSpec {
  readonly type?: number;
  readonly config?: bigint;
  /** Fixed period; excludes `freq`. */
  readonly period?: bigint;
  /** Samples per second: sets the `freq` flag and the word that it shares with the period. */
  readonly freq?: bigint;
  readonly sampleType: readonly SampleBit[];
  readonly readFormat?: readonly ReadFormatBit[];
  readonly flags?: readonly AttrFlag[];
  readonly preciseIp?: 0 | 1 | 2 | 3;
  readonly wakeupEvents?: number;
  readonly bpType?: number;
  readonly config1?: bigint;
  readonly config2?: bigint;
  /** PERF_SAMPLE_BRANCH_* word; {@link branchHwIndex} and {@link branchCounters} change the sample. */
  readonly branchSampleType?: bigint;
  readonly sampleRegsUser?: bigint;
  readonly sampleStackUser?: number;
  readonly clockid?: number;
  readonly sampleRegsIntr?: bigint;
  readonly auxWatermark?: number;
  readonly sampleMaxStack?: number;
  readonly auxSampleSize?: number;
  readonly auxAction?: readonly AuxAction[];
  readonly sigData?: bigint;
  /** Extension words after the 128 bytes of perf 6.1: config3 (136 bytes), config4 (144). */
  readonly config3?: bigint;
  readonly config4?: bigint;
  /** The ids that perf_event_open gave this event. */
  readonly ids?: readonly bigint[];
  /** Size of the struct: 64, 72, 80, 96, 104, 112, 120, 128, 136 or 144 bytes. Default 128, or the file's. */
  readonly sizeBytes?: number;
  /** The event's name, for EVENT_DESC and EVENT_UPDATE. */
  readonly name?: string;
}

export const branchHwIndex = 1n << 17n;
export const branchCounters = 1n << 19n;

/** Writes perf_event_attr in `sizeBytes` bytes: fields beyond are cut off, bytes beyond the known fields are zero. */
export function writeAttr(out: ByteWriter, attr: AttrSpec, newWriter: () => ByteWriter, sizeBytes = attr.sizeBytes ?? 128): void {
  if (attr.freq !== undefined && attr.period !== undefined) throw new RangeError('an attr has a period or a frequency');
  const flags = new Set<string>(attr.flags);
  if (attr.freq !== undefined) flags.add('freq');
  const whole = newWriter();
  whole.u32(attr.type ?? eventType.software).u32(sizeBytes);
  whole.u64(attr.config ?? 0n);
  whole.u64(attr.freq ?? attr.period ?? 0n);
  whole.u64(sampleTypeOf(attr));
  whole.u64(readFormatOf(attr));
  whole.bitFields(
    flagFields.map((name) => (name === 'preciseIp' ? { bits: 2, value: BigInt(attr.preciseIp ?? 0) } : { bits: 1, value: flags.has(name) ? 1n : 0n })),
  );
  whole.u32(attr.wakeupEvents ?? 0).u32(attr.bpType ?? 0);
  whole.u64(attr.config1 ?? 0n); // 64 bytes: PERF_ATTR_SIZE_VER0
  whole.u64(attr.config2 ?? 0n);
  whole.u64(attr.branchSampleType ?? 0n);
  whole.u64(attr.sampleRegsUser ?? 0n);
  whole.u32(attr.sampleStackUser ?? 0).u32(attr.clockid ?? 0);
  whole.u64(attr.sampleRegsIntr ?? 0n);
  whole
    .u32(attr.auxWatermark ?? 0)
    .u16(attr.sampleMaxStack ?? 0)
    .u16(0);
  const actionBits = (attr.auxAction ?? []).map((action) => 2 ** (out.byteOrder === 'little' ? auxActions.indexOf(action) : 31 - auxActions.indexOf(action)));
  whole.u32(attr.auxSampleSize ?? 0).u32(actionBits.reduce((word, bit) => word + bit, 0));
  whole.u64(attr.sigData ?? 0n); // 128 bytes: PERF_ATTR_SIZE_VER7
  whole.u64(attr.config3 ?? 0n).u64(attr.config4 ?? 0n);
  const bytes = whole.bytes();
  out.raw(bytes.subarray(0, sizeBytes)).zeros(Math.max(0, sizeBytes - bytes.length));
}

function sampleTypeOf(attr: AttrSpec): bigint {
  return attr.sampleType.reduce((word, name) => word | (1n << BigInt(allSampleBits[name])), 0n);
}

export function readFormatOf(attr: AttrSpec): bigint {
  return (attr.readFormat ?? []).reduce((word, name) => word | (1n << BigInt(readFormatBits[name])), 0n);
}
