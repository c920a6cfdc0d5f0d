/** Minimum time between redraws: more frequent ones are not seen and take time. */
const REDRAW_MS = 100;
/** Nothing is shown if the reading is done sooner. */
const QUIET_MS = 500;
const WIDTH = 30;

/** A line on a terminal that shows how far the reading has come. */
export class ProgressBar {
  readonly #redraw: (text: string) => void;
  readonly #label: string;
  readonly #totalBytes: number | undefined;
  #nextMs: number;
  #isShown = false;

  /**
   * @param redraw puts a text in place of the line on the terminal
   * @param totalBytes undefined for a stream: then only the number of bytes read is shown
   */
  constructor(redraw: (text: string) => void, label: string, totalBytes: number | undefined, nowMs = performance.now()) {
    this.#redraw = redraw;
    this.#label = label;
    this.#totalBytes = totalBytes;
    this.#nextMs = nowMs + QUIET_MS;
  }

  update(doneBytes: number, nowMs = performance.now()): void {
    if (nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + REDRAW_MS;
    this.#isShown = true;
    this.#redraw(progressText(this.#label, doneBytes, this.#totalBytes));
  }

  /** Clears the line. */
  finish(): void {
    if (this.#isShown) this.#redraw('');
    this.#isShown = false;
  }
}

function progressText(label: string, doneBytes: number, totalBytes: number | undefined): string {
  const done = `${Math.floor(doneBytes / 1e6)} MB`;
  if (totalBytes === undefined || totalBytes === 0) return `${label}: ${done}`;
  const share = Math.min(1, doneBytes / totalBytes);
  const filled = Math.round(share * WIDTH);
  return `${label}: [${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${Math.floor(share * 100)}% of ${Math.ceil(totalBytes / 1e6)} MB`;
}
