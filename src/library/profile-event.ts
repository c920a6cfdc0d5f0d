import type { ProfileEvent as EventInTables } from '../profile/profile.ts';

/** An event of a profile. */
export interface ProfileEvent {
  /** As perf prints it: `cpu-clock`, `cycles:u`, `sched:sched_switch`. */
  readonly name: string;
  /** What a period counts. */
  readonly unit: 'nanoseconds' | 'count';
  /** Samples in the profile. */
  readonly samples: number;
  /** Sum of their periods; beyond 2^53 the nearest number. */
  readonly period: number;
  /** Events per sample as asked for; 0 when a frequency was asked for instead. */
  readonly samplePeriod: number;
  /** Samples per second as asked for; 0 when a period was. */
  readonly sampleFreq: number;
  /** Whether it is a tracepoint, such as `sched:sched_switch`. */
  readonly isTracepoint: boolean;
  /** Whether its stacks were recorded (`-g`); otherwise each stack is the sampled address alone. */
  readonly hasCallchain: boolean;
}

/** What is public of an event. */
export function shownEvent(event: EventInTables): ProfileEvent {
  const { name, unit, samples, period, samplePeriod, sampleFreq, isTracepoint, hasCallchain } = event;
  return { name, unit, samples, period, samplePeriod, sampleFreq, isTracepoint, hasCallchain };
}
