import { grown } from '../../base/tables/growable.ts';

/** Which thread ran when on one CPU, from records that come in time order. */
export class CpuThreads {
  #size = 0;
  #timeNs = new Float64Array(16);
  #pid = new Int32Array(16);
  #tid = new Int32Array(16);

  /** Notes that a thread runs from a time on. One that comes late counts from the newest time so far. */
  add(timeNs: number, pid: number, tid: number): void {
    const last = this.#size - 1;
    if (last >= 0 && this.#tid[last] === tid && this.#pid[last] === pid) return;
    const at = this.#size++;
    this.#timeNs = grown(this.#timeNs, this.#size);
    this.#pid = grown(this.#pid, this.#size);
    this.#tid = grown(this.#tid, this.#size);
    this.#timeNs[at] = last >= 0 ? Math.max(timeNs, this.#timeNs[last]) : timeNs;
    this.#pid[at] = pid;
    this.#tid[at] = tid;
  }

  /** Place of what was noted last before a time, or at it; −1 if that was nothing. */
  at(timeNs: number): number {
    let low = 0;
    let high = this.#size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#timeNs[middle] <= timeNs) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  pid(place: number): number {
    return this.#pid[place];
  }

  tid(place: number): number {
    return this.#tid[place];
  }
}
