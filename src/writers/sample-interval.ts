import type { ProfileEvent } from '../profile/profile.ts';

/** What is assumed where nothing tells how often samples were taken. */
export const DEFAULT_INTERVAL_NS = 1e6;

/** Mean period of an event's samples; 0 if it has none. */
export function meanPeriod({ period, samples }: ProfileEvent): number {
  return samples > 0 ? period / samples : 0;
}

/** Nanoseconds between two samples of a thread that keeps running; 0 if the event does not tell. */
export function recordedIntervalNs(event: ProfileEvent): number {
  if (event.unit === 'nanoseconds') return meanPeriod(event);
  return event.sampleFreq > 0 ? 1e9 / event.sampleFreq : 0;
}
