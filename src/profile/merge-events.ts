import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { lostInSum } from '../base/tables/exact-sums.ts';
import type { ProfileEvent } from './profile.ts';

type GrowingEvent = { -readonly [K in keyof ProfileEvent]: ProfileEvent[K] };

/** The events of several recordings, matched by name. */
export class EventMatcher {
  readonly events: GrowingEvent[] = [];
  readonly #diagnostics: Diagnostics | undefined;
  /** By name, unit, and number among those with the same name and unit. */
  readonly #eventOf = new Map<string, number>();
  readonly #unitOf = new Map<string, ProfileEvent['unit']>();

  constructor(diagnostics: Diagnostics | undefined) {
    this.#diagnostics = diagnostics;
  }

  /** Adds a recording's events and what they count. @returns for each, its index among the merged ones */
  match(events: readonly ProfileEvent[]): number[] {
    const met = new Map<string, number>();
    return events.map((event) => {
      this.#reportOtherUnit(event);
      const kind = `${event.unit} ${event.name}`;
      const nth = met.get(kind) ?? 0;
      met.set(kind, nth + 1);
      const key = `${nth} ${kind}`;
      const known = this.#eventOf.get(key);
      if (known === undefined) {
        this.#eventOf.set(key, this.events.length);
        return this.events.push({ ...event }) - 1;
      }
      addTo(this.events[known], event);
      return known;
    });
  }

  #reportOtherUnit({ name, unit }: ProfileEvent): void {
    const known = this.#unitOf.get(name);
    if (known === undefined) this.#unitOf.set(name, unit);
    else if (known !== unit) {
      this.#diagnostics?.set('merge-units', 'warning', `the event ${name} counts nanoseconds in one input and occurrences in another: the two are kept apart`);
    }
  }
}

function addTo(merged: GrowingEvent, event: ProfileEvent): void {
  // One period for all: the largest, as in pprof.
  if (distance(event) > distance(merged)) {
    merged.samplePeriod = event.samplePeriod;
    merged.sampleFreq = event.sampleFreq;
  }
  merged.samples += event.samples;
  merged.periodRemainder = (merged.periodRemainder ?? 0) + (event.periodRemainder ?? 0) + lostInSum(merged.period, event.period);
  merged.period += event.period;
  merged.isTracepoint &&= event.isTracepoint;
  merged.isDummy &&= event.isDummy;
  merged.hasCallchain ||= event.hasCallchain;
}

/** The distance from one sample to the next, as asked for; 0 if it may be anything. */
function distance({ samplePeriod, sampleFreq, unit }: ProfileEvent): number {
  if (samplePeriod > 0) return samplePeriod;
  return unit === 'nanoseconds' && sampleFreq > 0 ? 1e9 / sampleFreq : 0;
}
