import { hasStack, type RecordRow } from './record-row.ts';

/**
 * After a switch off the CPU was recorded the kernel still runs on the thread's stack for a moment, where an NMI may sample it. A thread that is
 * sampled later than that has come back. Observed: Linux 6.18, 1 to 5 µs.
 */
const SWITCHING_NS = 50_000;
/** A sample and a record that come closer together than this are of the same switch. Observed: 1 to 10 µs, more where a hypervisor steps in. */
const SAME_SWITCH_NS = 1_000_000;

/** About what a map needs for a thread with an object, and with a number. Observed: Node 20. */
const WAIT_BYTES = 160;
const NUMBER_BYTES = 48;

/** How a switch was recorded: by a sample or by a record. Bits; a thread's next switch is by the same one again. */
export const BY_SAMPLE = 1;
export const BY_RECORD = 2;

/** The sample of a wait, by numbers of whoever asks. */
export interface WaitSample {
  /** What it is added up under, and its row where samples are kept. Of no meaning while it waits for the rest of its stack. */
  total: number;
  row: number;
  /** Where it waits for that; −1 where its stack is known. */
  place: number;
}

/** The time of a thread off its CPU, while that lasts. */
interface Wait {
  /** undefined where nobody wants it. */
  readonly sample: WaitSample | undefined;
  readonly pid: number;
  readonly startNs: number;
  /** Who has recorded the switch that it began with. */
  sources: number;
}

/** Adds to the period of a sample what lies between two times. */
export type AddPeriod = (sample: WaitSample, startNs: number, endNs: number) => void;

/** Where a thread leaves its CPU: see {@link RecordRow}. */
export type LeavingChain = Pick<RecordRow, 'chain' | 'unwound' | 'kernelChain' | 'cookieLo' | 'cookieHi'>;

/**
 * Finds how long threads are off the CPU. A wait begins with the switch out, which a sample, a SWITCH record or both may tell, and ends with the
 * switch in. Where that was not recorded, it ends where the thread is next seen. Threads that have ended do not wait, nor does the idle task.
 * All times come in order.
 */
export class OffCpuWaits {
  readonly #addPeriod: AddPeriod;
  readonly #waits = new Map<number, Wait>();
  readonly #ended = new Set<number>();
  /** By process, when it last started a program. */
  readonly #execNs = new Map<number, number>();
  /** By the machine's number of a thread its number in the recording, where the two differ, as in a container. */
  readonly #tidOf = new Map<number, number>();
  /** Callchains of samples that were taken for the switch that is recorded next. */
  readonly #chains = new Map<number, LeavingChain>();
  #lastNs = Number.NEGATIVE_INFINITY;
  /** Waits so far; those of them that ended where the thread was next seen; and those that lasted until the end. */
  waitCount = 0;
  unseenReturnCount = 0;
  openCount = 0;
  /** Switches whose times are not known. */
  untimedCount = 0;
  /** Whether any switch was recorded whose time is known. */
  hasSwitches = false;

  /** About how many bytes the threads need that are off their CPU, or have ended. */
  get heldObjectBytes(): number {
    return (this.#waits.size + this.#chains.size) * WAIT_BYTES + (this.#ended.size + this.#tidOf.size + this.#execNs.size) * NUMBER_BYTES;
  }

  /** @param addPeriod gets each wait, when it has ended */
  constructor(addPeriod: AddPeriod) {
    this.#addPeriod = addPeriod;
  }

  /** Time goes on. @param timeNs NaN for records without one */
  passTime(timeNs: number): void {
    if (timeNs > this.#lastNs) this.#lastNs = timeNs;
  }

  /** A sample was taken of a thread, which so is on a CPU. */
  see(tid: number, timeNs: number): void {
    const wait = this.#waits.get(tid);
    if (wait !== undefined && timeNs - wait.startNs > SWITCHING_NS) this.#endUnseen(tid, wait, timeNs);
    if (this.#chains.size > 0) this.#chains.delete(tid);
  }

  /** Notes where a thread leaves its CPU: a record of that follows. */
  noteChain(tid: number, row: LeavingChain): void {
    const { chain, unwound, kernelChain, cookieLo, cookieHi } = row;
    if (hasStack(row)) this.#chains.set(tid, { chain, unwound, kernelChain, cookieLo, cookieHi });
  }

  /** What was noted for the switch at hand, if anything. */
  takeChain(tid: number): LeavingChain | undefined {
    const noted = this.#chains.get(tid);
    if (noted !== undefined) this.#chains.delete(tid);
    return noted;
  }

  /**
   * A thread leaves its CPU. A wait of it that should have ended before does so now.
   * @returns whether that is news: then {@link begin} is to be called. It is none where another source has told it, or the thread has ended
   */
  leave(tid: number, timeNs: number, source: number): boolean {
    if (this.#isUntimed(timeNs)) return false;
    this.hasSwitches = true;
    const wait = this.#waits.get(tid);
    if (wait !== undefined) {
      if ((wait.sources & source) === 0 && timeNs - wait.startNs < SAME_SWITCH_NS) {
        wait.sources |= source;
        return false;
      }
      this.#endUnseen(tid, wait, timeNs);
    }
    return tid > 0 && !this.#ended.has(tid);
  }

  /** @param sample undefined where nobody wants it */
  begin(pid: number, tid: number, timeNs: number, source: number, sample: WaitSample | undefined): void {
    if (sample !== undefined) this.waitCount++;
    this.#waits.set(tid, { sample, pid, startNs: timeNs, sources: source });
  }

  /** A thread goes on a CPU. */
  return(tid: number, timeNs: number): void {
    if (this.#isUntimed(timeNs)) return;
    this.hasSwitches = true;
    if (this.#chains.size > 0) this.#chains.delete(tid);
    const wait = this.#waits.get(tid);
    if (wait !== undefined) this.#end(tid, wait, timeNs);
  }

  /** Notes by which numbers the machine and the recording know a thread. */
  learn(machineTid: number, tid: number): void {
    if (machineTid !== tid) this.#tidOf.set(machineTid, tid);
    else if (this.#tidOf.size > 0) this.#tidOf.delete(machineTid);
  }

  /** The number that a thread has in the recording. */
  tidOf(machineTid: number): number {
    return this.#tidOf.get(machineTid) ?? machineTid;
  }

  /** A thread has ended: it still leaves its CPU, but waits for nothing. Where that has no time, it comes before all that has one. */
  endThread(tid: number, timeNs: number): void {
    if (Number.isNaN(timeNs)) return;
    const wait = this.#waits.get(tid);
    if (wait !== undefined) this.#endUnseen(tid, wait, timeNs);
    this.#ended.add(tid);
  }

  /** A thread has begun, or has the number of one that has ended. */
  beginThread(tid: number): void {
    this.#ended.delete(tid);
    this.#endAtExec(tid);
    this.#waits.delete(tid);
  }

  /** A thread that seemed to have ended goes on, as one that has taken over its process by an exec. */
  goOn(tid: number): void {
    this.#ended.delete(tid);
  }

  /** A process starts a program: its main thread alone is left, whose number the thread has that called execve. */
  startProgram(pid: number, timeNs: number): void {
    if (!Number.isNaN(timeNs)) this.#execNs.set(pid, timeNs);
  }

  /** The recording has ended: waits last until then. */
  finish(): void {
    for (const [tid, wait] of this.#waits) {
      if (this.#endAtExec(tid)) continue;
      if (wait.sample !== undefined) this.openCount++;
      this.#end(tid, wait, this.#lastNs);
    }
  }

  /** The wait of a thread ends where its process started a program after it, unless it is the one that is left. @returns whether it did */
  #endAtExec(tid: number): boolean {
    const wait = this.#waits.get(tid);
    if (wait === undefined || wait.pid === tid) return false;
    const timeNs = this.#execNs.get(wait.pid) ?? Number.NEGATIVE_INFINITY;
    if (timeNs < wait.startNs) return false;
    this.#endUnseen(tid, wait, timeNs);
    return true;
  }

  #isUntimed(timeNs: number): boolean {
    if (!Number.isNaN(timeNs)) return false;
    this.untimedCount++;
    return true;
  }

  /** The wait of a thread ends at the latest where it is seen; a switch in was not recorded. */
  #endUnseen(tid: number, wait: Wait, timeNs: number): void {
    if (wait.sample !== undefined) this.unseenReturnCount++;
    this.#end(tid, wait, timeNs);
  }

  #end(tid: number, { sample, startNs }: Wait, timeNs: number): void {
    this.#waits.delete(tid);
    if (sample !== undefined && timeNs > startNs) this.#addPeriod(sample, startNs, timeNs);
  }
}
