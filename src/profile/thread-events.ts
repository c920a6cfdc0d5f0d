import { grown } from '../base/tables/growable.ts';

/** A thread began: it was forked while perf was recording. */
export const THREAD_BEGAN = 0;
/** A thread ended. */
export const THREAD_ENDED = 1;
/** A thread got a new name; the value is an index into the profile's strings. */
export const THREAD_RENAMED = 2;
/** A thread got a new name because another program was started in it; the value is as above. */
export const THREAD_EXECED = 3;
/** A thread is switched to the CPU. */
export const SWITCHED_IN = 4;
/** A thread leaves the CPU because it waits for something. */
export const SWITCHED_OUT = 5;
/** A thread leaves the CPU although it could go on. */
export const PREEMPTED = 6;
/** Records were lost on a CPU, while the thread ran there; the value is how many. */
export const RECORDS_LOST = 7;

const ROW_BYTES = 21;

/** What happened to threads apart from samples, in time order: records of the kernel (perf_event.h) that have a time. */
export class ThreadEventTable {
  kind = new Uint8Array(1024);
  /** Index into the profile's threads; −1 if the record names none that is known. */
  thread = new Int32Array(1024);
  /** Nanoseconds since the profile's `startTime`; negative before the first sample. */
  timeNs = new Float64Array(1024);
  /** Its meaning depends on the kind; 0 for kinds without a value. */
  value = new Float64Array(1024);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get heldBytes(): number {
    return this.#size * ROW_BYTES;
  }

  add(kind: number, thread: number, timeNs: number, value = 0): void {
    const row = this.#size++;
    if (row === this.kind.length) {
      this.kind = grown(this.kind, row + 1);
      this.thread = grown(this.thread, row + 1);
      this.timeNs = grown(this.timeNs, row + 1);
      this.value = grown(this.value, row + 1);
    }
    this.kind[row] = kind;
    this.thread[row] = thread;
    this.timeNs[row] = timeNs;
    this.value[row] = value;
  }

  /** Moves the origin of the times. @param originNs what becomes 0 */
  rebase(originNs: number): void {
    for (let row = 0; row < this.#size; row++) this.timeNs[row] -= originNs;
  }
}
