import { lostInSum } from '../../base/tables/exact-sums.ts';
import type { Profile } from '../../profile/profile.ts';
import type { Weight } from '../../profile/weight.ts';
import type { FieldBytes } from '../pprof/field-bytes.ts';
import { type SampleRows, sampleRows } from '../pprof/sample-rows.ts';
import type { TaskSets } from '../pprof/task-sets.ts';
import { PROFILE, SAMPLE } from './field-numbers.ts';
import { type UsedStacks, usedStacks } from './stacks.ts';

/** The Samples of all profiles: one for each event, stack and set of attributes. */
export class Samples {
  readonly usedStacks: UsedStacks;
  readonly #totals: Profile['totals'];
  readonly #attributes: TaskSets;
  readonly #rows: SampleRows;
  readonly #eventCount: number;
  readonly #rowsOfEvent: readonly Int32Array[];

  /** @param equalStack see {@link equalStacks} */
  constructor({ events, stacks, totals }: Profile, attributes: TaskSets, equalStack: Int32Array | undefined) {
    this.#totals = totals;
    this.#attributes = attributes;
    this.#eventCount = events.length;
    const setOfKind = Int32Array.from(
      { length: totals.kindCount },
      (_, kind) => attributes.ofTask(totals.taskOfKind(kind)) * events.length + totals.eventOfKind(kind),
    );
    this.#rows = sampleRows(totals, setOfKind, equalStack);
    this.#rowsOfEvent = rowsByEvent(this.#rows, events.length);
    this.usedStacks = usedStacks(this.#rows.stacks, this.#rows.size, stacks.size);
  }

  /** The rows of an event, in ascending order. */
  ofEvent(event: number): Int32Array {
    return this.#rowsOfEvent[event];
  }

  /** Adds the Sample of a row. */
  put(fields: FieldBytes, row: number, weight: Weight): void {
    // hot
    const { stacks, sets, first } = this.#rows;
    const stack = stacks[row];
    const sample = fields.begin(PROFILE.samples);
    if (stack >= 0) fields.number(SAMPLE.stackIndex, this.usedStacks.indexes[stack]);
    fields.append(this.#attributes.encoded(Math.floor(sets[row] / this.#eventCount)));
    const values = fields.begin(SAMPLE.values);
    this.#putSum(fields, first[row], weight === 'samples' ? 0 : 1);
    fields.end(values);
    fields.end(sample);
  }

  /** Adds the sum of a list of totals. @param column 0 for samples, 1 for periods */
  #putSum(fields: FieldBytes, first: number, column: 0 | 1): void {
    // hot
    const { next } = this.#rows;
    const { sums } = this.#totals.columns;
    let sum = 0;
    let remainder = 0;
    for (let total = first; total >= 0; total = next[total]) {
      const before = sum;
      const value = sums[total * 2 + column];
      sum = before + value;
      if (sum > Number.MAX_SAFE_INTEGER) remainder += lostInSum(before, value) + (column === 1 ? this.#totals.periodRemainder(total) : 0);
    }
    fields.count(sum, remainder);
  }
}

/** By event: its rows, so that a profile of an event does not go through those of all others. */
function rowsByEvent({ size, sets }: SampleRows, eventCount: number): readonly Int32Array[] {
  // hot
  const counts = new Int32Array(eventCount);
  for (let row = 0; row < size; row++) counts[sets[row] % eventCount]++;
  const rows = Array.from(counts, (count) => new Int32Array(count));
  // From here on, how many are still missing.
  for (let row = 0; row < size; row++) {
    const event = sets[row] % eventCount;
    rows[event][rows[event].length - counts[event]--] = row;
  }
  return rows;
}
