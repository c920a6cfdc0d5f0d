import { StringTable } from '../intern/string-table.ts';
import { FunctionTable, LocationTable, SampleTable, StackTable, TotalTable } from './tables.ts';

/**
 * Collects what a decoder yields into the tables of a profile. The decoder calls the methods in time order; what they
 * take and give are indexes.
 */
export class ProfileBuilder {
  readonly strings = new StringTable();
  readonly functions = new FunctionTable();
  readonly locations = new LocationTable();
  readonly stacks = new StackTable();
  readonly totals = new TotalTable();
  readonly samples: SampleTable | undefined;
  /** First and last sample time seen; Infinity and −Infinity when no sample had one. */
  firstTimeNs = Number.POSITIVE_INFINITY;
  lastTimeNs = Number.NEGATIVE_INFINITY;

  /** @param keepSamples whether the profile will have every sample, or only the totals */
  constructor(keepSamples: boolean) {
    this.samples = keepSamples ? new SampleTable() : undefined;
  }

  /** See {@link LocationTable.intern}. */
  internLocation(mapping: number, addressLo: number, addressHi: number, cpumode: number, isReturnAddress: boolean): number {
    return this.locations.intern(mapping, addressLo, addressHi, cpumode, isReturnAddress);
  }

  /** See {@link StackTable.intern}. */
  internStack(parent: number, location: number): number {
    return this.stacks.intern(parent, location);
  }

  /** Adds one sample; see {@link SampleTable} for the columns. */
  sample(timeNs: number, event: number, task: number, cpu: number, stack: number, period: number, ipLo: number, ipHi: number): void {
    // hot
    if (timeNs < this.firstTimeNs) this.firstTimeNs = timeNs;
    if (timeNs > this.lastTimeNs) this.lastTimeNs = timeNs;
    this.totals.add(event, task, stack, period);
    this.samples?.add(timeNs, event, task, cpu, stack, period, ipLo, ipHi);
  }

  /** Moves the origin of the samples' times to the first sample, so that none is negative. */
  rebaseTimes(): void {
    if (this.samples === undefined || !Number.isFinite(this.firstTimeNs)) return;
    const { timeNs, size } = this.samples;
    for (let row = 0; row < size; row++) timeNs[row] -= this.firstTimeNs;
  }
}
