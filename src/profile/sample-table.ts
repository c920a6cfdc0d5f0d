import { lostInSum, Remainders } from '../base/tables/exact-sums.ts';
import { grown } from '../base/tables/growable.ts';
import type { SampleBranches } from './branches.ts';
import type { SampleDetails } from './sample-details.ts';

/** One sample on its way into a {@link SampleTable}, which says what the fields mean. The same row is reused for all samples. */
export class SampleRow {
  timeNs = Number.NaN;
  event = -1;
  task = -1;
  cpu = -1;
  stack = -1;
  period = 0;
  ipLo = 0;
  ipHi = 0;
  detail = -1;
}

/** Every sample of the recording, in time order (in file order if it has no `sample_id_all`), as columns. */
export class SampleTable {
  /** Nanoseconds since the profile's `startTime`; NaN if the sample carries no time. */
  timeNs = new Float64Array(4096);
  /** Index into the profile's events. */
  event = new Uint32Array(4096);
  /** Index into the profile's tasks. */
  task = new Uint32Array(4096);
  /** −1 if the sample carries no CPU. */
  cpu = new Int32Array(4096);
  /** Index into the stacks, −1 for none. */
  stack = new Int32Array(4096);
  /** How much of the event's count the sample stands for (for clocks: nanoseconds). */
  period = new Float64Array(4096);
  /** The sample's instruction pointer, low and high words; 0 if it carries none. */
  ipLo = new Uint32Array(4096);
  ipHi = new Uint32Array(4096);
  /** Remainders of periods beyond 2^53. */
  #periodRemainders = new Remainders();
  /** What samples carry beyond these columns; undefined unless it was asked for. */
  readonly details: SampleDetails | undefined;
  /** Row of the details, −1 for none; has no elements if there are no details. */
  detail: Int32Array;
  /** Branches of the samples, by their rows; undefined unless they were asked for. */
  readonly branches: SampleBranches | undefined;
  #size = 0;

  constructor(details?: SampleDetails, branches?: SampleBranches) {
    this.details = details;
    this.branches = branches;
    this.detail = new Int32Array(details === undefined ? 0 : 4096);
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a sample. @returns its row */
  add(sample: SampleRow): number {
    // hot
    const row = this.#size++;
    if (row === this.timeNs.length) this.#grow(row + 1);
    this.timeNs[row] = sample.timeNs;
    this.event[row] = sample.event;
    this.task[row] = sample.task;
    this.cpu[row] = sample.cpu;
    this.stack[row] = sample.stack;
    this.period[row] = sample.period;
    this.ipLo[row] = sample.ipLo;
    this.ipHi[row] = sample.ipHi;
    if (this.details !== undefined) this.detail[row] = sample.detail;
    return row;
  }

  /** Adds to a sample's period. */
  addPeriod(row: number, period: number): void {
    const before = this.period[row];
    this.period[row] += period;
    if (this.period[row] > Number.MAX_SAFE_INTEGER) this.#periodRemainders.add(row, lostInSum(before, period));
  }

  /** A sample's exact period minus the double that stands for it; 0 up to 2^53. */
  periodRemainder(row: number): number {
    return this.#periodRemainders.at(row);
  }

  /**
   * The same samples with other stacks. Both tables share all other columns, so that nothing may be added to either.
   * @param stackOf by stack of this table
   */
  withStacks(stackOf: Int32Array): SampleTable {
    const table = new SampleTable(this.details, this.branches);
    table.timeNs = this.timeNs;
    table.event = this.event;
    table.task = this.task;
    table.cpu = this.cpu;
    table.period = this.period;
    table.ipLo = this.ipLo;
    table.ipHi = this.ipHi;
    table.detail = this.detail;
    table.#periodRemainders = this.#periodRemainders;
    table.#size = this.#size;
    table.stack = new Int32Array(this.stack.length);
    for (let row = 0; row < this.#size; row++) {
      // hot
      const stack = this.stack[row];
      table.stack[row] = stack < 0 ? -1 : stackOf[stack];
    }
    return table;
  }

  #grow(length: number): void {
    this.timeNs = grown(this.timeNs, length);
    this.event = grown(this.event, length);
    this.task = grown(this.task, length);
    this.cpu = grown(this.cpu, length);
    this.stack = grown(this.stack, length);
    this.period = grown(this.period, length);
    this.ipLo = grown(this.ipLo, length);
    this.ipHi = grown(this.ipHi, length);
    if (this.details !== undefined) this.detail = grown(this.detail, length);
  }
}
