import type { RecordObserver } from '../session/replay.ts';
import type { RecordRow } from '../session/rows/record-row.ts';

/** Counts samples whose place in the file is not that of their time. */
export class SampleOrder implements RecordObserver {
  /** Number of samples that come before an older one in the file; if they are taken in file order, of those that come after a newer one. */
  outOfOrder = 0;
  #lastNr = -1;
  #newestNs = Number.NEGATIVE_INFINITY;

  /**
   * Samples come in time order: one that is before a previous one in the file is in the wrong place. In recordings that are taken in file order, it is one that
   * is older than a previous one.
   */
  sample({ nr, timeNs }: Readonly<RecordRow>): void {
    // hot
    if (Number.isNaN(timeNs)) return;
    if (nr < this.#lastNr || timeNs < this.#newestNs) this.outOfOrder++;
    if (nr > this.#lastNr) this.#lastNr = nr;
    if (timeNs > this.#newestNs) this.#newestNs = timeNs;
  }

  sideBand(): void {}
}
