import type { SourceFrame } from '../symbol-table/code-symbols.ts';

/** Frames of one address. Compilers limit nested templates to about a thousand, and inlining to far less. */
const MAX_FRAMES = 4096;
/**
 * Frames of all addresses: this many for each on average, and this many more for all together. Real programs have fewer than ten per
 * address.
 */
const MAX_FRAMES_PER_ADDRESS = 64;
const SPARE_FRAMES = 1 << 21;

/** What is known about each address of one look-up. */
export class FoundFrames {
  readonly addresses: Float64Array;
  readonly #frames: (readonly SourceFrame[] | undefined)[];
  #framesLeft: number;
  /** The last result of {@link open}, as long as it holds: many units that have none of the addresses ask for it. */
  #open: readonly number[] | undefined;

  constructor(addresses: Float64Array) {
    this.addresses = addresses;
    this.#frames = new Array(addresses.length);
    this.#framesLeft = addresses.length * MAX_FRAMES_PER_ADDRESS + SPARE_FRAMES;
  }

  /** How many frames there is room for at the next address: at least one. */
  get room(): number {
    return Math.max(1, Math.min(MAX_FRAMES, this.#framesLeft));
  }

  hasFunction(index: number): boolean {
    return this.#frames[index]?.[0].function !== undefined;
  }

  /** Indexes of the addresses without a function. */
  open(): readonly number[] {
    if (this.#open !== undefined) return this.#open;
    const open: number[] = [];
    for (let i = 0; i < this.addresses.length; i++) if (!this.hasFunction(i)) open.push(i);
    this.#open = open;
    return open;
  }

  /** The addresses with these indexes. */
  addressesAt(indexes: readonly number[]): Float64Array {
    const addresses = new Float64Array(indexes.length);
    for (let i = 0; i < indexes.length; i++) addresses[i] = this.addresses[indexes[i]];
    return addresses;
  }

  /** Keeps frames, unless there are none or better ones are known. */
  set(index: number, frames: readonly SourceFrame[]): void {
    if (frames.length === 0 || (this.#frames[index] !== undefined && frames[0].function === undefined)) return;
    this.#framesLeft -= frames.length - (this.#frames[index]?.length ?? 0);
    this.#frames[index] = frames;
    if (frames[0].function !== undefined) this.#open = undefined;
  }

  visit(visit: (index: number, frames: readonly SourceFrame[]) => void): void {
    for (let i = 0; i < this.addresses.length; i++) {
      const frames = this.#frames[i];
      if (frames !== undefined) visit(i, frames);
    }
  }
}
