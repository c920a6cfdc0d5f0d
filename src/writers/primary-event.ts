import { OFF_CPU_PREFIX } from '../profile/names.ts';
import type { Profile, ProfileEvent } from '../profile/profile.ts';

/*
 * The event that a format shows first, or alone. Formats that count ask for the event with the most samples; formats
 * with a time axis ask for the one whose samples show best when the program ran.
 */

/**
 * Index of the event with the most samples, on a tie the first one. Times off the CPU are chosen only if no other event has samples, apart from those that they
 * are computed from and perf's dummy event; these come last, in this order. −1 if no event has samples.
 */
export function findMostSampledEvent(profile: Profile): number {
  const hasWaits = profile.events.some((event) => event.samples > 0 && waitOf(event) !== undefined);
  return findBest(profile, (event) => countRank(event, hasWaits));
}

function countRank(event: ProfileEvent, hasWaits: boolean): number {
  if (event.isDummy) return 0;
  if (hasWaits && RECORDS_SWITCHES.test(event.name)) return 1;
  return event.isOffCpuTime ? 2 : 3;
}

/** The event with samples that has the highest rank; among equals, the one with the most of what it is about, then the first one. −1 if none has samples. */
function findBest({ events }: Profile, rankOf: (event: ProfileEvent) => number): number {
  let best = -1;
  events.forEach((event, index) => {
    if (event.samples === 0) return;
    const difference = best < 0 ? 1 : rankOf(event) - rankOf(events[best]);
    if (difference > 0 || (difference === 0 && isMore(event, events[best]))) best = index;
  });
  return best;
}

/** Threads are preempted often, but not for long: of times off the CPU, the longer ones matter, not the more frequent ones. */
function isMore(event: ProfileEvent, other: ProfileEvent): boolean {
  return event.isOffCpuTime && other.isOffCpuTime ? event.period > other.period : event.samples > other.samples;
}

/**
 * How threads waited in an event's samples, such as `sleeping`, if each sample is a time off the CPU that begins at the sample's time and lasts as long as its
 * period; undefined for other events. perf's own `offcpu-time` is not such an event: its samples are taken when the time is over.
 */
export function waitOf({ isOffCpuTime, isBpfOutput, name }: ProfileEvent): string | undefined {
  return isOffCpuTime && !isBpfOutput && name.startsWith(OFF_CPU_PREFIX) ? name.slice(OFF_CPU_PREFIX.length) : undefined;
}

/** Events whose samples are taken when threads leave a CPU, from which times off the CPU are computed. */
const RECORDS_SWITCHES = /^(?:sched:sched_switch|context-switches|cs)(?:$|[:/,])/;

/** Cycles by any name: `cycles:u`, `cpu_core/cycles/`, `armv8_pmuv3/cpu_cycles/`, `ref-cycles`; not `stalled-cycles-frontend`. */
const CYCLES = /^(?:[^/:]{1,64}\/)?(?:(?:cpu|ref|bus)[-_])?cycles(?:$|[:/,])/;

/**
 * Whether an event counts something that happens at a steady rate while code runs, so that its counts are nearly times. Other counters, such as page faults,
 * count what happens now and then.
 */
export function countsCycles({ name, unit }: Pick<ProfileEvent, 'name' | 'unit'>): boolean {
  return unit === 'count' && CYCLES.test(name);
}

/**
 * Index of the event whose samples show best how time was spent: clocks come first, then cycles, then times off the CPU, then other counters, and perf's dummy
 * event last. Among equals, the one with the most samples wins (of times off the CPU, the one with the most time), then the first one. −1 if no event has
 * samples.
 */
export function findTimelineEvent(profile: Profile): number {
  return findBest(profile, timelineRank);
}

function timelineRank(event: ProfileEvent): number {
  if (event.isDummy) return 0;
  if (event.isOffCpuTime) return 2;
  if (event.unit === 'nanoseconds') return 4;
  return countsCycles(event) ? 3 : 1;
}
