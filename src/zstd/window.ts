import { MAX_BLOCK_BYTES } from './frames.ts';

/**
 * What was decompressed last, as far as matches may reach back, and room for the next block after it. It grows with what is
 * there, not with what a frame's header asks for.
 */
export class ZstdWindow {
  bytes = new Uint8Array(2 * MAX_BLOCK_BYTES);
  /** Just after what was decompressed: the next block begins here. */
  end = 0;
  /** Bytes before {@link end} that belong to the frame and may be reached. */
  reach = 0;
  #windowBytes = 0;

  /** Begins a frame: nothing before it may be reached. */
  startFrame(windowBytes: number): void {
    this.#windowBytes = windowBytes;
    this.reach = 0;
  }

  /** Makes room for one block after {@link end}. */
  reserve(): void {
    if (this.end + MAX_BLOCK_BYTES <= this.bytes.length) return;
    const keep = this.bytes.subarray(this.end - this.reach, this.end);
    // Half a window to spare: the window is then moved once for every half of it that comes, not for every block.
    const enough = this.#windowBytes + Math.max(this.#windowBytes >> 1, 2 * MAX_BLOCK_BYTES);
    const needed = this.reach + MAX_BLOCK_BYTES;
    if (needed + this.reach > this.bytes.length && this.bytes.length < enough) {
      const grown = new Uint8Array(Math.min(Math.max(this.bytes.length * 2, needed), enough));
      grown.set(keep);
      this.bytes = grown;
    } else {
      this.bytes.set(keep);
    }
    this.end = this.reach;
  }

  /** Takes a block in that was written at {@link end}. */
  advance(sizeBytes: number): void {
    this.end += sizeBytes;
    this.reach = Math.min(this.#windowBytes, this.reach + sizeBytes);
  }
}
