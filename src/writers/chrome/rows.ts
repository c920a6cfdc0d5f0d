import { grown } from '../../base/growable.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import type { EventScale } from './stack-timeline.ts';

/** By how many intervals a sample may be late in a row of its own CPU or thread before a further row is begun. */
const LATE_INTERVALS = 4;
/** The same of samples of different threads, which may have run at the same time. */
const JITTER_INTERVALS = 0.5;
/** More than CPUs that a machine has. What overlaps in the last one is late. */
const MAX_ROWS = 1024;

/**
 * Divides samples of several threads into as many rows as ran at once, so that no two samples of a row overlap. A
 * thread stays in its row while that is free.
 * @param rows rows of the sample table, in time order
 * @param subjectOf what runs one at a time, by row of the table: a thread
 * @param isOneAtATime whether all of the samples are of one CPU, so that what overlaps is only late
 * @returns for each position, the number of its row; 0 for all of them unless the event is a clock
 */
export function overlapRows(
  samples: SampleTable,
  rows: Uint32Array,
  scale: EventScale,
  subjectOf: (row: number) => number,
  isOneAtATime: boolean,
): { rowOf: Uint32Array; count: number } {
  const rowOf = new Uint32Array(rows.length);
  if (scale.kind === 'occurrences') return { rowOf, count: 1 };
  const free = new EarliestFirst();
  let ends = new Float64Array(16);
  let count = 0;
  /** By subject: its last row plus 1. */
  let lastRow = new Uint32Array(256);
  /** By row: its last subject. */
  let lastSubject = new Int32Array(16);
  let lastNs = 0;
  for (let i = 0; i < rows.length; i++) {
    // hot
    const timeNs = samples.timeNs[rows[i]];
    const startNs = Number.isNaN(timeNs) ? lastNs : timeNs;
    lastNs = startNs;
    const subject = subjectOf(rows[i]);
    lastRow = grown(lastRow, subject + 1);
    const lateNs = LATE_INTERVALS * scale.intervalNs;
    const jitterNs = isOneAtATime ? lateNs : JITTER_INTERVALS * scale.intervalNs;
    let row = lastRow[subject] - 1;
    if (row < 0 || ends[row] > startNs + (lastSubject[row] === subject ? lateNs : jitterNs)) {
      row = free.take(ends, startNs + jitterNs);
      if (row < 0 && count === MAX_ROWS) row = MAX_ROWS - 1;
      if (row < 0) {
        row = count++;
        ends = grown(ends, count);
        lastSubject = grown(lastSubject, count);
      }
    }
    ends[row] = Math.max(ends[row], startNs) + samples.period[rows[i]] * scale.nsPerPeriod;
    free.add(row, ends[row]);
    lastSubject[row] = subject;
    lastRow[subject] = row + 1;
    rowOf[i] = row;
  }
  return { rowOf, count };
}

/** A heap of rows by the time at which they are free. A row may be in it several times; only the newest time counts. */
class EarliestFirst {
  #rows = new Uint32Array(64);
  #ends = new Float64Array(64);
  #size = 0;

  add(row: number, end: number): void {
    this.#rows = grown(this.#rows, this.#size + 1);
    this.#ends = grown(this.#ends, this.#size + 1);
    let at = this.#size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#ends[parent] <= end) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#rows[at] = row;
    this.#ends[at] = end;
  }

  /** Takes out a row that is free at a time. @param ends the newest time of each row @returns −1 when there is none */
  take(ends: Float64Array, timeNs: number): number {
    while (this.#size > 0 && this.#ends[0] <= timeNs) {
      const row = this.#rows[0];
      const end = this.#ends[0];
      this.#removeFirst();
      if (ends[row] === end) return row;
    }
    return -1;
  }

  #removeFirst(): void {
    const last = --this.#size;
    const end = this.#ends[last];
    const row = this.#rows[last];
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= last) break;
      if (child + 1 < last && this.#ends[child + 1] < this.#ends[child]) child++;
      if (this.#ends[child] >= end) break;
      this.#move(child, at);
      at = child;
    }
    this.#rows[at] = row;
    this.#ends[at] = end;
  }

  #move(from: number, to: number): void {
    this.#rows[to] = this.#rows[from];
    this.#ends[to] = this.#ends[from];
  }
}
