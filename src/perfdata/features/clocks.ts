import type { FeatureReaders } from '../../base/bytes/section-reader.ts';
import type { ExactInteger } from '../../base/text/exact-integer.ts';
import * as abi from '../abi/constants.ts';

/** Which clock the samples' times come from, and the span that they cover. */
export interface ClockFeatures {
  /** Times of the first and the last sample, in the recording's clock; both 0 if perf did not look at its samples. */
  sampleTime?: { readonly first: bigint; readonly last: bigint };
  /** Resolution of the clock that `perf record -k` names, in nanoseconds. */
  clockidResolutionNs?: ExactInteger;
  /** One moment in two clocks: nanoseconds of the wall clock, and of the clock of samples. */
  clockData?: { readonly clockid: number; readonly wallClockNs: bigint; readonly clockNs: bigint };
}

/** Source: the perf tool's description of its file format. perf stat record also writes the sections that it has nothing for, all zeros. Observed: perf 6.1. */
export const CLOCK_READERS: FeatureReaders<ClockFeatures> = {
  [abi.HEADER_SAMPLE_TIME]: (features, section) => {
    features.sampleTime = { first: section.u64(), last: section.u64() };
  },
  [abi.HEADER_CLOCKID]: (features, section) => {
    const resolutionNs = section.exact();
    if (resolutionNs !== 0) features.clockidResolutionNs = resolutionNs;
  },
  [abi.HEADER_CLOCK_DATA]: (features, section) => {
    section.u32(); // version, 1
    const clockData = { clockid: section.i32(), wallClockNs: section.u64(), clockNs: section.u64() };
    if (clockData.wallClockNs !== 0n) features.clockData = clockData;
  },
};
