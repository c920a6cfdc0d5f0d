import type { ProfileBuilder } from '../../profile/builder.ts';
import { type OffCpuTimes, offCpuNs } from '../../simpleperf/off-cpu-times.ts';
import type { RecordRow } from '../rows/record-row.ts';

/** Adds the samples of switches that simpleperf records, each with the time that its thread was off the CPU as its period. */
export class SimpleperfSwitches {
  readonly #times: OffCpuTimes;
  readonly #profile: ProfileBuilder;

  constructor(times: OffCpuTimes, profile: ProfileBuilder) {
    this.#times = times;
    this.#profile = profile;
  }

  /** Adds a sample of a switch off the CPU. How long the thread was away is added to its period once that is known. */
  addSwitch(total: number, row: RecordRow): void {
    row.period = 0;
    this.#times.leave(row.tid, total, this.#profile.addSample(total, row), row.timeNs);
  }

  /** Ends a thread's time off the CPU, since it is on one now. */
  see({ tid, timeNs }: RecordRow): void {
    const left = this.#times.see(tid, timeNs);
    if (left !== undefined) this.#profile.addPeriod(left.total, left.row, offCpuNs(left, timeNs));
  }
}
