import type { RecordRow } from '../session/record-row.ts';
import type { RecordObserver } from '../session/replay.ts';

/** Counts how far the order of the samples in the file is from that of their times. */
export class SampleOrder implements RecordObserver {
  /** Samples that come in the file before an older one; after a newer one, where they come in the order of the file. */
  outOfOrder = 0;
  #lastNr = -1;
  #newestNs = Number.NEGATIVE_INFINITY;

  /**
   * Samples come in the order of time: one that lies before any that came already is in the wrong place. Of recordings
   * that are taken in the order of the file, it is one that is older than any that came already.
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
