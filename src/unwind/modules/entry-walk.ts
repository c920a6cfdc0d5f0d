import { grown } from '../../base/tables/growable.ts';

const BITS = 8;
const FIRST_BYTES = 64;

/**
 * How far a function's code was read, instruction by instruction, from its entry on. Reading takes the same steps each time: so it is known of many addresses,
 * without reading again, that they are not reached.
 */
export class EntryWalk {
  /** The svma of the instruction where reading ended for good: nothing is known about what follows. */
  stop = Number.POSITIVE_INFINITY;
  /** Whether it ended because another function begins there. */
  isOther = false;
  readonly #entry: number;
  /** The svma of the last instruction that is known. */
  #reached: number;
  /** A bit for each byte from the entry on: whether an instruction begins there. */
  #starts = new Uint8Array(FIRST_BYTES);
  /** The same: whether an instruction begins there that is certain to be of the function. */
  #inner = new Uint8Array(FIRST_BYTES);

  /** @param entry the svma of the first instruction */
  constructor(entry: number) {
    this.#entry = entry;
    this.#reached = entry - 1;
  }

  /**
   * Notes that an instruction begins at an svma.
   * @param isInner whether it is certain to be of the function: another one may begin after a jump
   */
  add(svma: number, isInner: boolean): void {
    if (isInner) this.#inner = this.#with(this.#inner, svma);
    if (svma <= this.#reached) return;
    this.#reached = svma;
    this.#starts = this.#with(this.#starts, svma);
  }

  #with(bits: Uint8Array<ArrayBuffer>, svma: number): Uint8Array<ArrayBuffer> {
    const place = svma - this.#entry;
    const at = Math.floor(place / BITS);
    const result = grown(bits, at + 1);
    result[at] |= 1 << (place % BITS);
    return result;
  }

  /** Whether an instruction begins at an svma that is certain to be of the function, after its first one. */
  isInner(svma: number): boolean {
    return svma > this.#entry && this.#isIn(this.#inner, svma);
  }

  /** Whether it is known that reading does not reach an svma: it ends before, or no instruction begins there. */
  misses(svma: number): boolean {
    if (svma > this.stop) return true;
    return svma <= this.#reached && !this.#isIn(this.#starts, svma);
  }

  #isIn(bits: Uint8Array, svma: number): boolean {
    const place = svma - this.#entry;
    return (bits[Math.floor(place / BITS)] & (1 << (place % BITS))) !== 0;
  }
}
