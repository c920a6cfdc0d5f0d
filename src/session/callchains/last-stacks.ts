import { UnwoundStack } from '../../unwind/frames/unwound-stack.ts';

/** A power of two. Threads whose numbers have the same low bits share a place. */
const PLACES = 256;

/** The last stack that was unwound for a thread: the next one often differs from it only in its innermost frames. */
export class LastStack {
  unwound = new UnwoundStack();
  /** State of the address space in which it was unwound; −1 if there is none. */
  generation = -1;
  /** For each of its frames, leaf first: the profile's stack from the root to that frame. */
  stacks = new Int32Array(64);
  /** For how many frames these are known: for all of them, or for none. */
  stackCount = 0;
  isCut = false;

  /** About how many bytes it takes. */
  get heldBytes(): number {
    return this.unwound.heldBytes + this.stacks.byteLength;
  }
}

/** The last stacks of threads. */
export class LastStacks {
  readonly #stacks: (LastStack | undefined)[] = Array.from({ length: PLACES }, () => undefined);

  /** About how many bytes they take. */
  get heldBytes(): number {
    return this.#stacks.reduce((sum, stack) => sum + (stack?.heldBytes ?? 0), 0);
  }

  /** What was unwound last for a thread, or for another one that has the same place. */
  of(tid: number): LastStack {
    const place = tid & (PLACES - 1);
    this.#stacks[place] ??= new LastStack();
    return this.#stacks[place];
  }
}
