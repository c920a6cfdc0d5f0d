import { type DsoRange, NodeMemory, RangeTree } from './range-tree.ts';

/** Gives every state of every address space its own number, 1, 2, 3 …, so that results can be cached by it. */
export class GenerationCounter {
  #last = 0;

  next(): number {
    return ++this.#last;
  }
}

/**
 * Which DSO is where. Addresses are signed doubles. A new map replaces old ones where they overlap; the rest of these stays. In a layer above the maps is code
 * that a JIT put there: small pieces, perhaps a hundred thousand of them, in any order. In one below them is what is known to be there although no record maps
 * it.
 */
export class AddressSpace {
  readonly #generations: GenerationCounter;
  readonly #memory: NodeMemory;
  #generation: number;
  #maps: RangeTree;
  #fallback: AddressSpace | undefined;
  #guest = -1;
  #code: RangeTree | undefined;
  #unrecorded: RangeTree | undefined;
  /** The layer in which {@link find} last found something. */
  #found: RangeTree;

  /** @param memory where the bytes that it takes are counted, together with those of others */
  constructor(generations: GenerationCounter, memory = new NodeMemory()) {
    this.#memory = memory;
    this.#maps = new RangeTree(memory);
    this.#found = this.#maps;
    this.#generations = generations;
    this.#generation = generations.next();
  }

  /** Changes with every change of the maps; equal generations mean equal maps. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * The maps that were there before an exec, for addresses at which nothing is mapped yet: while the kernel is still in execve(), the stack leads back to where
   * the old program called it.
   */
  get fallback(): AddressSpace | undefined {
    return this.#fallback;
  }

  set fallback(space: AddressSpace | undefined) {
    this.#fallback = space;
    this.#generation = this.#generations.next();
  }

  /** The virtual machine that the process runs, as {@link Kernels} has numbered it; −1 if none is known. */
  get guest(): number {
    return this.#guest;
  }

  set guest(guest: number) {
    this.#guest = guest;
    this.#generation = this.#generations.next();
  }

  /** What is where nothing is mapped. Processes share it, and none changes it. */
  set unrecorded(ranges: RangeTree) {
    this.#unrecorded = ranges;
    this.#generation = this.#generations.next();
  }

  /** Whether nothing is mapped. */
  get isEmpty(): boolean {
    return this.#maps.isEmpty && this.#unrecorded === undefined;
  }

  /** Whether one of certain DSOs is mapped, or may be. */
  maps(isOne: (dso: number) => boolean): boolean {
    if (this.#unrecorded !== undefined) return true;
    for (const { dso } of this.#maps) if (isOne(dso)) return true;
    return false;
  }

  /** An independent copy (fork). The two have the same generation until one of them changes, and share what stays equal. */
  clone(): AddressSpace {
    const copy = new AddressSpace(this.#generations, this.#memory);
    copy.#maps = this.#maps.clone();
    copy.#found = copy.#maps;
    copy.#fallback = this.#fallback;
    copy.#guest = this.#guest;
    copy.#code = this.#code?.clone();
    copy.#unrecorded = this.#unrecorded;
    copy.#generation = this.#generation;
    return copy;
  }

  /**
   * Maps [start, end) to a DSO whose own address for `start` is `start + delta`. An empty range changes nothing.
   */
  map(start: number, end: number, delta: number, dso: number): void {
    if (!(end > start)) return;
    this.#maps.put(start, end, delta, dso);
    this.#generation = this.#generations.next();
  }

  /** Puts a JIT's code into [start, end), over what is mapped there. */
  putCode(start: number, end: number, delta: number, dso: number): void {
    if (!(end > start)) return;
    this.#code ??= new RangeTree(this.#memory);
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
    this.#maps.remove(start, end);
    this.#generation = this.#generations.next();
  }

  /** Index of the range that holds an address, −1 when none does. It is valid until the next change or search. */
  find(address: number): number {
    // hot
    return this.#code === undefined && this.#unrecorded === undefined ? this.#maps.find(address) : this.#findInLayers(address);
  }

  #findInLayers(address: number): number {
    // hot
    if (this.#code !== undefined) {
      this.#found = this.#code;
      const at = this.#code.find(address);
      if (at >= 0) return at;
    }
    this.#found = this.#maps;
    const at = this.#maps.find(address);
    if (at >= 0 || this.#unrecorded === undefined) return at;
    this.#found = this.#unrecorded;
    return this.#unrecorded.find(address);
  }

  /** The lowest address at which a DSO is mapped; undefined if it is not. Takes time in proportion to the maps below. */
  firstOf(dso: number): number | undefined {
    return this.#maps.firstOf(dso);
  }

  /** Whether a piece of a JIT's code starts at an address. */
  startsCode(address: number): boolean {
    return this.#code?.rangeAt(address)?.start === address;
  }

  /** DSO of the range at an index that {@link find} gave. */
  dsoAt(index: number): number {
    return this.#found.dsoAt(index);
  }

  /** What to add to a run-time address in that range to get the DSO's own address. */
  deltaAt(index: number): number {
    return this.#found.deltaAt(index);
  }

  /** The first of the recorded maps that ends after an address; undefined when none does. */
  mapEndingAfter(address: number): DsoRange | undefined {
    return this.#maps.firstEndingAfter(address);
  }

  /** The recorded map that holds an address; undefined if none does, or if a JIT's code lies over parts of it. */
  wholeMapAt(address: number): DsoRange | undefined {
    const range = this.#maps.rangeAt(address);
    return range === undefined || (this.#code !== undefined && !this.#code.isFree(range.start, range.end)) ? undefined : range;
  }

  /** The range that holds an address, apart from a JIT's code over it; undefined if none does. */
  rangeAt(address: number): DsoRange | undefined {
    return this.#maps.rangeAt(address) ?? this.#unrecorded?.rangeAt(address);
  }
}
