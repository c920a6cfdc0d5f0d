import type { RecordObserver } from '../session/replay.ts';

/** Counts how far the order of the samples in the file is from that of their times. */
export class SampleOrder implements RecordObserver {
  /** Samples that stand in the file before an older one. */
  outOfOrder = 0;
  #lastNr = -1;

  /** Samples come in the order of time: one that stands before any that came already is in the wrong place. */
  sample(nr: number, timeNs: number): void {
    // hot
    if (Number.isNaN(timeNs)) return;
    if (nr < this.#lastNr) this.outOfOrder++;
    else this.#lastNr = nr;
  }

  sideBand(): void {}
}
