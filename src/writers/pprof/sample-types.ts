import type { Profile } from '../../profile/profile.ts';
import { findMostSampledEvent } from '../primary-event.ts';

/** What one column of values measures (profile.proto, ValueType). */
export interface SampleType {
  readonly type: string;
  readonly unit: 'count' | 'nanoseconds';
}

/** The columns of a pprof profile: for each event with samples, its number of samples and then its weight. */
export interface SampleTypes {
  /** Even indexes count samples, odd ones add up periods. Names differ from one another. */
  readonly columns: readonly SampleType[];
  /** Index of each event's count column, −1 for an event without samples; its weight is the next one. */
  readonly countColumn: Int32Array;
  /** The event whose columns come under the names that tools look for. */
  readonly primaryEvent: number;
}

/**
 * Names the columns. The primary event has `samples/count` and `cpu/nanoseconds` (clock events) or `EVENT/count`: what
 * pprof users and Go's profile-guided optimization look for. Every further event has `EVENT_samples/count` and
 * `EVENT/nanoseconds` or `EVENT/count`. An event whose name is taken is called `EVENT#2`, `EVENT#3` …
 */
export function planSampleTypes(profile: Profile): SampleTypes {
  const primaryEvent = findMostSampledEvent(profile);
  const taken = new Set(['', 'samples']);
  const countColumn = new Int32Array(profile.events.length).fill(-1);
  const columns: SampleType[] = [];

  const plan = (index: number): void => {
    const event = profile.events[index];
    const isPrimary = index === primaryEvent;
    const wanted = isPrimary && event.unit === 'nanoseconds' ? 'cpu' : event.name;
    let type = wanted;
    for (let nth = 2; taken.has(type) || (!isPrimary && taken.has(`${type}_samples`)); nth++) type = `${wanted}#${nth}`;
    const countType = isPrimary ? 'samples' : `${type}_samples`;
    taken.add(type).add(countType);
    countColumn[index] = columns.length;
    columns.push({ type: countType, unit: 'count' }, { type, unit: event.unit });
  };

  // The primary goes first, so that it is never the one to be renamed, and so that readers which take index 0 for the
  // number of samples (profile.proto asks for that) find it.
  if (primaryEvent >= 0) plan(primaryEvent);
  profile.events.forEach((event, index) => {
    if (event.samples > 0 && index !== primaryEvent) plan(index);
  });
  return { columns, countColumn, primaryEvent };
}

/**
 * Events from one sample to the next as asked for, in the primary weight's unit (profile.proto, Profile.period): the
 * sample period, or what a clock's frequency comes to. 0 where the distance varied (a frequency of anything but a clock).
 */
export function samplePeriod(profile: Profile, event: number): number {
  const { samplePeriod: period, sampleFreq, unit } = profile.events[event];
  if (period > 0) return period;
  return unit === 'nanoseconds' && sampleFreq > 0 ? Math.round(1e9 / sampleFreq) : 0;
}
