import { ByteView } from '../base/bytes/byte-view.ts';
import type { BlockingSource } from '../base/streams/blocking-source.ts';

const WINDOW_BYTES = 1 << 18;

/** A moving part of a file, to read it from start to end without the long stretches that are not needed. */
export class FileWindow {
  readonly #source: BlockingSource;
  readonly #bytes: Uint8Array;
  #start = 0;
  #length = 0;
  #view: ByteView;
  readonly #littleEndian: boolean;

  constructor(source: BlockingSource, littleEndian: boolean) {
    this.#source = source;
    this.#littleEndian = littleEndian;
    this.#bytes = new Uint8Array(Math.min(WINDOW_BYTES, source.sizeBytes));
    this.#view = new ByteView(this.#bytes.subarray(0, 0), littleEndian);
  }

  /**
   * A view that begins at `position` of the file and has `sizeBytes` bytes, at most as many as a window; fewer only at the end of the file.
   * It is valid until the next call.
   * @throws PerfconvError `io`
   */
  at(position: number, sizeBytes: number): ByteView {
    const wanted = Math.min(sizeBytes, WINDOW_BYTES);
    if (position < this.#start || position + wanted > this.#start + this.#length) {
      this.#start = position;
      this.#length = 0;
      while (this.#length < this.#bytes.length) {
        const count = this.#source.readNow(position + this.#length, this.#bytes.subarray(this.#length));
        if (count === 0) break;
        this.#length += count;
      }
    }
    const from = position - this.#start;
    const to = Math.min(from + wanted, this.#length);
    this.#view = new ByteView(this.#bytes.subarray(Math.min(from, to), to), this.#littleEndian);
    return this.#view;
  }
}
