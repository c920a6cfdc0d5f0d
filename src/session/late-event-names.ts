import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import type { EventDescription } from '../perfdata/features/features.ts';
import type { EventList } from './events/events.ts';
import type { CompiledFilter } from './filter/filter.ts';
import type { SwitchSampleReader } from './rows/switch-samples.ts';

/** What has used the names that events had so far. */
export interface NameUsers {
  readonly events: EventList;
  readonly filter: CompiledFilter;
  /** Undefined if nobody asks for switches. */
  readonly switches: SwitchSampleReader | undefined;
}

/**
 * Names events by the features at the end of a file that was still being written when reading began; in all other recordings the names come before the first
 * sample.
 * @throws PerfconvError `unsupported` when a filter has used a name that turns out to be wrong, or switches were not recognized as such
 */
export function nameEventsLate({ events, filter, switches }: NameUsers, eventDesc: readonly EventDescription[], diagnostics: Diagnostics): void {
  const names = events.events.map(({ name }) => name);
  events.applyDescriptions(eventDesc);
  for (const [index, { name }] of events.events.entries()) {
    if (filter.acceptsEvent(names[index]) === filter.acceptsEvent(name)) continue;
    throw notWhileWriting(diagnostics.option('event'), `${names[index]} is really ${name}`);
  }
  const missed = events.events.find((event) => event.payload === 'none' && !event.isOffCpuTime && (switches?.useOf(event) ?? 'none') !== 'none');
  if (missed !== undefined) throw notWhileWriting(diagnostics.option('offCpu'), `${missed.name} reports switches`);
}

function notWhileWriting(option: string, why: string): PerfconvError {
  return new PerfconvError(
    'unsupported',
    `${option} does not work while perf is still writing the recording, which names its events only at its end: ${why}; convert it again now that it is complete`,
  );
}
