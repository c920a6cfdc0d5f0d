import type { Profile } from '../../profile/profile.ts';

/** The rows of a profile's totals by event, so that what is done for each of thousands of events does not go through the rows of all others. */
export class EventTotals {
  readonly #rows: Uint32Array;
  /** By event: where its rows begin. */
  readonly #start: Uint32Array;

  constructor({ events, totals }: Pick<Profile, 'events' | 'totals'>) {
    this.#start = new Uint32Array(events.length + 1);
    for (let row = 0; row < totals.size; row++) this.#start[totals.event(row) + 1]++;
    for (let event = 0; event < events.length; event++) this.#start[event + 1] += this.#start[event];
    const next = this.#start.slice();
    this.#rows = new Uint32Array(totals.size);
    for (let row = 0; row < totals.size; row++) this.#rows[next[totals.event(row)]++] = row;
  }

  /** In ascending order. */
  of(event: number): Uint32Array {
    return this.#rows.subarray(this.#start[event], this.#start[event + 1]);
  }
}
