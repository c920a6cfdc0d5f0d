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
  const lateNs = LATE_INTERVALS * scale.intervalNs;
  const jitterNs = isOneAtATime ? lateNs : JITTER_INTERVALS * scale.intervalNs;
  const maxGapNs = MAX_GAP_INTERVALS * scale.intervalNs;
  let count = 0;
  /** By row: when it is free, its last subject, and the sum of its lengths. */
  let ends = new Float64Array(16);
  let lastSubject = new Int32Array(16);
  let totals = new Float64Array(16);
  /** By subject: its last row plus 1. */
  let lastRow = new Uint32Array(256);
  let lastNs = 0;
  for (let i = 0; i < rows.length; i++) {
    // hot
    const timeNs = samples.timeNs[rows[i]];
    const startNs = Number.isNaN(timeNs) ? lastNs : timeNs;
    lastNs = startNs;
    const subject = subjectOf(rows[i]);
    lastRow = grown(lastRow, subject + 1);
    let row = lastRow[subject] - 1;
    const isRunning = row >= 0 && lastSubject[row] === subject && ends[row] <= startNs + lateNs && ends[row] >= startNs - maxGapNs;
    if (!isRunning) {
      row = 0;
      while (row < count && ends[row] > startNs + jitterNs) row++;
      if (row === MAX_ROWS) row--;
      if (row === count) {
        count++;
        ends = grown(ends, count);
        lastSubject = grown(lastSubject, count);
        totals = grown(totals, count);
      }
    }
    const lengthNs = samples.period[rows[i]] * scale.nsPerPeriod;
    ends[row] = Math.max(ends[row], startNs) + lengthNs;
    totals[row] += lengthNs;
    lastSubject[row] = subject;
    lastRow[subject] = row + 1;
    rowOf[i] = row;
  }
  sortByTotals(rowOf, totals.subarray(0, count));
  return { rowOf, count };
}

/** Renumbers rows by their totals, the largest first. */
function sortByTotals(rowOf: Uint32Array, totals: Float64Array): void {
  const numbers = placesIn(Array.from(totals.keys()).sort((a, b) => totals[b] - totals[a] || a - b));
  for (let i = 0; i < rowOf.length; i++) rowOf[i] = numbers[rowOf[i]];
}
