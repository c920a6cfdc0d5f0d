import type { Profile, ProfileEvent } from '../../profile/profile.ts';
import { countsCycles, findTimelineEvent } from '../primary-event.ts';
import { DEFAULT_INTERVAL_NS, recordedIntervalNs } from '../sample-interval.ts';

/**
 * What an event's samples tell about CPU time:
 * - `clock`: each period is a time on the CPU (cpu-clock, task-clock)
 * - `frequency`: a fixed number of samples per second while the thread runs, for which the kernel adjusts the period of cycles or instructions
 * - `none`: how often something happened tells nothing about time (tracepoints, page faults, switches)
 * - `unknown`: a fixed number of cycles or misses per sample; how long that takes is not recorded
 */
export type TimeUse = 'clock' | 'frequency' | 'none' | 'unknown';

/** Software events that count occurrences, not time. Source: perf_event.h, perf_sw_ids, and the names that perf list prints. */
const HAPPENINGS = /^(?:[a-z]+-)?(?:faults|switches|migrations)\b|^cs\b|^bpf-output\b|^dummy\b/;

/** `instructions:u`, `cpu_atom/instructions/`; not `branch-instructions`. */
const INSTRUCTIONS = /^(?:[^/:]{1,64}\/)?instructions(?:$|[:/,])/;

export function timeUseOf(event: ProfileEvent): TimeUse {
  const { isOffCpuTime, isTracepoint, name, sampleFreq, unit } = event;
  if (isOffCpuTime) return 'none';
  // In simpleperf's recordings, times off the CPU have the name of the tracepoint that is recorded for them.
  if (unit === 'nanoseconds') return /sched[:_]/.test(name) ? 'none' : 'clock';
  if (isTracepoint || HAPPENINGS.test(name)) return 'none';
  return sampleFreq > 0 && (countsCycles(event) || INSTRUCTIONS.test(name)) ? 'frequency' : 'unknown';
}

/** Whether a thread's samples tell how long it ran. */
export function measuresTime(use: TimeUse): boolean {
  return use === 'clock' || use === 'frequency';
}

/** Nanoseconds between two samples of a thread that keeps running; a millisecond if that is unknown. */
export function intervalNsOf(event: ProfileEvent | undefined): number {
  return (event && recordedIntervalNs(event)) || DEFAULT_INTERVAL_NS;
}

/** `meta.interval` in nanoseconds: that of the event whose threads come first. */
export function profileIntervalNs(profile: Profile): number {
  return intervalNsOf(profile.events[findTimelineEvent(profile)]);
}
