import type { Profile } from '../profile/profile.ts';

/**
 * Index of the event with the most samples, the first of several; perf's dummy event only where no other has a sample.
 * −1 when no event has one.
 */
export function findMostSampledEvent(profile: Profile): number {
  let most = -1;
  profile.events.forEach((event, index) => {
    if (event.samples === 0) return;
    const best = profile.events[most];
    if (best === undefined || (best.isDummy && !event.isDummy)) most = index;
    else if (best.isDummy === event.isDummy && event.samples > best.samples) most = index;
  });
  return most;
}
