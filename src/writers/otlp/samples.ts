import { lostInSum } from '../../base/exact-sums.ts';
import type { Profile } from '../../profile/profile.ts';
import type { FieldBytes } from '../pprof/field-bytes.ts';
import { type SampleRows, sampleRows } from '../pprof/sample-rows.ts';
import type { TaskSets } from '../pprof/task-sets.ts';
import { PROFILE, SAMPLE } from './field-numbers.ts';
import { type UsedStacks, usedStacks } from './stacks.ts';

/** What a value of a Sample is: the number of samples, or the sum of their periods. */
export type Measure = 'samples' | 'period';

/** The Samples of all profiles: one for each event, stack and set of attributes. */
export class Samples {
  readonly usedStacks: UsedStacks;
  readonly #totals: Profile['totals'];
  readonly #attributes: TaskSets;
  readonly #rows: SampleRows;
  readonly #eventCount: number;

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
    this.usedStacks = usedStacks(this.#rows.stacks, this.#rows.size, stacks.size);
  }

  /** Number of rows. */
  get size(): number {
    return this.#rows.size;
  }

  /** Adds the Sample of a row if that is of an event. */
  put(fields: FieldBytes, row: number, event: number, measure: Measure): void {
    // hot
    const { stacks, sets, first } = this.#rows;
    const set = sets[row];
    if (set % this.#eventCount !== event) return;
    const stack = stacks[row];
    const sample = fields.begin(PROFILE.samples);
    if (stack >= 0) fields.number(SAMPLE.stackIndex, this.usedStacks.indexes[stack]);
    fields.append(this.#attributes.encoded((set - event) / this.#eventCount));
    const values = fields.begin(SAMPLE.values);
    this.#putSum(fields, first[row], measure === 'samples' ? 0 : 1);
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
