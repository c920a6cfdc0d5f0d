/** A sample of a thread's switch off the CPU. */
export interface OffCpuSample {
  /** What the sample was added up under, and its row where samples are kept: numbers of whoever asks for the time. */
  readonly total: number;
  readonly row: number;
  readonly timeNs: number;
}

/**
 * Finds how long threads were off the CPU in recordings of `simpleperf record --trace-offcpu`, in which a sample of
 * sched:sched_switch shows where a thread left the CPU: until its next sample of any kind, or until a SWITCH record says
 * that it is back, whatever comes first. Samples and records come in time order.
 */
export class OffCpuTimes {
  readonly #left = new Map<number, OffCpuSample>();
  #untimedCount = 0;

  /**
   * A thread left the CPU with a sample whose period is 0 so far.
   * @param timeNs NaN where the sample has none: the period then stays 0
   */
  leave(tid: number, total: number, row: number, timeNs: number): void {
    if (Number.isNaN(timeNs)) this.#untimedCount++;
    else this.#left.set(tid, { total, row, timeNs });
  }

  /**
   * A thread is seen on the CPU, or leaves it again.
   * @param timeNs NaN when that is unknown: such a sighting ends nothing, since it may be earlier than the switch
   * @returns the switch that this ends, if any: see {@link offCpuNs}
   */
  see(tid: number, timeNs: number): OffCpuSample | undefined {
    if (Number.isNaN(timeNs)) return undefined;
    const left = this.#left.get(tid);
    if (left !== undefined) this.#left.delete(tid);
    return left;
  }

  /** Samples of threads that were not seen again, or that have no time: nobody knows how long those threads were away. */
  get openCount(): number {
    return this.#left.size + this.#untimedCount;
  }
}

/** How long a thread was off the CPU, in nanoseconds; 1 where records that overtook one another make it none. @param timeNs when it was seen again */
export function offCpuNs(left: OffCpuSample, timeNs: number): number {
  return Math.max(1, timeNs - left.timeNs);
}

/** Whether a recording was made with --trace-offcpu: META_INFO says so. The first event is then that of the samples on the CPU. */
export function isOffCpuRecording(metaInfo: ReadonlyMap<string, string> | undefined, eventCount: number): boolean {
  return metaInfo?.get('trace_offcpu') === 'true' && eventCount > 1;
}
