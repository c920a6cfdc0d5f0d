/** A sample of a thread's switch off the CPU. */
export interface OffCpuSample {
  /** The total that the sample counts for, and its row if samples are kept: numbers of the caller. */
  readonly total: number;
  readonly row: number;
  readonly timeNs: number;
}

/**
 * Finds how long threads were off the CPU in recordings of `simpleperf record --trace-offcpu`, where a sample of sched:sched_switch shows that a thread left
 * the CPU: until its next sample of any kind, or until a SWITCH record says that it is back, whichever comes first. Samples and records come in time order.
 */
export class OffCpuTimes {
  readonly #left = new Map<number, OffCpuSample>();
  #untimedCount = 0;

  /**
   * Notes that a thread left the CPU, with a sample whose period is 0 so far.
   * @param timeNs NaN if the sample has none: then the period stays 0
   */
  leave(tid: number, total: number, row: number, timeNs: number): void {
    if (Number.isNaN(timeNs)) this.#untimedCount++;
    else this.#left.set(tid, { total, row, timeNs });
  }

  /**
   * Notes that a thread is on the CPU, or leaves it again.
   * @param timeNs NaN if that is unknown: then no time off the CPU ends, since this may have been before the switch
   * @returns the switch that this ends, if any: see {@link offCpuNs}
   */
  see(tid: number, timeNs: number): OffCpuSample | undefined {
    if (Number.isNaN(timeNs)) return undefined;
    const left = this.#left.get(tid);
    if (left !== undefined) this.#left.delete(tid);
    return left;
  }

  /** Number of samples without a time, or whose threads were not seen again: it is unknown how long those threads were away. */
  get openCount(): number {
    return this.#left.size + this.#untimedCount;
  }
}

/** How long a thread was off the CPU, in nanoseconds; 1 if it would be 0 or less because records overtook one another. @param timeNs when it was seen again */
export function offCpuNs(left: OffCpuSample, timeNs: number): number {
  return Math.max(1, timeNs - left.timeNs);
}

/** Whether a recording was made with --trace-offcpu: META_INFO says so. Then the first event is that of the samples on the CPU. */
export function isOffCpuRecording(metaInfo: ReadonlyMap<string, string> | undefined, eventCount: number): boolean {
  return metaInfo?.get('trace_offcpu') === 'true' && eventCount > 1;
}
