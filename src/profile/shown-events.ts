import type { Profile, ProfileEvent } from './profile.ts';

/** How many events a message names: recordings can have hundreds of tracepoints. */
const SHOWN_EVENTS = 10;

/** Names events in a message, the most samples first: `page-faults, cs and 7 others`. @returns empty for none */
export function eventNames(events: readonly ProfileEvent[]): string {
  const shown = [...events]
    .sort((a, b) => b.samples - a.samples)
    .slice(0, SHOWN_EVENTS)
    .map(({ name }) => name);
  const more = events.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} ${more === 1 ? 'other' : 'others'}` : '');
}

/**
 * Names the events with samples that an output of one event leaves out.
 * @param event the one that is written
 * @returns empty if there are none
 */
export function leftOutEvents({ events }: Pick<Profile, 'events'>, event: number): string {
  return eventNames(events.filter(({ samples }, index) => index !== event && samples > 0));
}
