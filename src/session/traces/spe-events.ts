import * as abi from '../../perfdata/abi/constants.ts';
import type { PerfEventAttr } from '../../perfdata/samples/attr.ts';
import { SampleLayout } from '../../perfdata/samples/sample-layout.ts';
import {
  CLASS_MEMORY,
  EVENT_L1D_ACCESS,
  EVENT_L1D_REFILL,
  EVENT_LLC_ACCESS,
  EVENT_LLC_MISS,
  EVENT_MISPREDICTED,
  EVENT_REMOTE_ACCESS,
  EVENT_TLB_ACCESS,
  EVENT_TLB_WALK,
  type SpeOperation,
} from '../../spe/operation.ts';
import type { SessionEvent } from '../events/session-event.ts';

/** An event that operations count for. */
export interface SpeEvent {
  readonly name: string;
  /** Bits of which an operation needs one; 0 if `accepts` decides. */
  readonly events: number;
  readonly accepts?: (operation: SpeOperation) => boolean;
  /** Whether the sample's address is where a branch goes, and not what a load or store is about. */
  readonly isOfBranch?: boolean;
  /** Whether a sample's period is the operation's latency in cycles, and not 1. */
  readonly countsCycles?: boolean;
}

/** The events that perf makes samples of, in its order. Source: observed, perf 6.1. */
export const SPE_EVENTS: readonly SpeEvent[] = [
  { name: 'l1d-miss', events: EVENT_L1D_REFILL },
  { name: 'l1d-access', events: EVENT_L1D_ACCESS },
  { name: 'llc-miss', events: EVENT_LLC_MISS },
  { name: 'llc-access', events: EVENT_LLC_ACCESS },
  { name: 'tlb-miss', events: EVENT_TLB_WALK },
  { name: 'tlb-access', events: EVENT_TLB_ACCESS },
  { name: 'branch-miss', events: EVENT_MISPREDICTED, isOfBranch: true },
  { name: 'remote-access', events: EVENT_REMOTE_ACCESS },
  { name: 'memory', events: 0, accepts: ({ operationClass }) => operationClass === CLASS_MEMORY },
];

/**
 * Further events: each operation once, which perf 6.1 shows only if asked to (`--itrace=i1i`), and each with the cycles that it took as its period, so that
 * profiles show where time goes.
 */
export const OWN_SPE_EVENTS: readonly SpeEvent[] = [
  { name: 'instructions', events: 0, accepts: () => true },
  { name: 'latency', events: 0, accepts: ({ totalLatency }) => totalLatency > 0, countsCycles: true },
];

/** Source: perf_event.h. */
const PERF_COUNT_HW_INSTRUCTIONS = 1n;

const SAMPLE_TYPE =
  abi.PERF_SAMPLE_IP |
  abi.PERF_SAMPLE_TID |
  abi.PERF_SAMPLE_TIME |
  abi.PERF_SAMPLE_ADDR |
  abi.PERF_SAMPLE_CPU |
  abi.PERF_SAMPLE_PERIOD |
  abi.PERF_SAMPLE_WEIGHT |
  abi.PERF_SAMPLE_DATA_SRC |
  abi.PERF_SAMPLE_PHYS_ADDR;

/** An event of samples that are made from a trace, as if perf had recorded them. @param recorded the event that the trace was recorded with */
export function madeEvent({ name }: SpeEvent, { attr: recorded, sampleId }: SessionEvent): SessionEvent {
  const attr: PerfEventAttr = {
    ...recorded,
    type: abi.PERF_TYPE_HARDWARE,
    config: PERF_COUNT_HW_INSTRUCTIONS,
    sampleType: SAMPLE_TYPE,
    samplePeriod: 1n,
    sampleFreq: 0n,
  };
  return {
    attr,
    layout: new SampleLayout(attr),
    sampleId,
    name,
    fixedPeriod: 1,
    isClock: false,
    isDummy: false,
    hasBranchCallStacks: false,
    hasDeferredCallchains: false,
    hasLinkRegisters: false,
    isPageFault: false,
    hasStackDumps: false,
    isOffCpuTime: false,
    isOfTrace: true,
    payload: 'none',
  };
}
