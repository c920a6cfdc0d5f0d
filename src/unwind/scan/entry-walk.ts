import { grown } from '../../base/growable.ts';

const BITS = 8;
const FIRST_BYTES = 64;

/**
 * How far code was read, instruction by instruction, from one place on: what does not depend on how far it is read the next time. So an address that such
 * reading would not come to is known without it.
 */
export class EntryWalk {
  /** Where reading ended for good: from the instruction there on nothing can be said. */
  stop = Number.POSITIVE_INFINITY;
  /** Whether it ended because another function begins there. */
  isOther = false;
  readonly #entry: number;
  /** Up to where instructions are known. */
  #reached: number;
  /** By byte from the entry on: whether an instruction begins there. */
  #starts = new Uint8Array(FIRST_BYTES);

  /** @param entry the svma of the first instruction */
  constructor(entry: number) {
    this.#entry = entry;
    this.#reached = entry - 1;
  }

  /** An instruction begins at an svma. */
  add(svma: number): void {
    if (svma <= this.#reached) return;
    this.#reached = svma;
    const place = svma - this.#entry;
    const at = Math.floor(place / BITS);
    this.#starts = grown(this.#starts, at + 1);
    this.#starts[at] |= 1 << (place % BITS);
  }

  /** Whether it is known that reading does not come to an svma: it ends before, or no instruction begins there. */
  misses(svma: number): boolean {
    if (svma > this.stop) return true;
    const place = svma - this.#entry;
    return svma <= this.#reached && (this.#starts[Math.floor(place / BITS)] & (1 << (place % BITS))) === 0;
  }
}
