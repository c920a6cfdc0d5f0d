import { OFF_CPU_PREFIX } from '../profile/names.ts';
import type { Profile, ProfileEvent } from '../profile/profile.ts';

/*
 * The event that a format shows first, or alone. Formats that count ask for the event with the most samples; formats
 * with a time axis ask for the one whose samples show best when the program ran.
 */

/**
 * Index of the event with the most samples. On a tie, the first one wins. Times off the CPU are chosen only if no other event except perf's dummy event has
 * samples, and the dummy event only if nothing else has any. −1 if no event has samples.
 */
export function findMostSampledEvent(profile: Profile): number {
  let most = -1;
  profile.events.forEach((event, index) => {
    if (event.samples === 0) return;
    const best = profile.events[most];
    const difference = best === undefined ? 1 : countRank(event) - countRank(best);
    if (difference > 0 || (difference === 0 && event.samples > best.samples)) most = index;
  });
  return most;
}

function countRank({ isDummy, isOffCpuTime }: ProfileEvent): number {
  return isDummy ? 0 : isOffCpuTime ? 1 : 2;
}

/**
 * How threads waited in an event's samples, such as `sleeping`, if each sample is a time off the CPU that begins at the sample's time and lasts as long as its
 * period; undefined for other events. perf's own `offcpu-time` is not such an event: its samples are taken when the time is over.
 */
export function waitOf({ isOffCpuTime, isBpfOutput, name }: ProfileEvent): string | undefined {
  return isOffCpuTime && !isBpfOutput && name.startsWith(OFF_CPU_PREFIX) ? name.slice(OFF_CPU_PREFIX.length) : undefined;
}

/** Cycles by any name: `cycles:u`, `cpu_core/cycles/`, `ref-cycles`; not `stalled-cycles-frontend`. */
const CYCLES = /^(?:[^/:]{1,64}\/)?(?:cpu-|ref-|bus-)?cycles(?:$|[:/,])/;

/**
 * Whether an event counts something that happens at a steady rate while code runs, so that its counts are nearly times. Other counters, such as page faults,
 * count what happens now and then.
 */
export function countsCycles({ name, unit }: Pick<ProfileEvent, 'name' | 'unit'>): boolean {
  return unit === 'count' && CYCLES.test(name);
}

/**
 * Index of the event whose samples show best how time was spent: clocks come first, then cycles, then times off the CPU, then other counters, and perf's dummy
 * event last. Among equals, the one with the most samples wins, then the first one. −1 if no event has samples.
 */
export function findTimelineEvent(profile: Profile): number {
  let best = -1;
  profile.events.forEach((event, index) => {
    if (event.samples === 0) return;
    if (best < 0 || isBetterTimeline(event, profile.events[best])) best = index;
  });
  return best;
}

function isBetterTimeline(event: ProfileEvent, other: ProfileEvent): boolean {
  const difference = timelineRank(event) - timelineRank(other);
  return difference > 0 || (difference === 0 && event.samples > other.samples);
}

function timelineRank(event: ProfileEvent): number {
  if (event.isDummy) return 0;
  if (event.isOffCpuTime) return 2;
  if (event.unit === 'nanoseconds') return 4;
  return countsCycles(event) ? 3 : 1;
}
