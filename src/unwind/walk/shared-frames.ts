import type { Frame } from '../frames/frame.ts';
import { FRAME_WORDS, FrameWord, NO_LABEL, type UnwoundStack } from '../frames/unwound-stack.ts';
import type { StackMemory } from '../memory/stack-memory.ts';

/**
 * Takes over the frames that a stack has in common with an earlier one: from a frame with the same address, stack pointer and frame pointer on, as long as the
 * slots that the way out was read from still hold the same values.
 */
export class SharedFrames {
  /** Whether only the stack and frame pointer are known, because frames were taken over. */
  hasOnlySpAndFp = false;
  readonly #frame: Frame;
  readonly #stack: StackMemory;
  #other: UnwoundStack | undefined;
  /** How far the other stack has been searched. */
  #at = 0;

  constructor(frame: Frame, stack: StackMemory) {
    this.#frame = frame;
    this.#stack = stack;
  }

  /** @param other was unwound in the same address space, and nothing was mapped since; undefined for none */
  begin(other: UnwoundStack | undefined): void {
    this.#other = other;
    // Earlier frames have no words, or were not left by stack and frame pointer alone: exceptions restore registers.
    this.#at = other?.plainFrom ?? 0;
    this.hasOnlySpAndFp = false;
  }

  /**
   * Adds frames of the other stack, from the current frame on, which is a caller. Afterwards, only the stack and frame pointer are known.
   * @param maxFrames how many the stack may have
   * @returns whether any were added
   */
  takeOver(frames: UnwoundStack, maxFrames: number): boolean {
    // hot
    const other = this.#other;
    if (other === undefined) return false;
    const at = this.#find(other);
    if (at < 0) return false;
    const end = this.#follow(other, at, frames, maxFrames);
    if (end === at) return false;
    const { addresses, words } = other;
    const { registers, machine } = this.#frame;
    this.#at = end + 1;
    this.hasOnlySpAndFp = true;
    registers.known.fill(0);
    registers.set(machine.sp, words[end * FRAME_WORDS + FrameWord.sp]);
    registers.set(machine.fp, words[end * FRAME_WORDS + FrameWord.fp]);
    this.#frame.pc = addresses[end];
    return true;
  }

  /** The frame of the other stack that equals the current one, if it was left by its rule; −1 for none. */
  #find({ addresses, isCall, words, count }: UnwoundStack): number {
    // hot
    const { registers, machine, pc } = this.#frame;
    const sp = registers.value(machine.sp);
    let at = this.#at;
    // The last frame has the highest stack pointer.
    while (at < count && words[at * FRAME_WORDS + FrameWord.sp] < sp) at++;
    this.#at = at;
    // The slots of the last frame mean nothing.
    if (at >= count - 1 || addresses[at] !== pc || isCall[at] === 0) return -1;
    const first = at * FRAME_WORDS;
    const isSame = words[first + FrameWord.sp] === sp && registers.known[machine.fp] !== 0 && words[first + FrameWord.fp] === registers.value(machine.fp);
    return isSame ? at : -1;
  }

  /** Adds the frames from `at` on that still lead to the same callers. @returns the frame after them */
  #follow({ addresses, labels, words, count }: UnwoundStack, at: number, frames: UnwoundStack, maxFrames: number): number {
    // hot
    const frame = this.#frame;
    const stack = this.#stack;
    for (let from = at * FRAME_WORDS; at < count - 1 && frames.count < maxFrames - 1; at++, from += FRAME_WORDS) {
      if (!stack.read(words[from + FrameWord.returnSlot]) || stack.value !== addresses[at + 1] || words[from] > stack.end) break;
      const { lo, hi } = stack;
      const fpSlot = words[from + FrameWord.fpSlot];
      const fp = words[from + FRAME_WORDS + FrameWord.fp];
      if (!Number.isNaN(fpSlot) ? !stack.read(fpSlot) || stack.value !== fp : words[from + FrameWord.fp] !== fp) break;
      frame.pcLo = lo;
      frame.pcHi = hi;
      frames.add(addresses[at], true);
      if (labels[at] > NO_LABEL) frames.labels[frames.count - 1] = labels[at];
      const to = (frames.count - 1) * FRAME_WORDS;
      for (let word = 0; word < FRAME_WORDS; word++) frames.words[to + word] = words[from + word];
    }
    return at;
  }
}
