import { StringTable } from '../base/tables/string-table.ts';
import { BranchTotals, SampleBranches } from './branches.ts';
import { FunctionTable } from './function-table.ts';
import { LocationTable } from './location-table.ts';
import type { SampleDetails } from './sample-details.ts';
import { type SampleRow, SampleTable } from './sample-table.ts';
import { StackTable } from './stack-table.ts';
import { ThreadEventTable } from './thread-events.ts';
import { TotalTable } from './total-table.ts';

/** Bytes of a row in columns and hash tables, and in the orders and trees that writers build from it. */
const LOCATION_BYTES = 100;
const STACK_BYTES = 60;
const TOTAL_BYTES = 200;
const SAMPLE_BYTES = 64;

/** Which branches a profile will have, if samples carry them. */
export interface KeptBranches {
  /** How often each was taken. */
  readonly totals: boolean;
  /** Those of each sample: their addresses, or also their locations. */
  readonly samples: 'none' | 'addresses' | 'places';
}

/** The tables of a profile while a recording is read: samples are added in time order; all numbers are indexes. */
export class ProfileBuilder {
  readonly strings = new StringTable();
  readonly functions = new FunctionTable();
  readonly locations = new LocationTable();
  readonly stacks = new StackTable();
  readonly totals = new TotalTable();
  readonly samples: SampleTable | undefined;
  /** What happened to threads apart from samples; undefined if that is not kept. */
  readonly threadEvents: ThreadEventTable | undefined;
  /** How often branches were taken; undefined if that is not kept. */
  readonly branches: BranchTotals | undefined;
  /**
   * First and last time of the samples added, in nanoseconds since the session's base; Infinity and −Infinity if none had one. A time off the CPU counts up to
   * its end.
   */
  firstTimeNs = Number.POSITIVE_INFINITY;
  lastTimeNs = Number.NEGATIVE_INFINITY;

  /**
   * @param keepSamples whether the profile will have every sample, or only the totals
   * @param details of the samples, if some are kept
   * @param keepThreadEvents whether the profile will also have what happened to threads
   * @param branches none by default
   */
  constructor(keepSamples: boolean, details?: SampleDetails, keepThreadEvents = false, branches: KeptBranches = { totals: false, samples: 'none' }) {
    this.samples = keepSamples
      ? new SampleTable(details, branches.samples === 'none' ? undefined : new SampleBranches(branches.samples === 'places'))
      : undefined;
    this.branches = branches.totals ? new BranchTotals() : undefined;
    this.threadEvents = keepThreadEvents ? new ThreadEventTable() : undefined;
  }

  /** Bytes that one more sample needs; 0 if samples are only added up. */
  get bytesPerSample(): number {
    return this.samples === undefined ? 0 : SAMPLE_BYTES;
  }

  /** Bytes of the tables, as far as they grow with the recording. */
  get heldBytes(): number {
    const { locations, samples, stacks, totals } = this;
    const tables = locations.size * LOCATION_BYTES + stacks.size * STACK_BYTES + totals.size * TOTAL_BYTES;
    const besides = (this.threadEvents?.heldBytes ?? 0) + (this.branches?.heldBytes ?? 0);
    if (samples === undefined) return tables + besides;
    return tables + besides + samples.size * SAMPLE_BYTES + (samples.details?.heldBytes ?? 0) + (samples.branches?.heldBytes ?? 0);
  }

  /**
   * Adds a sample to a row of the totals and, if samples are kept, to their table.
   * @param total row of {@link totals} for the sample's event, task and stack
   * @param sample its task and stack are set here, from the total
   * @returns the sample's row, −1 if samples are not kept
   */
  addSample(total: number, sample: SampleRow): number {
    // hot
    this.#noteTime(sample.timeNs);
    const { totals, samples } = this;
    totals.addTo(total, sample.period);
    if (samples === undefined) return -1;
    sample.task = totals.task(total);
    sample.stack = totals.stack(total);
    return samples.add(sample);
  }

  /** Notes that a sample lasts up to this time. */
  noteEnd(timeNs: number): void {
    if (timeNs > this.lastTimeNs) this.lastTimeNs = timeNs;
  }

  #noteTime(timeNs: number): void {
    // hot
    if (timeNs < this.firstTimeNs) this.firstTimeNs = timeNs;
    if (timeNs > this.lastTimeNs) this.lastTimeNs = timeNs;
  }

  /**
   * Adds a sample whose stack only later records will show, so that it has its place among the others. It counts once {@link finishSample} is called.
   * @returns the sample's row, −1 if samples are not kept
   */
  addUnfinishedSample(task: number, sample: SampleRow): number {
    this.#noteTime(sample.timeNs);
    if (this.samples === undefined) return -1;
    sample.task = task;
    sample.stack = -1;
    return this.samples.add(sample);
  }

  /** Gives an unfinished sample its stack. @param total as in {@link addSample} @param row what {@link addUnfinishedSample} returned */
  finishSample(total: number, row: number, period: number): void {
    this.totals.addTo(total, period);
    if (this.samples !== undefined && row >= 0) this.samples.stack[row] = this.totals.stack(total);
  }

  /** Adds to the period of an earlier sample. @param total, row what {@link addSample} was given for it, and what it returned */
  addPeriod(total: number, row: number, period: number): void {
    this.totals.addPeriod(total, period);
    if (this.samples !== undefined && row >= 0) this.samples.addPeriod(row, period);
  }

  /** Moves the origin of the samples' times to the first sample, so that none is negative. */
  rebaseTimes(): void {
    if (this.samples === undefined || !Number.isFinite(this.firstTimeNs)) return;
    this.threadEvents?.rebase(this.firstTimeNs);
    const { timeNs, size } = this.samples;
    for (let row = 0; row < size; row++) timeNs[row] -= this.firstTimeNs;
  }
}
