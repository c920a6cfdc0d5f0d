import { grown } from '../../intern/growable.ts';
import { lowerBound } from './bounds.ts';

/** How many functions may claim each address, on average, and beyond one for each byte of the unit. */
const MAX_CLAIMS_PER_ADDRESS = 1000;

/** Which function of a unit holds which of the wanted addresses: of several the one that claims it last, but see {@link keepsInlined}. */
export class FunctionClaims {
  /** By index of the wanted addresses: the innermost function there as an index of {@link dies}, −1 for none. */
  readonly innermost: Int32Array;
  /** Where the functions' DIEs stand. */
  dies = new Uint32Array(16);
  /** What a function was inlined into, −1 for a function of its own. */
  parents = new Int32Array(16);
  count = 0;
  /** Whether what is inlined keeps its addresses from later functions that are not. */
  keepsInlined = false;
  readonly #wanted: Float64Array;
  /** By index of the wanted addresses: the largest end that was told of it, −Infinity for none. */
  readonly #endsBefore: Float64Array;
  #claimsLeft: number;

  /** @param wanted ascending, @param unitSizeBytes lets small units have many functions */
  constructor(wanted: Float64Array, unitSizeBytes: number) {
    this.#wanted = wanted;
    this.innermost = new Int32Array(wanted.length).fill(-1);
    this.#endsBefore = new Float64Array(wanted.length).fill(Number.NEGATIVE_INFINITY);
    this.#claimsLeft = wanted.length * MAX_CLAIMS_PER_ADDRESS + unitSizeBytes;
  }

  /** Whether there were far more claims than a file can have in earnest. */
  get areTooMany(): boolean {
    return this.#claimsLeft < 0;
  }

  /** Where the last function ends before each wanted address, −Infinity when none does: as far as functions have claimed. */
  endsBefore(): Float64Array {
    const ends = this.#endsBefore;
    for (let i = 1; i < ends.length; i++) if (ends[i] < ends[i - 1]) ends[i] = ends[i - 1];
    return ends;
  }

  /** Gives the function of a DIE all wanted addresses from `low` up to `high`. DIEs come one after the other. */
  claim(low: number, high: number, dieAt: number, parent: number): void {
    const wanted = this.#wanted;
    const { length } = wanted;
    this.#claimsLeft--;
    if (length === 0 || wanted[length - 1] < low) return;
    let first = lowerBound(wanted, low);
    if (wanted[first] < high) first = this.#take(first, high, dieAt, parent);
    if (first < length && this.#endsBefore[first] < high) this.#endsBefore[first] = high;
  }

  #take(from: number, high: number, dieAt: number, parent: number): number {
    const wanted = this.#wanted;
    // A function has one entry, however many ranges.
    const isKnown = this.count > 0 && this.dies[this.count - 1] === dieAt;
    const index = isKnown ? this.count - 1 : this.add(dieAt, parent);
    let i = from;
    if (parent < 0 && this.keepsInlined) {
      for (; i < wanted.length && wanted[i] < high; i++) if (!this.#isInlined(this.innermost[i])) this.innermost[i] = index;
    } else for (; i < wanted.length && wanted[i] < high; i++) this.innermost[i] = index;
    this.#claimsLeft -= i - from;
    return i;
  }

  #isInlined(index: number): boolean {
    return index >= 0 && this.parents[index] >= 0;
  }

  /** Adds the function of a DIE. @returns its index */
  add(dieAt: number, parent: number): number {
    const index = this.count++;
    this.#claimsLeft--;
    if (index >= this.dies.length) {
      this.dies = grown(this.dies, index + 1);
      this.parents = grown(this.parents, index + 1);
    }
    this.dies[index] = dieAt;
    this.parents[index] = parent;
    return index;
  }
}
