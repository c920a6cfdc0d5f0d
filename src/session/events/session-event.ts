import * as abi from '../../perfdata/abi/constants.ts';
import { isClockEvent, isDummyEvent, type PerfEventAttr } from '../../perfdata/samples/attr.ts';
import { compileSampleId, type SampleIdLayout } from '../../perfdata/samples/sample-id.ts';
import { SampleLayout } from '../../perfdata/samples/sample-layout.ts';
import { OFF_CPU_PREFIX } from '../../profile/names.ts';
import { AARCH64_LR_BIT } from './stack-machine.ts';

/** One event of the recording, ready to decode its samples. */
export interface SessionEvent {
  readonly attr: PerfEventAttr;
  readonly layout: SampleLayout;
  readonly sampleId: SampleIdLayout;
  /** As perf prints it. */
  name: string;
  /** The period of samples that carry none: the one that was asked for; 1 if a frequency was. */
  readonly fixedPeriod: number;
  readonly isClock: boolean;
  readonly isDummy: boolean;
  /** Whether the user part of stacks was recorded as branches (`--call-graph lbr`). */
  readonly hasBranchCallStacks: boolean;
  /** Whether the user part of callchains comes in separate records (`defer_callchain`). */
  readonly hasDeferredCallchains: boolean;
  /** Whether its samples have arm64's link register besides their callchains, and no stack: see LeafCallers. */
  readonly hasLinkRegisters: boolean;
  /** Whether its samples are page faults: then their addresses (PERF_SAMPLE_ADDR) are places in the process, which perf names, too. */
  readonly isPageFault: boolean;
  /** Whether a copy of the user stack was recorded with any of its samples. */
  hasStackDumps: boolean;
  /** Whether its samples' periods are times that a thread was off the CPU, in nanoseconds. */
  isOffCpuTime: boolean;
  /** Whether its samples are made from a hardware trace: they are no records, and have no callers. */
  readonly isOfTrace: boolean;
  /** What is read from its samples beyond their fields; `unknown` until its first sample, by which time its name is known. */
  payload: PayloadUse;
}

/**
 * - `none`: nothing
 * - `off-cpu`: a sample of `perf record --off-cpu`, in the payload
 * - `sched_switch`, `context-switches`: that a thread leaves its CPU
 */
export type PayloadUse = 'unknown' | 'none' | 'off-cpu' | 'sched_switch' | 'context-switches';

/** Whether samples of an event are taken when threads leave a CPU. */
export function isSampledAtSwitches({ payload }: SessionEvent): boolean {
  return payload === 'sched_switch' || payload === 'context-switches';
}

/** How a thread waited off the CPU, according to switches. Of one that was not preempted, a SWITCH record says no more than `waiting`. */
export type OffCpuState = 'sleeping' | 'blocked' | 'preempted' | 'waiting';

const PAGE_FAULTS: ReadonlySet<number> = new Set([abi.PERF_COUNT_SW_PAGE_FAULTS, abi.PERF_COUNT_SW_PAGE_FAULTS_MIN, abi.PERF_COUNT_SW_PAGE_FAULTS_MAJ]);

/**
 * An event that was recorded, of which nothing is known yet but its attr.
 * @param isHiperf whether hiperf recorded it
 */
export function recordedEvent(attr: PerfEventAttr, name: string, isHiperf: boolean): SessionEvent {
  return {
    attr,
    layout: new SampleLayout(attr, isHiperf),
    sampleId: compileSampleId(attr),
    name,
    fixedPeriod: attr.samplePeriod > 0n ? Number(attr.samplePeriod) : 1,
    isClock: isClockEvent(attr),
    isDummy: isDummyEvent(attr),
    hasBranchCallStacks: hasBranchCallStacks(attr),
    hasDeferredCallchains: attr.flags.has('defer_callchain'),
    hasLinkRegisters: hasLinkRegisters(attr),
    isPageFault: attr.type === abi.PERF_TYPE_SOFTWARE && PAGE_FAULTS.has(Number(attr.config)),
    hasStackDumps: false,
    isOffCpuTime: false,
    isOfTrace: false,
    payload: 'unknown',
  };
}

/**
 * An event of times off the CPU that follow from switches, as if perf had recorded it.
 * @param state how the threads waited
 * @param events all that were recorded, at least one
 */
export function offCpuEvent(state: OffCpuState, events: readonly SessionEvent[]): SessionEvent {
  const [{ attr: first, sampleId }] = events;
  const sources = events.filter(isSampledAtSwitches);
  const sampleType = abi.PERF_SAMPLE_IP | abi.PERF_SAMPLE_TID | abi.PERF_SAMPLE_TIME | abi.PERF_SAMPLE_CPU | abi.PERF_SAMPLE_PERIOD;
  const attr: PerfEventAttr = {
    ...first,
    type: abi.PERF_TYPE_SOFTWARE,
    config: BigInt(abi.PERF_COUNT_SW_CONTEXT_SWITCHES),
    sampleType: sources.some(({ layout }) => layout.hasCallchain) ? sampleType | abi.PERF_SAMPLE_CALLCHAIN : sampleType,
    samplePeriod: 0n,
    sampleFreq: 0n,
  };
  return {
    attr,
    layout: new SampleLayout(attr),
    sampleId,
    name: OFF_CPU_PREFIX + state,
    fixedPeriod: 1,
    isClock: false,
    isDummy: false,
    hasBranchCallStacks: sources.some((event) => event.hasBranchCallStacks),
    hasDeferredCallchains: false,
    hasLinkRegisters: false,
    isPageFault: false,
    hasStackDumps: sources.some((event) => event.hasStackDumps),
    isOffCpuTime: true,
    isOfTrace: false,
    payload: 'none',
  };
}

function hasBranchCallStacks({ sampleType, branchSampleType }: PerfEventAttr): boolean {
  return (sampleType & abi.PERF_SAMPLE_BRANCH_STACK) !== 0 && Math.floor(branchSampleType / abi.PERF_SAMPLE_BRANCH_CALL_STACK) % 2 === 1;
}

function hasLinkRegisters({ sampleType, sampleRegsUser }: PerfEventAttr): boolean {
  const has = (field: number): boolean => (sampleType & field) !== 0;
  if (!has(abi.PERF_SAMPLE_CALLCHAIN) || !has(abi.PERF_SAMPLE_REGS_USER) || has(abi.PERF_SAMPLE_STACK_USER)) return false;
  return ((sampleRegsUser >> BigInt(AARCH64_LR_BIT)) & 1n) === 1n;
}
