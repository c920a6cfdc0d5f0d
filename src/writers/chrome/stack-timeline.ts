import type { Profile } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { countsCycles, findTimelineEvent, waitOf } from '../primary-event.ts';
import type { SampleGroup } from '../sample-groups.ts';
import { DEFAULT_INTERVAL_NS, meanPeriod, recordedIntervalNs } from '../sample-interval.ts';

/** When each sample of a track begins and ends. No two samples overlap. */
export interface PlacedSamples {
  /** By position in the group, ascending; whole microseconds. */
  readonly startUs: Float64Array;
  /** By position in the group; whole microseconds, at least 1 after the start. */
  readonly endUs: Float64Array;
  /** Nanoseconds of a clock's periods for which there was no time left, for example when two CPUs share a track. */
  readonly clippedNs: number;
}

/**
 * How long samples of an event last:
 * - `clock`: as long as their period, which is a time
 * - `waits`: exactly as long as their period, from exactly their time on
 * - `cycles`: about as long, since cycles pass at a steady rate: an estimate
 * - `occurrences`: no time. Each is shown for a microsecond, the shortest possible time
 */
export interface EventScale {
  readonly kind: 'clock' | 'waits' | 'cycles' | 'occurrences';
  /** Nanoseconds between two samples of a thread that keeps running; 0 if that has no meaning. */
  readonly intervalNs: number;
  /** Nanoseconds that one unit of the period stands for; 1 for clocks, 0 for occurrences. */
  readonly nsPerPeriod: number;
}

/** By how many intervals a sample of a clock may be delayed. Beyond that, the sample before it is shortened instead. */
const MAX_DELAY = 4;
/** How many intervals a sample of cycles may last. */
const MAX_STRETCH = 2;
/** A gap shorter than this share of the sample before it is jitter of the timer, and is closed. */
const JITTER = 0.5;
/** How many gaps between samples are looked at to find the median. */
const MEDIAN_SAMPLES = 50_000;

/**
 * Finds the scale of each event. The period of a clock is a time. If no clock was recorded, cycles are shown as time: they are multiplied by a factor such that
 * a sample with the mean period lasts one interval. The interval follows from `sample_freq`; without that it is the median gap between samples of a group.
 * @returns scales by event index
 */
export function eventScales(profile: Profile, samples: SampleTable, groups: readonly SampleGroup[]): EventScale[] {
  const timeline = profile.events[findTimelineEvent(profile)];
  return profile.events.map((event, index) => {
    if (waitOf(event) !== undefined) return { kind: 'waits', intervalNs: 0, nsPerPeriod: 1 };
    const recordedNs = recordedIntervalNs(event);
    if (event.unit === 'nanoseconds') return { kind: 'clock', intervalNs: recordedNs || DEFAULT_INTERVAL_NS, nsPerPeriod: 1 };
    if (timeline?.unit !== 'count' || !countsCycles(event)) return { kind: 'occurrences', intervalNs: 0, nsPerPeriod: 0 };
    const own = groups.filter((group) => group.event === index);
    const intervalNs = recordedNs || medianGap(samples, own);
    const mean = meanPeriod(event);
    return { kind: 'cycles', intervalNs, nsPerPeriod: mean > 0 ? intervalNs / mean : 0 };
  });
}

function medianGap(samples: SampleTable, groups: readonly SampleGroup[]): number {
  const gaps: number[] = [];
  for (const { rows } of groups) {
    for (let i = 1; i < rows.length && gaps.length < MEDIAN_SAMPLES; i++) {
      const gap = samples.timeNs[rows[i]] - samples.timeNs[rows[i - 1]];
      if (gap > 0) gaps.push(gap);
    }
  }
  if (gaps.length === 0) return DEFAULT_INTERVAL_NS;
  return Float64Array.from(gaps).sort()[gaps.length >> 1];
}

/**
 * Places the samples of one track on the time axis. Each begins at its own time and lasts as long as its
 * period says, so that the lengths add up to what perf counts. A thread without samples for a while shows a gap.
 *
 * Jitter of the timer is evened out. A sample that comes a little late is moved to the end of its predecessor. One that
 * comes early waits for that end, except for cycles: there the predecessor is shortened, since its length is only an
 * estimate. A sample without a time directly follows its predecessor.
 *
 * @param rows rows of the sample table, in time order
 * @param baseNs time that becomes microsecond 1; no sample is before it
 */
export function placeSamples(samples: SampleTable, rows: Uint32Array, scale: EventScale, baseNs: number): PlacedSamples {
  const startUs = new Float64Array(rows.length);
  const endUs = new Float64Array(rows.length);
  let clippedNs = 0;
  let lastEndNs = 0;
  let lastLengthNs = 0;
  let lastEndUs = 1;
  for (let i = 0; i < rows.length; i++) {
    // hot
    const timeNs = samples.timeNs[rows[i]] - baseNs;
    const wantedNs = samples.period[rows[i]] * scale.nsPerPeriod;
    const jitterNs = scale.kind === 'waits' ? 0 : lastLengthNs * JITTER;
    const startNs = Number.isNaN(timeNs) || (i > 0 && timeNs - lastEndNs <= jitterNs) ? lastEndNs : timeNs;
    const nextNs = i + 1 < rows.length ? samples.timeNs[rows[i + 1]] - baseNs : Number.NaN;
    const lengthNs = Math.min(wantedNs, maxLengthNs(scale, startNs, nextNs));
    if (scale.kind === 'clock') clippedNs += wantedNs - lengthNs;
    lastEndNs = startNs + lengthNs;
    lastLengthNs = lengthNs;
    startUs[i] = Math.max(lastEndUs, Math.round(startNs / 1000) + 1);
    endUs[i] = lastEndUs = Math.max(startUs[i] + 1, Math.round(lastEndNs / 1000) + 1);
  }
  return { startUs, endUs, clippedNs };
}

/**
 * The longest that a sample may last, in nanoseconds.
 * @param startNs where it begins
 * @param nextNs time of the next sample of its track; NaN if that is unknown or there is none
 */
function maxLengthNs(scale: EventScale, startNs: number, nextNs: number): number {
  if (scale.kind === 'waits') return Number.POSITIVE_INFINITY;
  if (scale.kind === 'clock') return Number.isNaN(nextNs) ? Number.POSITIVE_INFINITY : Math.max(0, nextNs + MAX_DELAY * scale.intervalNs - startNs);
  const longest = MAX_STRETCH * scale.intervalNs;
  return Number.isNaN(nextNs) ? longest : Math.max(0, Math.min(longest, nextNs - startNs));
}
