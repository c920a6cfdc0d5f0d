import { commaList } from '../base/text/word-list.ts';
import type { Profile, ProfileEvent } from './profile.ts';

/** How many events a message names: recordings can have hundreds of tracepoints. */
const SHOWN_EVENTS = 10;

/** Names events in a message, the most samples first: `page-faults, cs and 7 others`. @returns empty for none */
export function eventNames(events: readonly ProfileEvent[]): string {
  const names = [...events].sort((a, b) => b.samples - a.samples).map(({ name }) => name);
  return commaList(names, SHOWN_EVENTS);
}

/**
 * Names the events with samples that an output of one event leaves out.
 * @param event the one that is written
 * @returns empty if there are none
 */
export function leftOutEvents({ events }: Pick<Profile, 'events'>, event: number): string {
  return eventNames(events.filter(({ samples }, index) => index !== event && samples > 0));
}
