import { grown } from '../../base/tables/growable.ts';

/** How many words each frame has in {@link UnwoundStack.words}. */
export const FRAME_WORDS = 4;
export const FrameWord = {
  /** The stack pointer. */
  sp: 0,
  /** The frame pointer; NaN where it is not known. */
  fp: 1,
  /** The address that the return address was read from. */
  returnSlot: 2,
  /** The address that the caller's frame pointer was read from; NaN if it is this frame's own. */
  fpSlot: 3,
} as const;

/** Values of {@link UnwoundStack.labels} for frames without a label, and for those that cannot have one. */
export const NO_LABEL = 0;
export const NOT_LABELLABLE = -1;

/**
 * The frames of one stack in columns, leaf first, and where the way out of each was read, so that what the thread's next stack has in common with it need not
 * be unwound again.
 */
export class UnwoundStack {
  /** Where the sample was taken, then return addresses. Only the first {@link count} are valid. */
  addresses: Float64Array = new Float64Array(64);
  /** For each frame, 1 if its address is a return address. */
  isCall: Uint8Array = new Uint8Array(64);
  /** The label that `Unwinder.label` gave to the frame's code, above 0; else {@link NO_LABEL} or {@link NOT_LABELLABLE}. */
  labels: Int32Array = new Int32Array(64);
  /** {@link FRAME_WORDS} for each frame, see {@link FrameWord}. The slots of the last frame mean nothing. */
  words: Float64Array = new Float64Array(64 * FRAME_WORDS);
  count = 0;
  /**
   * From this frame on, each step but the last depended on the stack pointer, the frame pointer and the two slots alone: no other register and no guess was
   * needed.
   */
  plainFrom = 0;
  /** Whether the last frame is an address at which there is no code; then its two words, since it may not be exact as a double. */
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

  /** Adds the frames from number `from` up to before `count`: number 0 is the leaf, and all others are callers. None of them counts as plain. */
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

  /** Adds one frame, and makes room for it. */
  add(address: number, isCall: boolean): void {
    const at = this.count++;
    if (at >= this.isCall.length) this.#grow(at + 1);
    this.addresses[at] = address;
    this.isCall[at] = isCall ? 1 : 0;
    this.labels[at] = NOT_LABELLABLE;
  }

  /** Marks the address of the last frame as one that no call left there, so that the instruction before it does not name the frame. */
  markUncalled(): void {
    const at = this.count - 1;
    this.isCall[at] = 0;
    this.labels[at] = NOT_LABELLABLE;
  }
}
