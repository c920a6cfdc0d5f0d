/** Adds to the period of a sample that was delivered before. */
export interface PeriodSink {
  /**
   * @param total what the sample was added up under
   * @param row what the sink gave for it
   */
  addPeriod(total: number, row: number, period: number): void;
}

/** A thread's last switch off the CPU. */
interface OffCpuSample {
  readonly total: number;
  readonly row: number;
  readonly timeNs: number;
}

/**
 * Finds how long threads were off the CPU in recordings of `simpleperf record --trace-offcpu`, in which a sample of
 * sched:sched_switch tells where a thread left the CPU: until its next sample of any kind, or until a SWITCH record says
 * that it is back, whatever comes first. Samples and records are told in time order.
 */
export class OffCpuTimes {
  readonly #sink: PeriodSink;
  readonly #left = new Map<number, OffCpuSample>();
  #untimedCount = 0;

  constructor(sink: PeriodSink) {
    this.#sink = sink;
  }

  /**
   * A thread left the CPU with a sample that was delivered with a period of 0.
   * @param timeNs NaN where the sample has none: the period then stays 0
   */
  leave(tid: number, total: number, row: number, timeNs: number): void {
    if (Number.isNaN(timeNs)) this.#untimedCount++;
    else this.#left.set(tid, { total, row, timeNs });
  }

  /**
   * A thread is seen on the CPU, or leaves it again.
   * @param timeNs NaN when that is unknown: such a sighting ends nothing, since it may be earlier than the switch
   */
  see(tid: number, timeNs: number): void {
    if (Number.isNaN(timeNs)) return;
    const left = this.#left.get(tid);
    if (left === undefined) return;
    this.#left.delete(tid);
    this.#sink.addPeriod(left.total, left.row, Math.max(1, timeNs - left.timeNs));
  }

  /** Samples of threads that were not seen again, or that have no time: nobody knows how long those threads were away. */
  get openCount(): number {
    return this.#left.size + this.#untimedCount;
  }
}

/** Whether a recording was made with --trace-offcpu: META_INFO says so. The first event is then that of the samples on the CPU. */
export function isOffCpuRecording(metaInfo: ReadonlyMap<string, string> | undefined, eventCount: number): boolean {
  return metaInfo?.get('trace_offcpu') === 'true' && eventCount > 1;
}
