import type { BlockCore } from './block-core.ts';
import { MAX_BLOCK_BYTES } from './wasm/contract.ts';

/** Spare room besides a window, so that it is moved once for this many bytes, not for every block. */
const MIN_SPARE_BYTES = 1 << 20;

/**
 * Where the most recent output is in a core's window, as far as matches may reach back, and the room after it for the next block. The window grows with the
 * actual output, not with what a frame's header asks for.
 */
export class ZstdWindow {
  /** Just after the output so far: the next block begins here. */
  end = 0;
  /** How many bytes before {@link end} belong to the frame and may be reached. */
  reach = 0;
  readonly #core: BlockCore;
  #windowBytes = 0;

  constructor(core: BlockCore) {
    this.#core = core;
  }

  /** Begins a frame: nothing before it may be reached. */
  startFrame(windowBytes: number): void {
    this.#windowBytes = windowBytes;
    this.reach = 0;
  }

  /** Makes room for one block after {@link end}. @throws RangeError when there is no memory */
  reserve(): void {
    const { length } = this.#core.areas.window;
    if (this.end + MAX_BLOCK_BYTES <= length) return;
    const enough = this.#windowBytes + Math.max(this.#windowBytes >> 1, MIN_SPARE_BYTES);
    const needed = this.reach + MAX_BLOCK_BYTES;
    if (needed + this.reach > length && length < enough) this.#core.growWindow(Math.min(Math.max(length * 2, 2 * MAX_BLOCK_BYTES, needed), enough));
    this.#core.areas.window.copyWithin(0, this.end - this.reach, this.end);
    this.end = this.reach;
  }

  /** Adds a block that was written at {@link end}. */
  advance(sizeBytes: number): void {
    this.end += sizeBytes;
    this.reach = Math.min(this.#windowBytes, this.reach + sizeBytes);
  }
}
