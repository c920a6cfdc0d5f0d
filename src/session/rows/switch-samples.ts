import type { ByteView } from '../../base/bytes/byte-view.ts';
import * as abi from '../../perfdata/abi/constants.ts';
import type { Features } from '../../perfdata/features/features.ts';
import type { SampleOffsets } from '../../perfdata/samples/sample-layout.ts';
import { SchedSwitchPayloads, type SwitchState } from '../../tracing/sched-switch.ts';
import type { SessionEvent } from '../events/session-event.ts';
import type { ReadSample } from './read-growth.ts';

/** A sample that was taken because a thread leaves its CPU. */
export interface SwitchSample {
  readonly kind: 'switch';
  /** `context-switches` samples say that a thread leaves, and where, but not when one comes back: SWITCH records do. */
  readonly source: 'sched_switch' | 'context-switches';
  /** The thread that leaves, and the one that runs next, by the machine's numbers; −1 if unknown. */
  readonly prevTid: number;
  readonly nextTid: number;
  readonly state: SwitchState;
  /** The values that the sample has read, if it has READ. */
  readonly read: ReadSample | undefined;
}

/** What an event's samples say about switches. */
export type SwitchUse = SwitchSample['source'] | 'none';

const UNKNOWN: Omit<SwitchSample, 'source' | 'read'> = { kind: 'switch', prevTid: -1, nextTid: -1, state: 'unknown' };

/** Reads what samples say about switches. */
export class SwitchSampleReader {
  readonly #features: Features;
  readonly #payloads = new Map<SessionEvent, SchedSwitchPayloads | undefined>();

  /** @param features in a pipe, those that come before the first sample are filled in by then */
  constructor(features: Features) {
    this.#features = features;
  }

  useOf({ attr, name }: SessionEvent): SwitchUse {
    if (attr.type === abi.PERF_TYPE_SOFTWARE) return attr.config === BigInt(abi.PERF_COUNT_SW_CONTEXT_SWITCHES) ? 'context-switches' : 'none';
    if (attr.type !== abi.PERF_TYPE_TRACEPOINT) return 'none';
    const format = this.#features.tracingData?.formats.get(Number(attr.config));
    const isSchedSwitch = format === undefined ? /^sched:sched_switch(?::|$)/.test(name) : format.system === 'sched' && format.name === 'sched_switch';
    return isSchedSwitch ? 'sched_switch' : 'none';
  }

  /**
   * @param offsets where the sample's fields are
   * @param read the values that it has read
   */
  read(event: SessionEvent, source: SwitchSample['source'], view: ByteView, offsets: SampleOffsets, read: ReadSample | undefined): SwitchSample {
    const payloads = source === 'sched_switch' && event.layout.has('raw') ? this.#payloadsOf(event) : undefined;
    if (payloads?.read(view, offsets.raw + 4, view.u32(offsets.raw)) !== true) return { ...UNKNOWN, source, read };
    const { prevTid, nextTid, state } = payloads;
    return { kind: 'switch', source, prevTid, nextTid, state, read };
  }

  #payloadsOf(event: SessionEvent): SchedSwitchPayloads | undefined {
    if (this.#payloads.has(event)) return this.#payloads.get(event);
    const { tracingData } = this.#features;
    const format = tracingData?.formats.get(Number(event.attr.config));
    const payloads = format && tracingData && SchedSwitchPayloads.of(format, tracingData);
    this.#payloads.set(event, payloads);
    return payloads;
  }
}
