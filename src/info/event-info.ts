import { type ExactInteger, exactInteger } from '../base/text/exact-integer.ts';
import { branchSampleNames, readFormatNames, sampleTypeNames } from '../perfdata/abi/attr-names.ts';
import { PERF_TYPE_BREAKPOINT } from '../perfdata/abi/constants.ts';
import type { Features } from '../perfdata/features/features.ts';
import type { PerfEventAttr } from '../perfdata/samples/attr.ts';
import type { SessionResult } from '../session/session.ts';

/**
 * What was asked of the kernel for an event: perf_event_attr field by field, names in camel case. As in `perf evlist -v`, a field whose value is 0 is absent,
 * except for those that are always there.
 */
export interface AttrInfo {
  readonly type: number;
  /** What the type is called: one of the kernel's own types, or a PMU that the recording lists; absent if it does not. */
  readonly typeName?: string | undefined;
  /** Size of the struct as recorded, in bytes. */
  readonly sizeBytes: number;
  /** Hex, like the other masks and configs here. */
  readonly config: string;
  /** Events per sample; absent if a frequency was asked for. */
  readonly samplePeriod?: ExactInteger | undefined;
  /** Samples per second; absent if a period was asked for. */
  readonly sampleFreq?: ExactInteger | undefined;
  /** Names of PERF_SAMPLE_*: what samples carry. */
  readonly sampleType: readonly string[];
  /** Names of PERF_FORMAT_*. */
  readonly readFormat: readonly string[];
  /** Names of the flags that are set; `flag 45` and `aux_action 3` for bits that have none yet. */
  readonly flags: readonly string[];
  readonly preciseIp: number;
  readonly wakeupEvents?: number | undefined;
  /** In bytes, instead of `wakeupEvents`. */
  readonly wakeupWatermark?: number | undefined;
  readonly bpType?: number | undefined;
  readonly bpAddr?: string | undefined;
  readonly bpLen?: string | undefined;
  readonly config1?: string | undefined;
  readonly config2?: string | undefined;
  readonly config3?: string | undefined;
  readonly config4?: string | undefined;
  /** Names of PERF_SAMPLE_BRANCH_*. */
  readonly branchSampleType?: readonly string[] | undefined;
  readonly sampleRegsUser?: string | undefined;
  readonly sampleStackUser?: number | undefined;
  /** Also absent for 0, the wall clock: the flag `use_clockid` says whether there is one. */
  readonly clockid?: number | undefined;
  readonly sampleRegsIntr?: string | undefined;
  readonly auxWatermark?: number | undefined;
  readonly sampleMaxStack?: number | undefined;
  readonly auxSampleSize?: number | undefined;
  readonly sigData?: string | undefined;
}

/** One event of a recording. */
export interface EventInfo {
  readonly name: string;
  /** Ids of the kernel's events that were opened for it, one per CPU or thread; absent if the recording has none. */
  readonly ids?: readonly ExactInteger[] | undefined;
  readonly attr: AttrInfo;
  /** Number of samples, and the sum of their periods. */
  readonly samples: number;
  readonly period: ExactInteger;
}

/** Events that were counted together. */
export interface GroupInfo {
  /** Its own name; absent if it was not given one. */
  readonly name?: string | undefined;
  /** Names of the events; the first one is the leader. */
  readonly events: readonly string[];
}

/** @param totals samples and periods by event */
export function eventInfos(
  { header, features, events }: SessionResult,
  totals: readonly { samples: number; period: number; periodRemainder?: number }[],
): EventInfo[] {
  return events.map(({ attr, name }, i) => {
    const ids = header.attrs[i]?.ids ?? features.eventDesc?.[i]?.ids ?? [];
    const { samples, period, periodRemainder = 0 } = totals[i];
    const exactPeriod = exactInteger(BigInt(period) + BigInt(periodRemainder));
    return { name, ids: ids.length > 0 ? ids.map(exactInteger) : undefined, attr: attrInfo(attr, features), samples, period: exactPeriod };
  });
}

/** @param events all events of the recording, in its order */
export function groupInfos({ groupDesc }: Features, events: readonly { readonly name: string }[]): GroupInfo[] | undefined {
  return groupDesc?.map(({ name, leaderIndex, memberCount }) => ({
    name: name === ANONYMOUS_GROUP ? undefined : name,
    events: events.slice(leaderIndex, leaderIndex + memberCount).map((event) => event.name),
  }));
}

/** What perf writes for a group without a name. */
const ANONYMOUS_GROUP = '{anon_group}';

/** `flag 45` for each set bit. */
function bitNames(word: bigint, what: string): string[] {
  const names: string[] = [];
  for (let bit = 0, rest = word; rest > 0n; bit++, rest >>= 1n) if ((rest & 1n) === 1n) names.push(`${what} ${bit}`);
  return names;
}

/** The kernel's own types, PERF_TYPE_*. */
const TYPE_NAMES = ['hardware', 'software', 'tracepoint', 'hw-cache', 'raw', 'breakpoint'];

function attrInfo(attr: PerfEventAttr, { pmuMappings, hiperf }: Features): AttrInfo {
  const { flags } = attr;
  const isBreakpoint = attr.type === PERF_TYPE_BREAKPOINT;
  const isFreq = flags.has('freq');
  const config1 = hexUnless0(attr.config1);
  const config2 = hexUnless0(attr.config2);
  return {
    type: attr.type,
    typeName: TYPE_NAMES[attr.type] ?? pmuMappings?.find(({ type }) => type === attr.type)?.name,
    sizeBytes: attr.sizeBytes,
    config: hex(attr.config),
    samplePeriod: isFreq ? undefined : exactInteger(attr.samplePeriod),
    sampleFreq: isFreq ? exactInteger(attr.sampleFreq) : undefined,
    sampleType: sampleTypeNames(attr.sampleType, hiperf !== undefined),
    readFormat: readFormatNames(attr.readFormat),
    flags: [...flags, ...bitNames(attr.unnamedFlags, 'flag'), ...bitNames(BigInt(attr.unnamedAuxActions), 'aux_action')],
    preciseIp: attr.preciseIp,
    wakeupEvents: flags.has('watermark') ? undefined : unless0(attr.wakeupEvents),
    wakeupWatermark: flags.has('watermark') ? unless0(attr.wakeupEvents) : undefined,
    bpType: unless0(attr.bpType),
    bpAddr: isBreakpoint ? config1 : undefined,
    bpLen: isBreakpoint ? config2 : undefined,
    config1: isBreakpoint ? undefined : config1,
    config2: isBreakpoint ? undefined : config2,
    config3: hexUnless0(attr.config3),
    config4: hexUnless0(attr.config4),
    branchSampleType: attr.branchSampleType === 0 ? undefined : branchSampleNames(attr.branchSampleType),
    sampleRegsUser: hexUnless0(attr.sampleRegsUser),
    sampleStackUser: unless0(attr.sampleStackUser),
    clockid: unless0(attr.clockid),
    sampleRegsIntr: hexUnless0(attr.sampleRegsIntr),
    auxWatermark: unless0(attr.auxWatermark),
    sampleMaxStack: unless0(attr.sampleMaxStack),
    auxSampleSize: unless0(attr.auxSampleSize),
    sigData: hexUnless0(attr.sigData),
  };
}

function hex(word: bigint): string {
  return `0x${word.toString(16)}`;
}

function hexUnless0(word: bigint): string | undefined {
  return word === 0n ? undefined : hex(word);
}

function unless0(number: number): number | undefined {
  return number === 0 ? undefined : number;
}
