import { hasStack, type RecordRow } from '../rows/record-row.ts';

/**
 * After a switch off the CPU was recorded, the kernel still runs on the thread's stack for a moment, when an NMI may sample it. A thread that is sampled later
 * than this has come back. Observed: Linux 6.18, 1 to 5 µs.
 */
const SWITCHING_NS = 50_000;
/** A sample and a record that come closer together than this are of the same switch. Observed: 1 to 10 µs, more where a hypervisor steps in. */
const SAME_SWITCH_NS = 1_000_000;

/** About how many bytes a map needs for a thread with an object, and for one with a number. Observed: Node 20. */
const WAIT_BYTES = 160;
const NUMBER_BYTES = 48;

/*
 * Bits that say how a switch was recorded: by a record, or by a sample of an event, of which there may be several (`-e 'sched:*' -e sched:sched_switch`). If the
 * same one comes again, it is the thread's next switch.
 */
export const BY_RECORD = 1;
/** Events that share a bit are taken for one. */
export const bySampleOf = (event: number): number => 2 << (event % 30);

/** The sample of a wait, identified by the caller's numbers. */
export interface WaitSample {
  /** The total that it counts for, and its row if samples are kept. Meaningless while it waits for the rest of its stack. */
  total: number;
  row: number;
  /** Where it waits for that; −1 once its stack is known. */
  place: number;
}

/** A thread's time off the CPU that has not ended yet. */
interface Wait {
  /** Undefined if nobody wants it. */
  readonly sample: WaitSample | undefined;
  readonly pid: number;
  readonly startNs: number;
  /** How the switch that it began with was recorded: the bits above. */
  sources: number;
}

/** Adds the time between two moments to the period of a sample. */
export type AddPeriod = (sample: WaitSample, startNs: number, endNs: number) => void;

/** Where a thread leaves its CPU: see {@link RecordRow}. */
export type LeavingChain = Pick<RecordRow, 'chain' | 'unwound' | 'kernelChain' | 'cookieLo' | 'cookieHi'>;

/**
 * Finds how long threads are off the CPU. A wait begins with the switch out, which a sample, a SWITCH record or both may report, and ends with the switch in
 * or, if that was not recorded, when the thread is next seen. Threads that have ended do not wait, nor does the idle task. All times come in order.
 */
export class OffCpuWaits {
  readonly #addPeriod: AddPeriod;
  readonly #waits = new Map<number, Wait>();
  readonly #ended = new Set<number>();
  /** By process, when it last started a program. */
  readonly #execNs = new Map<number, number>();
  /** Whether threads have other numbers in the recording than on the machine, as in a container. */
  #isContainer = false;
  /** In a container: by a thread's number on the machine, its number in the recording. */
  readonly #tidOf = new Map<number, number>();
  /** By thread: the callchain of a sample that was taken at the switch that is recorded next. */
  readonly #chains = new Map<number, LeavingChain>();
  #lastNs = Number.NEGATIVE_INFINITY;
  /** Number of waits so far; of those that ended when the thread was next seen; and of those that lasted until the end. */
  waitCount = 0;
  unseenReturnCount = 0;
  openCount = 0;
  /** Number of switches whose times are unknown. */
  untimedCount = 0;
  /** Whether any switch was recorded whose time is known. */
  hasSwitches = false;

  /** About how many bytes the threads need that are off their CPU, or have ended. */
  get heldObjectBytes(): number {
    return (this.#waits.size + this.#chains.size) * WAIT_BYTES + (this.#ended.size + this.#tidOf.size + this.#execNs.size) * NUMBER_BYTES;
  }

  /** @param addPeriod called for each wait that has ended */
  constructor(addPeriod: AddPeriod) {
    this.#addPeriod = addPeriod;
  }

  /** Notes how far time has advanced. @param timeNs NaN for records without one */
  passTime(timeNs: number): void {
    if (timeNs > this.#lastNs) this.#lastNs = timeNs;
  }

  /** Notes that a thread is on a CPU, because it was sampled. */
  see(tid: number, timeNs: number): void {
    const wait = this.#waits.get(tid);
    if (wait !== undefined && timeNs - wait.startNs > SWITCHING_NS) this.#endUnseen(tid, wait, timeNs);
    if (this.#chains.size > 0) this.#chains.delete(tid);
  }

  /** Notes the stack with which a thread leaves its CPU: a record of the switch follows. */
  noteChain(tid: number, row: LeavingChain): void {
    const { chain, unwound, kernelChain, cookieLo, cookieHi } = row;
    if (hasStack(row)) this.#chains.set(tid, { chain, unwound, kernelChain, cookieLo, cookieHi });
  }

  /** Takes the stack that was noted for a thread's current switch, if any. */
  takeChain(tid: number): LeavingChain | undefined {
    const noted = this.#chains.get(tid);
    if (noted !== undefined) this.#chains.delete(tid);
    return noted;
  }

  /**
   * Notes that a thread leaves its CPU. If it still seems to wait, that wait ends now.
   * @param comesBack whether its state says that this is not its last switch: a thread that exits gives back its memory after the record of that, and may wait
   * @returns whether {@link begin} is to be called: not if the other source has already reported the switch, or the thread has ended
   */
  leave(tid: number, timeNs: number, source: number, comesBack: boolean): boolean {
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
    return tid > 0 && (comesBack || !this.#ended.has(tid));
  }

  /** @param sample undefined if nobody wants it */
  begin(pid: number, tid: number, timeNs: number, source: number, sample: WaitSample | undefined): void {
    if (sample !== undefined) this.waitCount++;
    this.#waits.set(tid, { sample, pid, startNs: timeNs, sources: source });
  }

  /** Notes that a thread is switched to a CPU. */
  return(tid: number, timeNs: number): void {
    if (this.#isUntimed(timeNs)) return;
    this.hasSwitches = true;
    if (this.#chains.size > 0) this.#chains.delete(tid);
    const wait = this.#waits.get(tid);
    if (wait !== undefined) this.#end(tid, wait, timeNs);
  }

  /** Notes by which numbers the machine and the recording know a thread. */
  noteThreadNumbers(machineTid: number, tid: number): void {
    if (machineTid !== tid) this.#isContainer = true;
    if (this.#isContainer) this.#tidOf.set(machineTid, tid);
  }

  /**
   * The number that a thread has in the recording; −1 if it is outside of the container, where its number may be that of another thread inside, or has not left
   * a CPU yet, so that it does not wait.
   */
  tidOf(machineTid: number): number {
    return this.#isContainer ? (this.#tidOf.get(machineTid) ?? -1) : machineTid;
  }

  /**
   * Notes that a thread has ended: unless it is known to come back, it does not wait when it leaves its CPU. Records without a time do not count, since they come
   * before all that have one.
   */
  endThread(tid: number, timeNs: number): void {
    if (Number.isNaN(timeNs)) return;
    const wait = this.#waits.get(tid);
    if (wait !== undefined) this.#endUnseen(tid, wait, timeNs);
    this.#ended.add(tid);
  }

  /** Notes that a thread has begun, perhaps with the number of one that has ended. */
  beginThread(tid: number): void {
    this.#ended.delete(tid);
    this.#endAtExec(tid);
    this.#waits.delete(tid);
  }

  /** Notes that a thread that seemed to have ended goes on, like one that has taken over its process by an exec. */
  reviveThread(tid: number): void {
    this.#ended.delete(tid);
  }

  /** Notes that a process starts a program: only the thread that called execve is left, and it gets the main thread's number. */
  startProgram(pid: number, timeNs: number): void {
    if (!Number.isNaN(timeNs)) this.#execNs.set(pid, timeNs);
  }

  /** To be called at the end of the recording: waits last until then. */
  finish(): void {
    for (const [tid, wait] of this.#waits) {
      if (this.#endAtExec(tid)) continue;
      // Of a thread that was about to end, it is more likely that the last switches were not recorded than that it still waits.
      if (this.#ended.has(tid)) continue;
      if (wait.sample !== undefined) this.openCount++;
      this.#end(tid, wait, this.#lastNs);
    }
  }

  /** Ends a thread's wait if its process has started a program since, unless the thread is the one that is left. @returns whether it has ended */
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

  /** Ends a wait whose switch in was not recorded, at the latest time when it may have ended. */
  #endUnseen(tid: number, wait: Wait, timeNs: number): void {
    if (wait.sample !== undefined) this.unseenReturnCount++;
    this.#end(tid, wait, timeNs);
  }

  #end(tid: number, { sample, startNs }: Wait, timeNs: number): void {
    this.#waits.delete(tid);
    if (sample !== undefined && timeNs > startNs) this.#addPeriod(sample, startNs, timeNs);
  }
}
