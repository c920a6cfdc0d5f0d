import { type Deliver, RecordQueue } from './record-queue.ts';
import type { RecordRow } from './record-row.ts';

/** How the records of a recording are arranged in its files. */
export interface RecordOrderRules {
  /**
   * Whether records take effect in file order. Before Linux 2.6.38, only samples had times (no `sample_id_all`), and sorting them would separate them from the
   * maps and names that come before them. Observed: perf 6.1 does so with files, not with pipes.
   */
  readonly isInFileOrder: boolean;
  /**
   * Whether samples without a time take effect with the record before them in the file that has one: each of the kernel's buffers is in order. Else they take
   * effect at once, before what precedes them in their round, as in perf 6.1 (observed).
   */
  readonly keepsUntimedInPlace: boolean;
  /** Number of a directory's further files; 0 for a recording in one file. */
  readonly partCount: number;
}

/** Brings records into the order in which they take effect: that of their times, as far as they have any. */
export class RecordOrder {
  readonly #queue = new RecordQueue();
  readonly #isInFileOrder: boolean;
  readonly #keepsUntimedInPlace: boolean;
  /** The time of the last record that has one; NaN before there is one, and for a directory at the beginning of a piece. */
  #lastNs = Number.NaN;
  /** Undefined for a recording in one file. */
  readonly #partTimes: PartTimes | undefined;
  #deliver: Deliver;
  /** Whether all records wait for the end of the recording. */
  #holdsAll = false;
  /** For records in file order: the newest time so far, and how many were older. */
  #newestNs = Number.NEGATIVE_INFINITY;
  #olderCount = 0;

  /** Whether a row was not accepted, and the row itself if it did not come out of the queue. */
  #isBlocked = false;
  #blockedRow: RecordRow | undefined;

  /** @param deliver called with each row when its turn has come */
  constructor({ isInFileOrder, keepsUntimedInPlace, partCount }: RecordOrderRules, deliver: Deliver) {
    this.#isInFileOrder = isInFileOrder;
    this.#keepsUntimedInPlace = keepsUntimedInPlace;
    this.#partTimes = partCount === 0 ? undefined : new PartTimes(partCount);
    this.#deliver = deliver;
  }

  /** The records that wait for their turn. */
  get queue(): Pick<RecordQueue, 'size' | 'heldBytes' | 'heldObjectBytes'> {
    return this.#queue;
  }

  /** Number of records that came after newer ones had been delivered: the writer did not keep to its rounds. */
  get lateCount(): number {
    return this.#queue.lateCount;
  }

  /** Number of records in file order that are older than one before them. */
  get olderCount(): number {
    return this.#olderCount;
  }

  /** Whether a row was not accepted: before {@link resume} has ended that, nothing may be added. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** Goes on with the row that was not accepted. */
  resume(): void {
    const row = this.#blockedRow;
    this.#isBlocked = !(row === undefined ? this.#queue.resume(this.#deliver) : this.#deliver(row));
    if (!this.#isBlocked) this.#blockedRow = undefined;
  }

  /**
   * Accepts the next record of the file. One without a time takes effect at once, unless {@link RecordOrderRules.keepsUntimedInPlace} says otherwise.
   * @param row kept as long as it is not accepted
   */
  add(row: RecordRow): void {
    // hot
    const { timeNs } = row;
    if (!this.#isInFileOrder) {
      const turnNs = this.#turnOf(row);
      if (!Number.isNaN(turnNs)) {
        this.#queue.push(row, turnNs);
        return;
      }
    }
    // In file order, or without a time. NaN fails both comparisons, and so does Infinity, which `RecordingClock` gives to what comes after all times.
    if (timeNs < this.#newestNs) this.#olderCount++;
    else if (timeNs < Number.POSITIVE_INFINITY) this.#newestNs = timeNs;
    else row.timeNs = Number.NaN;
    if (this.#deliver(row)) return;
    this.#isBlocked = true;
    this.#blockedRow = row;
  }

  /** When the turn of a row is; NaN if it is now. */
  #turnOf({ timeNs, event }: RecordRow): number {
    // hot
    if (Number.isNaN(timeNs)) return this.#keepsUntimedInPlace && event >= 0 ? this.#lastNs : Number.NaN;
    if (timeNs !== Number.POSITIVE_INFINITY) this.#lastNs = timeNs;
    return timeNs;
  }

  /** Lets all records wait until {@link flushUpTo} or {@link finish}: older ones may come to the very end. */
  holdAll(): void {
    this.#holdsAll = true;
  }

  /** Has rows delivered in another way from now on. */
  deliverThrough(deliver: Deliver): void {
    this.#deliver = deliver;
  }

  /** Adds a row that was made from others when all of these have been read. @param turnNs when its turn is */
  addMade(row: RecordRow, turnNs: number): void {
    // hot
    this.#queue.push(row, turnNs);
  }

  /** Delivers what is not newer than a time. */
  flushUpTo(timeNs: number): void {
    this.#isBlocked = !this.#queue.flushUpTo(timeNs, this.#deliver);
  }

  /** FINISHED_ROUND. The files of a directory have rounds of their own, which say nothing about each other. */
  finishRound(): void {
    if (this.#partTimes === undefined && !this.#holdsAll) this.#isBlocked = !this.#queue.finishRound(this.#deliver);
  }

  /** See {@link RecordVisitor.endPiece}. */
  endPiece(part: number, isLast: boolean): number {
    const times = this.#partTimes;
    if (times === undefined || this.#holdsAll) return 0;
    this.#lastNs = Number.NaN;
    this.#isBlocked = !this.#queue.flushUpTo(times.endPiece(part, this.#queue.takeNewestTime(), isLast), this.#deliver);
    return times.newestOf(part);
  }

  /** To be called at the end of the recording: delivers what still waits. */
  finish(): void {
    this.#isBlocked = !this.#queue.finish(this.#deliver);
  }
}

/**
 * How far in time the files of a directory recording have been read. Each has what was in one buffer of the kernel, so that it is in order, except for records
 * that overtook one another by a little; none says anything about the others.
 */
class PartTimes {
  readonly #newest: Float64Array;
  /** The newest time when the piece before was read: nothing older comes any more. */
  readonly #settled: Float64Array;

  #isFirstPiece = true;

  /** @param count number of files */
  constructor(count: number) {
    this.#newest = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
    this.#settled = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
  }

  /**
   * Notes that a piece of a part was read.
   * @param newestTime of the records since the last call; −Infinity if none has a time. At the first call, these include the records of the file `data`, which
   * may be newer than all of the part's: that time says nothing about the part
   * @returns the time up to which all parts are settled
   */
  endPiece(part: number, newestTime: number, isLast: boolean): number {
    this.#settled[part] = isLast ? Number.POSITIVE_INFINITY : this.#newest[part];
    if (!this.#isFirstPiece) this.#newest[part] = Math.max(this.#newest[part], newestTime);
    this.#isFirstPiece = false;
    return this.#settled.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY);
  }

  newestOf(part: number): number {
    return this.#newest[part];
  }
}
