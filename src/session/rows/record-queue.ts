import { grown } from '../../base/tables/growable.ts';
import { PeriodRemainders } from './period-remainders.ts';
import { NOT_UNWOUND, RecordRow } from './record-row.ts';

/** Bytes of a record in the queue, including its places in the order; then those of what only some recordings have. */
const ROW_BYTES = 64;
const PLACE_BYTES = 4;
const DEFERRED_BYTES = 12;

/** Columns for samples whose callchains are not whole, and for the records that have the rest. */
interface DeferredColumns {
  kernelChain: Int32Array;
  cookieLo: Uint32Array;
  cookieHi: Uint32Array;
}

/**
 * Replays a row whose turn has come.
 * @returns false if something has to be read first: then the row is delivered again, and no other one until it is accepted
 */
export type Deliver = (row: RecordRow) => boolean;

/**
 * Records that wait for their turn in time. perf writes what is in each CPU's buffer, one buffer after another, and ends such a round with FINISHED_ROUND:
 * whatever comes later is newer than what came before that round.
 *
 * Rows are kept in columns, and only their numbers are sorted. What the buffers hold is in order already, so that only the ascending runs have to be merged.
 * Equal times keep file order.
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
  #extras = new Int32Array(4096);
  /** Undefined while no record has one. */
  #stackDump: Int32Array | undefined;
  #branches: Int32Array | undefined;
  /** 1 for a record without a time. Undefined while every record has one. */
  #isUntimed: Int32Array | undefined;
  /** Undefined while no record has a cookie. */
  #deferred: DeferredColumns | undefined;
  readonly #periodRemainders = new PeriodRemainders();
  #order = new Uint32Array(4096);
  #scratch = new Uint32Array(4096);
  #doubles = new Float64Array(4096);
  #words = new Uint32Array(4096);
  #maxTime = Number.NEGATIVE_INFINITY;
  #flushUpTo = Number.NEGATIVE_INFINITY;
  #deliveredUpTo = Number.NEGATIVE_INFINITY;
  #late = 0;
  /** The time up to which rows were being delivered when one was not accepted. */
  #stoppedBefore = Number.NEGATIVE_INFINITY;

  /** Number of records that wait. */
  get size(): number {
    return this.#size;
  }

  /** Bytes of the waiting rows. */
  get heldBytes(): number {
    const optional = [this.#stackDump, this.#branches, this.#isUntimed].filter((column) => column !== undefined);
    return this.#size * (ROW_BYTES + optional.length * PLACE_BYTES + (this.#deferred === undefined ? 0 : DEFERRED_BYTES));
  }

  /** About how many bytes the remainders of periods need. */
  get heldObjectBytes(): number {
    return this.#periodRemainders.heldObjectBytes;
  }

  /** Number of records that came after newer ones had been delivered: the writer did not keep to its rounds. */
  get lateCount(): number {
    return this.#late;
  }

  /**
   * Copies a row.
   * @param turnNs when its turn is: a number, its own time if it has one
   */
  push(row: RecordRow, turnNs: number): void {
    // hot
    const at = this.#size++;
    if (at === this.#time.length) this.#grow(at + 1);
    this.#time[at] = turnNs;
    this.#nr[at] = row.nr;
    this.#event[at] = row.event;
    this.#pid[at] = row.pid;
    this.#tid[at] = row.tid;
    this.#cpu[at] = row.cpu;
    this.#chain[at] = row.chain;
    this.#period[at] = row.period;
    this.#ipLo[at] = row.ipLo;
    this.#ipHi[at] = row.ipHi;
    this.#detail[at] = row.detail;
    this.#extras[at] = row.extra;
    if (row.stackDump >= 0 || this.#stackDump !== undefined) this.#putStackDump(at, row.stackDump);
    if (row.branches >= 0 || this.#branches !== undefined) this.#putBranches(at, row.branches);
    if (row.kernelChain >= 0 || row.cookieLo !== 0 || this.#deferred !== undefined) this.#putDeferred(at, row);
    if (row.periodRemainder !== 0) this.#periodRemainders.put(row.nr, row.periodRemainder);
    const isUntimed = Number.isNaN(row.timeNs);
    if (isUntimed || this.#isUntimed !== undefined) this.#putUntimed(at, isUntimed);
    if (isUntimed) return;
    if (turnNs > this.#maxTime && turnNs !== Number.POSITIVE_INFINITY) this.#maxTime = turnNs;
    if (turnNs < this.#deliveredUpTo) this.#late++;
  }

  #putUntimed(at: number, isUntimed: boolean): void {
    // hot
    this.#isUntimed ??= new Int32Array(this.#time.length);
    this.#isUntimed[at] = isUntimed ? 1 : 0;
  }

  #putStackDump(at: number, place: number): void {
    // hot
    this.#stackDump ??= new Int32Array(this.#time.length).fill(-1);
    this.#stackDump[at] = place;
  }

  #putBranches(at: number, place: number): void {
    // hot
    this.#branches ??= new Int32Array(this.#time.length).fill(-1);
    this.#branches[at] = place;
  }

  #putDeferred(at: number, { kernelChain, cookieLo, cookieHi }: RecordRow): void {
    const { length } = this.#time;
    this.#deferred ??= { kernelChain: new Int32Array(length).fill(-1), cookieLo: new Uint32Array(length), cookieHi: new Uint32Array(length) };
    this.#deferred.kernelChain[at] = kernelChain;
    this.#deferred.cookieLo[at] = cookieLo;
    this.#deferred.cookieHi[at] = cookieHi;
  }

  #takeDeferred(at: number, row: RecordRow): void {
    const columns = this.#deferred;
    if (columns === undefined) return;
    row.kernelChain = columns.kernelChain[at];
    row.cookieLo = columns.cookieLo[at];
    row.cookieHi = columns.cookieHi[at];
  }

  /** FINISHED_ROUND: delivers what is not newer than the newest record of the round before. @returns see {@link flushUpTo} */
  finishRound(deliver: Deliver): boolean {
    const limit = this.#flushUpTo;
    this.#flushUpTo = this.#maxTime;
    return this.#flush(limit, deliver);
  }

  /**
   * Delivers what is not newer than `limit`. For files without rounds.
   * @returns false if a row was not accepted: then nothing may be pushed before {@link resume} has returned true
   */
  flushUpTo(limit: number, deliver: Deliver): boolean {
    return this.#flush(limit, deliver);
  }

  /** Goes on from the row that was not accepted. @returns false if a row is not accepted again */
  resume(deliver: Deliver): boolean {
    return this.#flush(this.#stoppedBefore, deliver);
  }

  /** The newest time pushed since the last call; −Infinity if there was none. Not to be used together with rounds. */
  takeNewestTime(): number {
    const newest = this.#maxTime;
    this.#maxTime = Number.NEGATIVE_INFINITY;
    return newest;
  }

  /** End of the recording: delivers everything. @returns see {@link flushUpTo} */
  finish(deliver: Deliver): boolean {
    return this.#flush(Number.POSITIVE_INFINITY, deliver);
  }

  readonly #row = new RecordRow();

  #flush(limit: number, deliver: Deliver): boolean {
    if (this.#size === 0 || limit === Number.NEGATIVE_INFINITY) return true;
    const order = this.#sorted();
    const row = this.#row;
    let done = 0;
    let isAccepted = true;
    for (; done < this.#size; done++) {
      // hot
      const at = order[done];
      if (this.#time[at] > limit) break;
      this.#fill(row, at);
      if (!deliver(row)) {
        isAccepted = false;
        break;
      }
    }
    if (!isAccepted) {
      this.#stoppedBefore = limit;
      if (row.periodRemainder !== 0) this.#periodRemainders.put(row.nr, row.periodRemainder);
    }
    if (done > 0) this.#deliveredUpTo = Math.max(this.#deliveredUpTo, this.#time[order[done - 1]]);
    this.#keepFrom(order, done);
    return isAccepted;
  }

  /** Fills a row with what was pushed at a place. The remainder of its period is taken out of the queue. */
  #fill(row: RecordRow, at: number): void {
    // hot
    const isTimed = this.#isUntimed === undefined || this.#isUntimed[at] === 0;
    row.timeNs = isTimed ? shownTime(this.#time[at]) : Number.NaN;
    row.nr = this.#nr[at];
    row.event = this.#event[at];
    row.pid = this.#pid[at];
    row.tid = this.#tid[at];
    row.cpu = this.#cpu[at];
    row.chain = this.#chain[at];
    row.unwound = NOT_UNWOUND;
    row.period = this.#period[at];
    row.ipLo = this.#ipLo[at];
    row.ipHi = this.#ipHi[at];
    row.detail = this.#detail[at];
    row.extra = this.#extras[at];
    row.stackDump = this.#stackDump === undefined ? -1 : this.#stackDump[at];
    row.branches = this.#branches === undefined ? -1 : this.#branches[at];
    if (this.#deferred !== undefined) this.#takeDeferred(at, row);
    row.periodRemainder = this.#periodRemainders.isEmpty ? 0 : this.#periodRemainders.take(row.nr);
  }

  /** Row numbers in time order. */
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
    // In a loop over the columns: V8 takes a tenth of a second to compile one loop per column.
    for (const column of [this.#time, this.#period]) gather(column, rows, doubles);
    for (const column of this.#wordColumns()) gather(column, rows, words);
  }

  #wordColumns(): (Uint32Array | Int32Array)[] {
    const columns: (Uint32Array | Int32Array)[] = [
      this.#nr,
      this.#event,
      this.#pid,
      this.#tid,
      this.#cpu,
      this.#chain,
      this.#ipLo,
      this.#ipHi,
      this.#detail,
      this.#extras,
    ];
    if (this.#stackDump !== undefined) columns.push(this.#stackDump);
    if (this.#branches !== undefined) columns.push(this.#branches);
    if (this.#isUntimed !== undefined) columns.push(this.#isUntimed);
    if (this.#deferred !== undefined) columns.push(this.#deferred.kernelChain, this.#deferred.cookieLo, this.#deferred.cookieHi);
    return columns;
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
    this.#extras = grown(this.#extras, length);
    if (this.#stackDump !== undefined) this.#stackDump = grown(this.#stackDump, length);
    if (this.#branches !== undefined) this.#branches = grown(this.#branches, length);
    if (this.#isUntimed !== undefined) this.#isUntimed = grown(this.#isUntimed, length);
    if (this.#deferred === undefined) return;
    this.#deferred.kernelChain = grown(this.#deferred.kernelChain, length);
    this.#deferred.cookieLo = grown(this.#deferred.cookieLo, length);
    this.#deferred.cookieHi = grown(this.#deferred.cookieHi, length);
  }
}

/** A row's time as it is shown: NaN for Infinity, which only puts the row after all others. */
function shownTime(timeNs: number): number {
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
