import type { ExactInteger } from '../base/text/exact-integer.ts';
import { clockName } from '../perfdata/abi/attr-names.ts';
import type { Features } from '../perfdata/features/features.ts';
import type { ProfileMeta } from '../profile/profile.ts';
import type { SessionEvent } from '../session/events/session-event.ts';

/** The clock from which samples' times were taken. Times are nanoseconds as decimal text. */
export interface ClockInfo {
  /** CLOCK_*; absent for the kernel's own clock, which perf uses by default. */
  readonly clockid?: number | undefined;
  /** `monotonic`; `perf` is the kernel's own clock. */
  readonly name: string;
  readonly resolutionNs?: ExactInteger | undefined;
  /** One moment in the wall clock (also as ISO 8601) and in this one. */
  readonly reference?: { readonly wallClockNs: string; readonly wallClock: string; readonly clockNs: string } | undefined;
}

/** From the first to the last sample. Times are nanoseconds as decimal text. */
export interface TimeInfo {
  readonly firstNs: string;
  readonly lastNs: string;
  readonly durationNs: number;
  /** The same in the wall clock, ISO 8601; absent if that is unknown. */
  readonly wallClockFirst?: string | undefined;
  readonly wallClockLast?: string | undefined;
  /**
   * How the wall clock is known: `reference` by a moment noted in both clocks, `clock` because samples carry it, `end` because simpleperf notes the second in
   * which it ends, `file` because the file was last written when the recording ended (approximately, and if nobody touched it since).
   */
  readonly wallClockSource?: 'reference' | 'clock' | 'end' | 'file' | undefined;
}

export function clockInfo({ clockData, clockidResolutionNs }: Features, events: readonly SessionEvent[]): ClockInfo {
  const clockid = clockData?.clockid ?? events.find(({ attr }) => attr.flags.has('use_clockid'))?.attr.clockid;
  return {
    clockid,
    name: clockid === undefined ? 'perf' : clockName(clockid),
    resolutionNs: clockidResolutionNs,
    reference: clockData && {
      wallClockNs: String(clockData.wallClockNs),
      wallClock: wallClockText(clockData.wallClockNs),
      clockNs: String(clockData.clockNs),
    },
  };
}

/**
 * @param meta the recording's; of its times, `captureTimeNs` may be known by the second in which the recording ended
 * @param modifiedNs Unix time at which the file was last written
 */
export function timeInfo(
  { startTime: firstNs, durationNs, wallClockOffsetNs, captureTimeNs }: ProfileMeta,
  { clockData }: Features,
  modifiedNs: bigint | undefined,
): TimeInfo {
  const lastNs = firstNs + BigInt(Math.round(durationNs));
  const span = { firstNs: String(firstNs), lastNs: String(lastNs), durationNs };
  const withWallClock = (source: TimeInfo['wallClockSource'], difference: bigint): TimeInfo => ({
    ...span,
    wallClockFirst: wallClockText(firstNs + difference),
    wallClockLast: wallClockText(lastNs + difference),
    wallClockSource: source,
  });
  if (wallClockOffsetNs !== undefined) return withWallClock(clockData === undefined ? 'clock' : 'reference', wallClockOffsetNs);
  if (captureTimeNs !== undefined) return withWallClock('end', captureTimeNs - firstNs);
  if (modifiedNs !== undefined) return withWallClock('file', modifiedNs - lastNs);
  return span;
}

/** Unix time in nanoseconds as ISO 8601 with nine decimals: `2026-01-04T16:46:58.014657000Z`. */
export function wallClockText(ns: bigint): string {
  const subMs = ((ns % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return new Date(Number((ns - subMs) / 1_000_000n)).toISOString().replace('Z', `${String(subMs).padStart(6, '0')}Z`);
}
