import type { Profile, ProfileEvent } from '../../profile/profile.ts';
import { findTimelineEvent } from '../primary-event.ts';

/**
 * What an event's samples say of the CPU:
 * - `clock`: each period is a time on the CPU (cpu-clock, task-clock)
 * - `frequency`: samples are so many a second while the thread runs, as the kernel sets the period of cycles for that
 * - `none`: how often something happened says nothing about time
 */
export type TimeUse = 'clock' | 'frequency' | 'none';

export function timeUseOf({ name, sampleFreq, unit }: ProfileEvent): TimeUse {
  // Times off the CPU, of simpleperf's recordings, have the name of the tracepoint that is recorded for them.
  if (unit === 'nanoseconds') return /sched[:_]/.test(name) ? 'none' : 'clock';
  return sampleFreq > 0 && /(^|[-/_])cycles\b/.test(name) ? 'frequency' : 'none';
}

const DEFAULT_INTERVAL_NS = 1e6;

/** Nanoseconds between two samples of a thread that keeps running; a millisecond where nothing says. */
export function intervalNsOf(event: ProfileEvent | undefined): number {
  if (event === undefined) return DEFAULT_INTERVAL_NS;
  const { period, sampleFreq, samples, unit } = event;
  const meanPeriod = samples > 0 ? period / samples : 0;
  return (unit === 'nanoseconds' ? meanPeriod : sampleFreq > 0 ? 1e9 / sampleFreq : 0) || DEFAULT_INTERVAL_NS;
}

/** `meta.interval` in nanoseconds: that of the event whose threads come first. */
export function profileIntervalNs(profile: Profile): number {
  return intervalNsOf(profile.events[findTimelineEvent(profile)]);
}
