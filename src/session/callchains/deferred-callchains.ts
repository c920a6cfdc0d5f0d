import { grown } from '../../base/tables/growable.ts';
import type { ProfileBuilder } from '../../profile/builder.ts';
import type { AddressSpace } from '../processes/address-space.ts';
import type { RecordRow } from '../rows/record-row.ts';
import type { CallchainTable } from './callchains.ts';
import type { FrameResolver } from './frames.ts';
import { WaitingSamples } from './waiting-samples.ts';

/**
 * Maximum number of samples that wait. A thread waits for one record at a time, which comes within microseconds unless the thread sleeps or the record was
 * lost.
 */
export const MAX_WAITING_SAMPLES = 1 << 15;

/** Words that are kept of a thread's last record; of the chain, its number + 1, so that 0 stands for none. */
const LastWord = { cookieLo: 0, cookieHi: 1, chain: 2 } as const;
const LAST_WORDS = 3;

/**
 * Called with each sample whose stack is now known.
 * @param place what {@link DeferredCallchains.add} returned
 * @param total, row those of the sample in the profile
 */
export type FinishSample = (place: number, total: number, row: number) => void;

/**
 * Joins samples with the user part of their callchains if that comes later, in a separate record.
 *
 * A sample gets its place in the profile at once, so that samples stay in time order, but counts only once its stack is known. The record belongs to all
 * samples of its thread with its cookie, which stands for one stay in the kernel. Addresses are located by what is mapped when the record comes: they were
 * taken then, and there may have been an exec in between. A sample whose record does not come keeps what it has.
 */
export class DeferredCallchains {
  readonly #chains: CallchainTable;
  readonly #frames: FrameResolver;
  readonly #profile: ProfileBuilder;
  readonly #leafIsSampleIp: boolean;
  readonly #onFinish: FinishSample | undefined;
  readonly #samples = new WaitingSamples();
  /** The last record of each thread: {@link LAST_WORDS} words, which {@link LastWord} names. */
  #last = new Int32Array(0);
  #unjoinedCount = 0;
  #unusedCount = 0;

  /**
   * @param leafIsSampleIp whether stacks begin with the samples' own addresses, whatever the callchains say
   * @param onFinish called when a sample that waited counts
   */
  constructor(chains: CallchainTable, frames: FrameResolver, profile: ProfileBuilder, leafIsSampleIp: boolean, onFinish?: FinishSample) {
    this.#chains = chains;
    this.#frames = frames;
    this.#profile = profile;
    this.#leafIsSampleIp = leafIsSampleIp;
    this.#onFinish = onFinish;
  }

  /** Number of samples whose record did not come. */
  get unjoinedCount(): number {
    return this.#unjoinedCount;
  }

  /** Number of records for which no sample waited. If a thread has several with one cookie, only the first is looked at. */
  get unusedCount(): number {
    return this.#unusedCount;
  }

  /** Bytes of the samples that wait, and of the last records of threads. */
  get heldBytes(): number {
    return this.#samples.heldBytes + this.#last.length * 4;
  }

  /**
   * Takes a sample whose callchain is not whole.
   * @param space what is mapped in its process
   * @returns its place, until it is finished; −1 if it need not wait: then its chain is whole, since the thread's record came before it. The kernel may be
   * interrupted between that record and its return to user code
   */
  add(row: RecordRow, thread: number, task: number, space: AddressSpace): number {
    const { cookieLo, cookieHi } = row;
    if (this.#isLast(thread, cookieLo, cookieHi)) {
      row.chain = this.#chains.internJoined(row.chain, row.kernelChain, this.#last[thread * LAST_WORDS + LastWord.chain] - 1, this.#leafIsSampleIp);
      row.kernelChain = -1;
      return -1;
    }
    const samples = this.#samples;
    if (samples.size >= MAX_WAITING_SAMPLES) this.#giveUp(samples.takeOldest());
    const place = samples.add(thread, cookieLo, cookieHi);
    samples.event[place] = row.event;
    samples.task[place] = task;
    samples.chain[place] = row.chain;
    samples.kernelChain[place] = row.kernelChain;
    samples.stack[place] = this.#frames.stackOf(row.chain, space);
    samples.row[place] = this.#profile.addUnfinishedSample(task, row);
    samples.period[place] = row.period;
    samples.addedPeriod[place] = row.periodRemainder;
    return place;
  }

  /** Adds to the period of a sample that waits. */
  addPeriod(place: number, period: number): void {
    this.#samples.addedPeriod[place] += period;
  }

  /**
   * Gives the user part of a record to the samples that wait for it.
   * @param row the record's: its cookie, and its chain
   * @param space what is mapped in the thread's process; undefined if there is no memory for more stacks: then the samples keep what they have
   */
  join({ chain: userChain, cookieLo, cookieHi }: RecordRow, thread: number, space: AddressSpace | undefined): void {
    if (this.#isLast(thread, cookieLo, cookieHi)) return;
    const at = thread * LAST_WORDS;
    this.#last = grown(this.#last, at + LAST_WORDS);
    this.#last[at + LastWord.cookieLo] = cookieLo;
    this.#last[at + LastWord.cookieHi] = cookieHi;
    this.#last[at + LastWord.chain] = userChain + 1;
    const samples = this.#samples;
    const first = samples.take(thread, cookieLo, cookieHi);
    if (first < 0) this.#unusedCount++;
    if (space === undefined) {
      this.#giveUp(first);
      return;
    }
    for (let place = first; place >= 0; place = samples.takeNext(place)) {
      const chain = this.#chains.internJoined(samples.chain[place], samples.kernelChain[place], userChain, this.#leafIsSampleIp);
      this.#finish(place, this.#frames.stackOf(chain, space));
    }
  }

  /** To be called at the end of the recording: gives up on samples that still wait. */
  finish(): void {
    for (let group = this.#samples.takeOldest(); group >= 0; group = this.#samples.takeOldest()) this.#giveUp(group);
  }

  #isLast(thread: number, cookieLo: number, cookieHi: number): boolean {
    const at = thread * LAST_WORDS;
    const last = this.#last;
    const isJoined = at < last.length && last[at + LastWord.chain] > 0;
    return isJoined && last[at + LastWord.cookieLo] === (cookieLo | 0) && last[at + LastWord.cookieHi] === (cookieHi | 0);
  }

  #giveUp(group: number): void {
    for (let place = group; place >= 0; place = this.#samples.takeNext(place)) {
      this.#unjoinedCount++;
      this.#finish(place, this.#samples.stack[place]);
    }
  }

  #finish(place: number, stack: number): void {
    const { event, task, row, period, addedPeriod } = this.#samples;
    const total = this.#profile.totals.intern(event[place], task[place], stack);
    this.#profile.finishSample(total, row[place], period[place]);
    if (addedPeriod[place] !== 0) this.#profile.addPeriod(total, row[place], addedPeriod[place]);
    this.#onFinish?.(place, total, row[place]);
  }
}
