import { grown } from '../base/growable.ts';

/** What a record takes in the queue, its places in the order included. */
export const QUEUED_ROW_BYTES = 64;

/** One queued record: the columns of {@link RecordQueue} at one row. Filled over and over. */
export interface QueuedRow {
  /** NaN where the record has no time that anything could be shown at. */
  timeNs: number;
  /** Position of the record in the file, counted from 0. */
  nr: number;
  /** Event of a sample; of another record, −1 − the value given as `other`. */
  event: number;
  pid: number;
  tid: number;
  cpu: number;
  chain: number;
  period: number;
  ipLo: number;
  ipHi: number;
  /** Row of a sample's details, −1 for none. */
  detail: number;
}

/**
 * Records waiting until their turn in time. perf writes what each CPU's buffer held, buffer after buffer, and ends such
 * a round with FINISHED_ROUND: whatever comes later is newer than what was there a full round before.
 *
 * Rows are columns, and only an order of row numbers is sorted: what the buffers hold is in order already, so merging
 * the ascending runs is all there is to do. Equal times keep file order.
 */
export class RecordQueue {
  #size = 0;
  #time = new Float64Array(4096);
  #period = new Float64Array(4096);
  #nr = new Uint32Array(4096);
  #event = new Int32Array(4096);
  #pid = new Int32Array(4096);
  #tid = new Int32Array(4096);
  #cpu = new Int32Array(4096);
  #chain = new Int32Array(4096);
  #ipLo = new Uint32Array(4096);
  #ipHi = new Uint32Array(4096);
  #detail = new Int32Array(4096);
  #order = new Uint32Array(4096);
  #scratch = new Uint32Array(4096);
  #doubles = new Float64Array(4096);
  #words = new Uint32Array(4096);
  #maxTime = Number.NEGATIVE_INFINITY;
  #flushUpTo = Number.NEGATIVE_INFINITY;
  #deliveredUpTo = Number.NEGATIVE_INFINITY;
  #late = 0;

  /** Number of records that wait. */
  get size(): number {
    return this.#size;
  }

  /** Number of records that came after newer ones had been delivered: the writer did not keep its rounds. */
  get lateCount(): number {
    return this.#late;
  }

  push(
    timeNs: number,
    nr: number,
    event: number,
    pid: number,
    tid: number,
    cpu: number,
    chain: number,
    period: number,
    ipLo: number,
    ipHi: number,
    detail: number,
  ): void {
    // hot
    const row = this.#size++;
    if (row === this.#time.length) this.#grow(row + 1);
    this.#time[row] = timeNs;
    this.#nr[row] = nr;
    this.#event[row] = event;
    this.#pid[row] = pid;
    this.#tid[row] = tid;
    this.#cpu[row] = cpu;
    this.#chain[row] = chain;
    this.#period[row] = period;
    this.#ipLo[row] = ipLo;
    this.#ipHi[row] = ipHi;
    this.#detail[row] = detail;
    if (timeNs > this.#maxTime && timeNs !== Number.POSITIVE_INFINITY) this.#maxTime = timeNs;
    if (timeNs < this.#deliveredUpTo) this.#late++;
  }

  /** FINISHED_ROUND: delivers what is not newer than the newest record of the round before. */
  finishRound(deliver: (row: QueuedRow) => void): void {
    this.#flush(this.#flushUpTo, deliver);
    this.#flushUpTo = this.#maxTime;
  }

  /** Delivers what is not newer than `limit`. For files without rounds. */
  flushUpTo(limit: number, deliver: (row: QueuedRow) => void): void {
    this.#flush(limit, deliver);
  }

  /** The newest time pushed since the last call; −Infinity when there was none. Not together with rounds. */
  takeNewestTime(): number {
    const newest = this.#maxTime;
    this.#maxTime = Number.NEGATIVE_INFINITY;
    return newest;
  }

  /** End of the recording: delivers everything. */
  finish(deliver: (row: QueuedRow) => void): void {
    this.#flush(Number.POSITIVE_INFINITY, deliver);
  }

  readonly #row: QueuedRow = { timeNs: 0, nr: 0, event: 0, pid: 0, tid: 0, cpu: 0, chain: 0, period: 0, ipLo: 0, ipHi: 0, detail: -1 };

  #flush(limit: number, deliver: (row: QueuedRow) => void): void {
    if (this.#size === 0 || limit === Number.NEGATIVE_INFINITY) return;
    const order = this.#sorted();
    const row = this.#row;
    let done = 0;
    for (; done < this.#size; done++) {
      // hot
      const at = order[done];
      const timeNs = this.#time[at];
      if (timeNs > limit) break;
      row.timeNs = shownTime(timeNs);
      row.nr = this.#nr[at];
      row.event = this.#event[at];
      row.pid = this.#pid[at];
      row.tid = this.#tid[at];
      row.cpu = this.#cpu[at];
      row.chain = this.#chain[at];
      row.period = this.#period[at];
      row.ipLo = this.#ipLo[at];
      row.ipHi = this.#ipHi[at];
      row.detail = this.#detail[at];
      deliver(row);
    }
    if (done > 0) this.#deliveredUpTo = Math.max(this.#deliveredUpTo, this.#time[order[done - 1]]);
    this.#keepFrom(order, done);
  }

  /** Row numbers in the order of time. */
  #sorted(): Uint32Array {
    const size = this.#size;
    const time = this.#time;
    let from = grown(this.#order, size);
    let into = grown(this.#scratch, size);
    let runs: number[] = [0];
    from[0] = 0;
    for (let row = 1; row < size; row++) {
      from[row] = row;
      if (time[row] < time[row - 1]) runs.push(row);
    }
    while (runs.length > 1) {
      const merged: number[] = [];
      for (let i = 0; i < runs.length; i += 2) {
        const start = runs[i];
        const middle = i + 1 < runs.length ? runs[i + 1] : size;
        const end = i + 2 < runs.length ? runs[i + 2] : size;
        mergeRuns(time, from, into, start, middle, end);
        merged.push(start);
      }
      runs = merged;
      [from, into] = [into, from];
    }
    this.#order = from;
    this.#scratch = into;
    return from;
  }

  /** Moves the rows from `order[done]` on to the front, in their order. */
  #keepFrom(order: Uint32Array, done: number): void {
    const kept = this.#size - done;
    this.#size = kept;
    if (kept === 0 || done === 0) return;
    const rows = order.subarray(done, done + kept);
    const doubles = grown(this.#doubles, kept);
    const words = grown(this.#words, kept);
    this.#doubles = doubles;
    this.#words = words;
    gather(this.#time, rows, doubles);
    gather(this.#period, rows, doubles);
    gather(this.#nr, rows, words);
    gather(this.#event, rows, words);
    gather(this.#pid, rows, words);
    gather(this.#tid, rows, words);
    gather(this.#cpu, rows, words);
    gather(this.#chain, rows, words);
    gather(this.#ipLo, rows, words);
    gather(this.#ipHi, rows, words);
    gather(this.#detail, rows, words);
  }

  #grow(length: number): void {
    this.#time = grown(this.#time, length);
    this.#period = grown(this.#period, length);
    this.#nr = grown(this.#nr, length);
    this.#event = grown(this.#event, length);
    this.#pid = grown(this.#pid, length);
    this.#tid = grown(this.#tid, length);
    this.#cpu = grown(this.#cpu, length);
    this.#chain = grown(this.#chain, length);
    this.#ipLo = grown(this.#ipLo, length);
    this.#ipHi = grown(this.#ipHi, length);
    this.#detail = grown(this.#detail, length);
  }
}

/** A time behind all others (Infinity) is good for the order only. @returns NaN for it */
export function shownTime(timeNs: number): number {
  return timeNs === Number.POSITIVE_INFINITY ? Number.NaN : timeNs;
}

/** Merges the ascending runs [start, middle) and [middle, end) of row numbers; of equal times the left one goes first. */
function mergeRuns(time: Float64Array, from: Uint32Array, into: Uint32Array, start: number, middle: number, end: number): void {
  // hot
  let left = start;
  let right = middle;
  for (let at = start; at < end; at++) {
    if (right >= end || (left < middle && time[from[left]] <= time[from[right]])) into[at] = from[left++];
    else into[at] = from[right++];
  }
}

/** Puts `column[rows[i]]` at `i`, by way of a scratch column. */
function gather(column: Float64Array | Uint32Array | Int32Array, rows: Uint32Array, scratch: Float64Array | Uint32Array): void {
  // hot
  for (let i = 0; i < rows.length; i++) scratch[i] = column[rows[i]];
  column.set(scratch.subarray(0, rows.length));
}
