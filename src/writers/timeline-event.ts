import type { Profile, ProfileEvent } from '../profile/profile.ts';

/**
 * Index of the event whose samples make the best picture of time: a clock before any counter, and perf's dummy event
 * last; among equals the one with the most samples, the first of several. −1 when no event has a sample.
 */
export function findTimelineEvent(profile: Profile): number {
  let best = -1;
  profile.events.forEach((event, index) => {
    if (event.samples === 0) return;
    if (best < 0 || isBetter(event, profile.events[best])) best = index;
  });
  return best;
}

function isBetter(event: ProfileEvent, other: ProfileEvent): boolean {
  return rank(event) - rank(other) > 0 || (rank(event) === rank(other) && event.samples > other.samples);
}

function rank(event: ProfileEvent): number {
  return event.isDummy ? 0 : event.unit === 'count' ? 1 : 2;
}
