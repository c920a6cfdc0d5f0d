import type { Profile, ProfileEvent } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import type { SampleGroup } from '../sample-groups.ts';

/** When each sample of one track begins and ends, in whole microseconds. Intervals are at least 1 long and never overlap. */
export interface PlacedSamples {
  /** By position in the group; ascending. */
  readonly startUs: Float64Array;
  readonly endUs: Float64Array;
  /** Nanoseconds of a clock's periods that found no room, as when two CPUs share one track. */
  readonly clippedNs: number;
}

/** How the samples of one event become lengths of time. */
export interface EventScale {
  /** Nanoseconds between two samples of a thread that keeps running; what a sample of unknown length gets. */
  readonly intervalNs: number;
  /** Nanoseconds that one unit of period stands for: 1 for clocks. */
  readonly nsPerPeriod: number;
  readonly isClock: boolean;
}

const DEFAULT_INTERVAL_NS = 1e6;
/** How far, in intervals, a sample of a clock may be moved behind its time before its length is cut instead. */
const MAX_DELAY = 4;
/** How long, in intervals, a sample of a counter may be at most. */
const MAX_STRETCH = 2;
/** A gap below this share of the sample before it is jitter of the timer: the next sample is moved up to close it. */
const JITTER = 0.5;
const MEDIAN_SAMPLES = 50_000;

/**
 * Finds the scale of each event. A clock's period is its time. A counter's periods are spread over time by one factor,
 * such that a sample of the mean period lasts one interval: as `sample_freq` says, else the median gap between samples
 * of one thread.
 * @returns by event index
 */
export function eventScales(profile: Profile, samples: SampleTable, groups: readonly SampleGroup[]): EventScale[] {
  return profile.events.map((event, index) => {
    const mean = meanPeriod(event);
    if (event.unit === 'nanoseconds') return { intervalNs: mean || DEFAULT_INTERVAL_NS, nsPerPeriod: 1, isClock: true };
    const intervalNs =
      event.sampleFreq > 0
        ? 1e9 / event.sampleFreq
        : medianGap(
            samples,
            groups.filter((group) => group.event === index),
          );
    return { intervalNs, nsPerPeriod: mean > 0 ? intervalNs / mean : 0, isClock: false };
  });
}

function meanPeriod(event: ProfileEvent): number {
  return event.samples > 0 ? event.period / event.samples : 0;
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
 * Lays the samples of one thread and event along the time axis. Each begins at its own time and lasts as long as its
 * period says, so that the lengths add up to what perf counts; a thread that had no sample for a while shows a gap.
 * Jitter of the timer is evened out: where the next sample comes a little late it is moved up to its predecessor's
 * end, where it comes early it waits for it (a counter's sample is cut short instead, since its length is a guess).
 * A sample without time follows its predecessor directly.
 *
 * @param baseNs time that becomes microsecond 1
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
    let startNs = Number.isNaN(timeNs) || (i > 0 && timeNs - lastEndNs <= lastLengthNs * JITTER) ? lastEndNs : timeNs;
    if (i === 0 && startNs < 0) startNs = 0;
    const nextNs = i + 1 < rows.length ? samples.timeNs[rows[i + 1]] - baseNs : Number.NaN;
    const lengthNs = Math.min(wantedNs, roomNs(scale, startNs, nextNs));
    if (scale.isClock) clippedNs += wantedNs - lengthNs;
    lastEndNs = startNs + lengthNs;
    lastLengthNs = lengthNs;
    startUs[i] = Math.max(lastEndUs, Math.round(startNs / 1000) + 1);
    endUs[i] = lastEndUs = Math.max(startUs[i] + 1, Math.round(lastEndNs / 1000) + 1);
  }
  return { startUs, endUs, clippedNs };
}

/** How long a sample may last that begins at `startNs`, when the next one of its track is taken at `nextNs` (NaN: unknown or none). */
function roomNs(scale: EventScale, startNs: number, nextNs: number): number {
  if (scale.isClock) return Number.isNaN(nextNs) ? Number.POSITIVE_INFINITY : Math.max(0, nextNs + MAX_DELAY * scale.intervalNs - startNs);
  const longest = MAX_STRETCH * scale.intervalNs;
  return Number.isNaN(nextNs) ? longest : Math.max(0, Math.min(longest, nextNs - startNs));
}
