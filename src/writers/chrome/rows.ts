import { placesIn } from '../../base/tables/ascending-order.ts';
import { grown } from '../../base/tables/growable.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import type { EventScale } from './stack-timeline.ts';

/** By how many intervals a sample may be late in a row of its own CPU or thread before a further row is begun. */
const LATE_INTERVALS = 4;
/** The same for samples of different threads, which may have run at the same time. */
const JITTER_INTERVALS = 0.5;
/** For how many intervals a thread may have no sample and still count as running. */
const MAX_GAP_INTERVALS = 4;
/** More than a machine has CPUs. Samples that overlap in the last row are treated as late. */
const MAX_ROWS = 1024;

export interface OverlapOptions {
  /** What runs one at a time, by row of the sample table: a thread. */
  readonly subjectOf: (row: number) => number;
  /** Whether all samples are from one CPU, so that samples that overlap are only late. */
  readonly isOneAtATime: boolean;
}

/**
 * Divides samples of several threads into as many rows as threads ran at once, so that no two samples of a row overlap. As long as a thread runs, it stays in
 * its row. When it goes on after a pause, it is put into the first free row, so that the first rows are full: viewers unfold only the first one, and their
 * tables cover one row. The rows are ordered by their time, the busiest first.
 * @param rows rows of the sample table, in time order
 * @returns for each position, the number of its row; 0 for all of them if the event counts occurrences
 */
export function overlapRows(
  samples: SampleTable,
  rows: Uint32Array,
  scale: EventScale,
  { subjectOf, isOneAtATime }: OverlapOptions,
): { rowOf: Uint32Array; count: number } {
  const rowOf = new Uint32Array(rows.length);
  if (scale.kind === 'occurrences') return { rowOf, count: 1 };
  const open = new OpenRows(scale.intervalNs, isOneAtATime);
  let lastNs = 0;
  for (let i = 0; i < rows.length; i++) {
    // hot
    const timeNs = samples.timeNs[rows[i]];
    const startNs = Number.isNaN(timeNs) ? lastNs : timeNs;
    lastNs = startNs;
    rowOf[i] = open.add(subjectOf(rows[i]), startNs, samples.period[rows[i]] * scale.nsPerPeriod);
  }
  sortByTotals(rowOf, open.totalsNs);
  return { rowOf, count: open.count };
}

/** The rows up to a time. */
class OpenRows {
  count = 0;
  readonly #lateNs: number;
  readonly #jitterNs: number;
  readonly #maxGapNs: number;
  /** By row: when it is free, its last subject, and the sum of its lengths. */
  #endsNs = new Float64Array(16);
  #lastSubject = new Int32Array(16);
  #totalsNs = new Float64Array(16);
  /** By subject: its last row plus 1. */
  #lastRow = new Uint32Array(256);

  /** @param isOneAtATime see {@link OverlapOptions} */
  constructor(intervalNs: number, isOneAtATime: boolean) {
    this.#lateNs = LATE_INTERVALS * intervalNs;
    this.#jitterNs = isOneAtATime ? this.#lateNs : JITTER_INTERVALS * intervalNs;
    this.#maxGapNs = MAX_GAP_INTERVALS * intervalNs;
  }

  /** By row: for how long samples were in it. */
  get totalsNs(): Float64Array {
    return this.#totalsNs.subarray(0, this.count);
  }

  /** Adds a sample that is not earlier than the one before it. @returns its row */
  add(subject: number, startNs: number, lengthNs: number): number {
    // hot
    this.#lastRow = grown(this.#lastRow, subject + 1);
    const lastRow = this.#lastRow[subject] - 1;
    const row = this.#isRunning(subject, lastRow, startNs) ? lastRow : this.#freeRow(startNs);
    this.#endsNs[row] = Math.max(this.#endsNs[row], startNs) + lengthNs;
    this.#totalsNs[row] += lengthNs;
    this.#lastSubject[row] = subject;
    this.#lastRow[subject] = row + 1;
    return row;
  }

  /** Whether a subject goes on in the row that it was last in, −1 for none. */
  #isRunning(subject: number, row: number, startNs: number): boolean {
    if (row < 0 || this.#lastSubject[row] !== subject) return false;
    const endNs = this.#endsNs[row];
    return endNs <= startNs + this.#lateNs && endNs >= startNs - this.#maxGapNs;
  }

  /** The first row that is free at a time; a new one if none is. */
  #freeRow(startNs: number): number {
    let row = 0;
    while (row < this.count && this.#endsNs[row] > startNs + this.#jitterNs) row++;
    if (row === MAX_ROWS) return row - 1;
    if (row < this.count) return row;
    this.count++;
    this.#endsNs = grown(this.#endsNs, this.count);
    this.#lastSubject = grown(this.#lastSubject, this.count);
    this.#totalsNs = grown(this.#totalsNs, this.count);
    return row;
  }
}

/** Renumbers rows by their totals, the largest first. */
function sortByTotals(rowOf: Uint32Array, totals: Float64Array): void {
  const numbers = placesIn(Array.from(totals.keys()).sort((a, b) => totals[b] - totals[a] || a - b));
  for (let i = 0; i < rowOf.length; i++) rowOf[i] = numbers[rowOf[i]];
}
