import type { Profile } from './profile.ts';

/** How many events a message names: recordings can have hundreds of tracepoints. */
const SHOWN_EVENTS = 10;

/**
 * Names the events with samples that an output of one event leaves out, the most samples first: `page-faults, cs and 7 others`.
 * @param event the one that is written
 * @returns empty if there are none
 */
export function leftOutEvents({ events }: Pick<Profile, 'events'>, event: number): string {
  const others = events.filter(({ samples }, index) => index !== event && samples > 0).sort((a, b) => b.samples - a.samples);
  const shown = others.slice(0, SHOWN_EVENTS).map(({ name }) => name);
  const more = others.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} ${more === 1 ? 'other' : 'others'}` : '');
}
