import { allocated, grown } from '../../base/tables/growable.ts';

/** A power of two. */
const BUCKETS = 1 << 14;
/** Bytes of a sample in all columns. */
const SAMPLE_BYTES = 80;

/**
 * Samples that wait for the rest of their callchains. Those of one thread with one cookie form a group, which is taken out as a whole: by its thread and
 * cookie, or because it is the oldest. Everything is in columns, by place; a group is identified by the place of its first sample.
 */
export class WaitingSamples {
  /** What the session knows about each sample, for the caller of {@link add} to fill. The arrays are replaced when they grow. */
  event = new Int32Array(64);
  task = new Int32Array(64);
  /** See {@link RecordRow}: `chain` is the sample's chain without the rest, and `stack` is the stack of that. */
  chain = new Int32Array(64);
  kernelChain = new Int32Array(64);
  stack = new Int32Array(64);
  /** Row of the profile's samples; −1 if they are not kept. */
  row = new Int32Array(64);
  period = new Float64Array(64);
  /** What is added to the period: the remainder of one that is not exact as a double, or how long a wait has lasted. */
  addedPeriod = new Float64Array(64);

  // Of a group, at the place of its first sample.
  #thread = new Int32Array(64);
  #cookieLo = new Int32Array(64);
  #cookieHi = new Int32Array(64);
  #last = new Int32Array(64);
  #nextInBucket = new Int32Array(64);
  #older = new Int32Array(64);
  #newer = new Int32Array(64);
  /** The next sample of the group, or the next free place; −1 for none. */
  #next = new Int32Array(64);

  #buckets: Int32Array | undefined;
  #oldest = -1;
  #newest = -1;
  #firstFree = -1;
  #placeCount = 0;
  #size = 0;

  /** Number of samples that wait. */
  get size(): number {
    return this.#size;
  }

  /** Bytes of the columns. */
  get heldBytes(): number {
    return this.#placeCount * SAMPLE_BYTES + (this.#buckets === undefined ? 0 : BUCKETS * 4);
  }

  /** Adds a sample to the group of its thread and cookie. @returns its place in the columns, which are to be filled */
  add(thread: number, cookieLo: number, cookieHi: number): number {
    const place = this.#newPlace();
    this.#next[place] = -1;
    this.#size++;
    const group = this.#find(thread, cookieLo, cookieHi);
    if (group >= 0) {
      this.#next[this.#last[group]] = place;
      this.#last[group] = place;
      return place;
    }
    this.#thread[place] = thread;
    this.#cookieLo[place] = cookieLo;
    this.#cookieHi[place] = cookieHi;
    this.#last[place] = place;
    this.#buckets ??= allocated(Int32Array, BUCKETS).fill(-1);
    const bucket = bucketOf(thread, cookieLo, cookieHi);
    this.#nextInBucket[place] = this.#buckets[bucket];
    this.#buckets[bucket] = place;
    this.#older[place] = this.#newest;
    this.#newer[place] = -1;
    if (this.#newest >= 0) this.#newer[this.#newest] = place;
    else this.#oldest = place;
    this.#newest = place;
    return place;
  }

  /** Takes a group out. @returns the place of its first sample, −1 if there is none: {@link takeNext} gives the further ones */
  take(thread: number, cookieLo: number, cookieHi: number): number {
    const group = this.#find(thread, cookieLo, cookieHi);
    if (group >= 0) this.#unlink(group);
    return group;
  }

  /** Takes the group out whose first sample has waited longest. @returns as {@link take} */
  takeOldest(): number {
    const group = this.#oldest;
    if (group >= 0) this.#unlink(group);
    return group;
  }

  /** Frees the place of a sample that was taken out. @returns the place of the next one of its group, −1 after the last */
  takeNext(place: number): number {
    const next = this.#next[place];
    this.#next[place] = this.#firstFree;
    this.#firstFree = place;
    this.#size--;
    return next;
  }

  #find(thread: number, cookieLo: number, cookieHi: number): number {
    if (this.#buckets === undefined) return -1;
    let group = this.#buckets[bucketOf(thread, cookieLo, cookieHi)];
    while (group >= 0 && !this.#isOf(group, thread, cookieLo, cookieHi)) group = this.#nextInBucket[group];
    return group;
  }

  #isOf(group: number, thread: number, cookieLo: number, cookieHi: number): boolean {
    return this.#cookieLo[group] === (cookieLo | 0) && this.#cookieHi[group] === (cookieHi | 0) && this.#thread[group] === thread;
  }

  #unlink(group: number): void {
    const buckets = this.#buckets as Int32Array;
    const bucket = bucketOf(this.#thread[group], this.#cookieLo[group], this.#cookieHi[group]);
    const nextInBucket = this.#nextInBucket[group];
    if (buckets[bucket] === group) {
      buckets[bucket] = nextInBucket;
    } else {
      let before = buckets[bucket];
      while (this.#nextInBucket[before] !== group) before = this.#nextInBucket[before];
      this.#nextInBucket[before] = nextInBucket;
    }
    const older = this.#older[group];
    const newer = this.#newer[group];
    if (older >= 0) this.#newer[older] = newer;
    else this.#oldest = newer;
    if (newer >= 0) this.#older[newer] = older;
    else this.#newest = older;
  }

  #newPlace(): number {
    const free = this.#firstFree;
    if (free >= 0) {
      this.#firstFree = this.#next[free];
      return free;
    }
    const place = this.#placeCount++;
    if (place === this.event.length) this.#grow(place + 1);
    return place;
  }

  #grow(length: number): void {
    this.event = grown(this.event, length);
    this.task = grown(this.task, length);
    this.chain = grown(this.chain, length);
    this.kernelChain = grown(this.kernelChain, length);
    this.stack = grown(this.stack, length);
    this.row = grown(this.row, length);
    this.period = grown(this.period, length);
    this.addedPeriod = grown(this.addedPeriod, length);
    this.#thread = grown(this.#thread, length);
    this.#cookieLo = grown(this.#cookieLo, length);
    this.#cookieHi = grown(this.#cookieHi, length);
    this.#last = grown(this.#last, length);
    this.#nextInBucket = grown(this.#nextInBucket, length);
    this.#older = grown(this.#older, length);
    this.#newer = grown(this.#newer, length);
    this.#next = grown(this.#next, length);
  }
}

function bucketOf(thread: number, cookieLo: number, cookieHi: number): number {
  const hash = Math.imul(Math.imul(cookieLo ^ Math.imul(cookieHi, 0x85ebca6b), 0x9e3779b1) ^ thread, 0xc2b2ae35);
  return (hash ^ (hash >>> 15)) & (BUCKETS - 1);
}
