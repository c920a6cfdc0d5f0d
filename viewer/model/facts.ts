import type { Recording } from './recording.ts';
import { namedWeightText, timeText } from './units.ts';

/** What is said about a recording below its name: which part of it is shown, how long it took, how many samples an event has, and what recorded it. */
export function recordingFacts({ command, durationNs, events, filter, inputs }: Recording, event: number): string {
  const { name, samples } = events[event];
  const facts = [
    filterFact(filter, inputs.length),
    inputs.length > 1 ? `${inputs.length} recordings` : '',
    // Of a part, that is the time between the first and the last sample that is left.
    durationNs > 0 ? `${timeText(durationNs)} ${filter === '' ? 'recorded' : 'long'}` : '',
    `${namedWeightText(samples, 'samples', '')} of ${name}`,
    command,
  ];
  return facts.filter((fact) => fact !== '').join(' · ');
}

/** That samples were left out, so that nobody takes shares of the others for shares of the recording; empty if none were. */
export function filterFact(filter: string, inputs: number): string {
  return filter === '' ? '' : `part of the recording${inputs > 1 ? 's' : ''} (${filter})`;
}
