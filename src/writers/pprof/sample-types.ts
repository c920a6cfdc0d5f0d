import type { Profile } from '../../profile/profile.ts';
import { findMostSampledEvent } from '../primary-event.ts';

/** What one column of values measures (profile.proto, ValueType). */
export interface SampleType {
  readonly type: string;
  readonly unit: 'count' | 'nanoseconds';
}

/** The columns of values in a pprof profile: for each event with samples its number of samples, then its weight. */
export interface SampleTypes {
  /** Columns with even indexes count samples, those with odd ones add up periods. All names are different. */
  readonly columns: readonly SampleType[];
  /** By event: index of its count column, which its weight follows; −1 for an event without samples. */
  readonly countColumn: Int32Array;
  /** The event whose columns have the names that tools look for; −1 when no event has samples. */
  readonly primaryEvent: number;
}

/**
 * Names the columns. The primary event, the one with the most samples, has `samples/count`, and `cpu/nanoseconds` (for a clock) or `EVENT/count`: the names
 * that pprof users and Go's profile-guided optimization look for. Every other event has `EVENT_samples/count`, and `EVENT/nanoseconds` or `EVENT/count`. If a
 * name is already taken, the event becomes `EVENT#2`, `EVENT#3` …
 */
export function planSampleTypes(profile: Profile): SampleTypes {
  const primaryEvent = findMostSampledEvent(profile);
  const taken = new Set(['', 'samples']);
  const countColumn = new Int32Array(profile.events.length).fill(-1);
  const columns: SampleType[] = [];

  const plan = (index: number): void => {
    const event = profile.events[index];
    const isPrimary = index === primaryEvent;
    const wanted = isPrimary && event.unit === 'nanoseconds' && !event.isOffCpuTime ? 'cpu' : event.name;
    let type = wanted;
    for (let nth = 2; taken.has(type) || (!isPrimary && taken.has(`${type}_samples`)); nth++) type = `${wanted}#${nth}`;
    const countType = isPrimary ? 'samples' : `${type}_samples`;
    taken.add(type).add(countType);
    countColumn[index] = columns.length;
    columns.push({ type: countType, unit: 'count' }, { type, unit: event.unit });
  };

  // The primary event comes first, so that it is never renamed, and so that index 0 is its number of samples, as
  // profile.proto recommends.
  if (primaryEvent >= 0) plan(primaryEvent);
  profile.events.forEach((event, index) => {
    if (event.samples > 0 && index !== primaryEvent) plan(index);
  });
  return { columns, countColumn, primaryEvent };
}

/**
 * The requested distance between samples, in the unit of the primary event's weight (profile.proto, Profile.period): the sample period, or the interval of a
 * clock with a frequency. 0 if it varied, as for a counter with a frequency.
 */
export function samplePeriod(profile: Profile, event: number): number {
  const { samplePeriod: period, sampleFreq, unit } = profile.events[event];
  if (period > 0) return period;
  return unit === 'nanoseconds' && sampleFreq > 0 ? Math.round(1e9 / sampleFreq) : 0;
}
