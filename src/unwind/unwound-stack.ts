import { grown } from '../base/growable.ts';

/** Numbers of a frame in {@link UnwoundStack.words}. */
export const FRAME_WORDS = 4;
export const FrameWord = {
  /** The stack pointer. */
  sp: 0,
  /** The frame pointer; NaN where it is not known. */
  fp: 1,
  /** Where the return address was read. */
  returnSlot: 2,
  /** Where the caller's frame pointer was read; NaN where it is this frame's. */
  fpSlot: 3,
} as const;

/** {@link UnwoundStack.labels} of frames that have no label, and of those that cannot have one. */
export const NO_LABEL = 0;
export const NOT_LABELLABLE = -1;

/**
 * The frames of one stack in columns, the leaf first, and where the way out of each was read: so that the next stack of the thread need not be unwound
 * again as far as it is the same.
 */
export class UnwoundStack {
  /** Where the sample was taken, then return addresses. The first {@link count} count. */
  addresses: Float64Array = new Float64Array(64);
  /** For each frame 1 if its address is a return address. */
  isCall: Uint8Array = new Uint8Array(64);
  /** What the frames' code was labelled with by `Unwinder.label`, a number above 0; else {@link NO_LABEL} or {@link NOT_LABELLABLE}. */
  labels: Int32Array = new Int32Array(64);
  /** {@link FRAME_WORDS} for each frame, see {@link FrameWord}. Of the last frame the slots say nothing. */
  words: Float64Array = new Float64Array(64 * FRAME_WORDS);
  count = 0;
  /**
   * From this frame on each step, but for the last one, followed from the stack pointer, the frame pointer and the two slots alone: no other register
   * was needed, and no guess.
   */
  plainFrom = 0;
  /** Whether the last frame is an address where no code is; then its two words, because it may not be exact as a double. */
  hasEnd = false;
  endLo = 0;
  endHi = 0;

  get heldBytes(): number {
    return this.addresses.byteLength + this.isCall.byteLength + this.labels.byteLength + this.words.byteLength;
  }

  clear(): void {
    this.count = 0;
    this.plainFrom = 0;
    this.hasEnd = false;
  }

  /** Adds frames from the one at `from` on, up to `count` in all: the first is the leaf, and the others are callers. None of them counts as plain. */
  addCalls(addresses: Float64Array, labels: Int32Array, from: number, count: number): void {
    if (count > this.isCall.length) this.#grow(count);
    for (let at = from; at < count; at++) {
      // hot
      this.addresses[at] = addresses[at];
      this.isCall[at] = at === 0 ? 0 : 1;
      this.labels[at] = at === 0 ? NOT_LABELLABLE : labels[at];
    }
    this.count = count;
    this.plainFrom = count;
  }

  #grow(count: number): void {
    this.addresses = grown(this.addresses, count);
    this.isCall = grown(this.isCall, count);
    this.labels = grown(this.labels, count);
    this.words = grown(this.words, count * FRAME_WORDS);
  }

  /** Makes room for one more frame, and adds it. */
  add(address: number, isCall: boolean): void {
    const at = this.count++;
    if (at >= this.isCall.length) this.#grow(at + 1);
    this.addresses[at] = address;
    this.isCall[at] = isCall ? 1 : 0;
    this.labels[at] = NOT_LABELLABLE;
  }
}
