import { grown } from '../intern/growable.ts';
import { type CodePatch, CodePatches } from './code-patches.ts';

/** Gives every state of every address space a number of its own, 1, 2, 3 …, so that results can be cached by it. */
export class GenerationCounter {
  #last = 0;

  next(): number {
    return ++this.#last;
  }
}

/**
 * Which DSO lies where: disjoint ranges sorted by start. Addresses are signed doubles.
 * A new map over an old one takes its place; what sticks out of the old one to the left and right stays.
 * Over the maps lies code that a JIT told of, piece by piece.
 */
export class AddressSpace {
  readonly #generations: GenerationCounter;
  #generation: number;
  #size = 0;
  #starts: Float64Array;
  #ends: Float64Array;
  /** What to add to a run-time address for the DSO's own address. */
  #deltas: Float64Array;
  #dsos: Int32Array;
  #fallback: AddressSpace | undefined;
  #guest = -1;
  #code: CodePatches | undefined;
  /** What {@link find} found last, if that was such code. */
  #foundCode: CodePatch | undefined;

  constructor(generations: GenerationCounter, capacity = 16) {
    this.#generations = generations;
    this.#generation = generations.next();
    this.#starts = new Float64Array(capacity);
    this.#ends = new Float64Array(capacity);
    this.#deltas = new Float64Array(capacity);
    this.#dsos = new Int32Array(capacity);
  }

  /** Changes with every change of the maps; equal generations mean equal maps. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * The maps that were there before an exec, for addresses that nothing is mapped at yet: while the kernel is still in
   * execve(), the stack leads back to where the old program called it.
   */
  get fallback(): AddressSpace | undefined {
    return this.#fallback;
  }

  set fallback(space: AddressSpace | undefined) {
    this.#fallback = space;
    this.#generation = this.#generations.next();
  }

  /** The virtual machine that the process runs, as {@link Kernels} has numbered it; −1 for none that is known. */
  get guest(): number {
    return this.#guest;
  }

  set guest(guest: number) {
    this.#guest = guest;
    this.#generation = this.#generations.next();
  }

  /** Number of ranges. */
  get size(): number {
    return this.#size;
  }

  /** A copy with a life of its own (fork). It has the same generation until one of the two changes. */
  clone(): AddressSpace {
    const copy = new AddressSpace(this.#generations, Math.max(16, this.#size));
    copy.#starts.set(this.#starts.subarray(0, this.#size));
    copy.#ends.set(this.#ends.subarray(0, this.#size));
    copy.#deltas.set(this.#deltas.subarray(0, this.#size));
    copy.#dsos.set(this.#dsos.subarray(0, this.#size));
    copy.#size = this.#size;
    copy.#fallback = this.#fallback;
    copy.#guest = this.#guest;
    copy.#code = this.#code?.clone();
    copy.#generation = this.#generation;
    return copy;
  }

  /**
   * Maps [start, end) to a DSO whose own address for `start` is `start + delta`. An empty range changes nothing.
   */
  map(start: number, end: number, delta: number, dso: number): void {
    if (!(end > start)) return;
    this.#cut(start, end);
    const at = this.#firstEndingAfter(start);
    this.#insert(at, start, end, delta, dso);
    this.#generation = this.#generations.next();
  }

  /** Puts a JIT's code into [start, end), over what is mapped there. */
  putCode(start: number, end: number, delta: number, dso: number): void {
    this.#code ??= new CodePatches();
    this.#code.put(start, end, delta, dso);
    this.#generation = this.#generations.next();
  }

  /** Removes a JIT's code from [start, end). */
  removeCode(start: number, end: number): void {
    if (this.#code === undefined || !(end > start)) return;
    this.#code.remove(start, end);
    this.#generation = this.#generations.next();
  }

  /** Removes what is mapped in [start, end). */
  unmap(start: number, end: number): void {
    if (!(end > start)) return;
    this.#cut(start, end);
    this.#generation = this.#generations.next();
  }

  /** Index of the range that holds an address, −1 when none does. It is valid until the next change or search. */
  find(address: number): number {
    // hot
    if (this.#code !== undefined) {
      this.#foundCode = this.#code.find(address);
      if (this.#foundCode !== undefined) return this.#size;
    }
    const at = this.#firstEndingAfter(address);
    return at < this.#size && this.#starts[at] <= address ? at : -1;
  }

  /** Whether a piece of a JIT's code starts at an address. */
  startsCode(address: number): boolean {
    const code = this.#code?.find(address);
    if (code === undefined) return false;
    // Pieces are cut at the ends of pages.
    const before = this.#code?.find(address - 1);
    return before === undefined || before.dso !== code.dso || before.delta !== code.delta;
  }

  /** DSO of the range at an index that {@link find} gave. */
  dsoAt(index: number): number {
    return index === this.#size && this.#foundCode !== undefined ? this.#foundCode.dso : this.#dsos[index];
  }

  /** What to add to a run-time address in that range for the DSO's own address. */
  deltaAt(index: number): number {
    return index === this.#size && this.#foundCode !== undefined ? this.#foundCode.delta : this.#deltas[index];
  }

  /** The range that holds an address, a JIT's code over it aside; undefined when none does. */
  rangeAt(address: number): { readonly start: number; readonly end: number; readonly delta: number; readonly dso: number } | undefined {
    const at = this.#firstEndingAfter(address);
    if (at === this.#size || this.#starts[at] > address) return undefined;
    return { start: this.#starts[at], end: this.#ends[at], delta: this.#deltas[at], dso: this.#dsos[at] };
  }

  /** First range whose end is greater than `address`; {@link size} when there is none. */
  #firstEndingAfter(address: number): number {
    let low = 0;
    let high = this.#size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#ends[middle] > address) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Makes [start, end) free. */
  #cut(start: number, end: number): void {
    const first = this.#firstEndingAfter(start);
    if (first === this.#size || this.#starts[first] >= end) return;
    if (this.#starts[first] < start) {
      const oldEnd = this.#ends[first];
      this.#ends[first] = start;
      if (oldEnd > end) {
        this.#insert(first + 1, end, oldEnd, this.#deltas[first], this.#dsos[first]);
        return;
      }
      this.#removeCovered(first + 1, end);
      return;
    }
    this.#removeCovered(first, end);
  }

  /** From range `first` on, removes what lies below `end`; the part of the last one above it stays. */
  #removeCovered(first: number, end: number): void {
    let last = first;
    while (last < this.#size && this.#ends[last] <= end) last++;
    if (last < this.#size && this.#starts[last] < end) this.#starts[last] = end;
    if (last === first) return;
    for (const column of [this.#starts, this.#ends, this.#deltas, this.#dsos]) column.copyWithin(first, last, this.#size);
    this.#size -= last - first;
  }

  #insert(at: number, start: number, end: number, delta: number, dso: number): void {
    const size = this.#size + 1;
    this.#starts = grown(this.#starts, size);
    this.#ends = grown(this.#ends, size);
    this.#deltas = grown(this.#deltas, size);
    this.#dsos = grown(this.#dsos, size);
    for (const column of [this.#starts, this.#ends, this.#deltas, this.#dsos]) column.copyWithin(at + 1, at, this.#size);
    this.#starts[at] = start;
    this.#ends[at] = end;
    this.#deltas[at] = delta;
    this.#dsos[at] = dso;
    this.#size = size;
  }
}
