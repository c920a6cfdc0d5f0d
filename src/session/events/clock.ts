import { CLOCK_REALTIME } from '../../perfdata/abi/attr-names.ts';
import type { Features } from '../../perfdata/features/features.ts';
import type { SessionEvent } from './session-event.ts';

/**
 * What to add to a recording's times to get Unix time, in nanoseconds. Known if perf noted one moment in both clocks (CLOCK_DATA, with `perf record -k`), or if
 * the samples' clock is CLOCK_REALTIME; else undefined. For CLOCK_REALTIME with CLOCK_DATA, this is not 0 but up to a microsecond less, because perf notes the
 * wall clock in microseconds, and counts from there. Observed: perf 6.1, -F tod.
 */
export function wallClockOffset({ clockData }: Features, events: readonly SessionEvent[]): bigint | undefined {
  if (clockData !== undefined) return clockData.wallClockNs - clockData.clockNs;
  const isRealtime = events.some(({ attr }) => attr.flags.has('use_clockid') && attr.clockid === CLOCK_REALTIME);
  return isRealtime ? 0n : undefined;
}

/**
 * Times of a recording as doubles: nanoseconds relative to the first time seen. Once a clock has run for more than 104 days, doubles do not hold its times
 * exactly, but they do hold differences within a recording.
 */
export class RecordingClock {
  #baseLo = 0;
  #baseHi = 0;
  #hasBase = false;

  /**
   * @returns nanoseconds since the base; NaN for 0 and ~0, which perf writes into records that it made up itself and
   * that take effect at once; Infinity for what comes after all times, such as off-CPU summaries, which perf writes at
   * `~0 << 32`
   */
  relative(lo: number, hi: number): number {
    // hot
    if (lo === 0 && hi === 0) return Number.NaN;
    if (hi === 0xffffffff) return lo === 0xffffffff ? Number.NaN : Number.POSITIVE_INFINITY;
    if (!this.#hasBase) {
      this.#hasBase = true;
      this.#baseLo = lo;
      this.#baseHi = hi;
    }
    return this.sinceBase(lo, hi);
  }

  /** Nanoseconds since the base for a time that is not that of a record. There must be a base. */
  sinceBase(lo: number, hi: number): number {
    // hot
    return (hi - this.#baseHi) * 0x1_0000_0000 + (lo - this.#baseLo);
  }

  /** Whether any time was seen. */
  get hasBase(): boolean {
    return this.#hasBase;
  }

  /** The first time seen, in the recording's own clock, nanoseconds; 0 when none was. */
  get base(): bigint {
    return (BigInt(this.#baseHi) << 32n) | BigInt(this.#baseLo);
  }
}
