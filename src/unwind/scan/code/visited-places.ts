/** At most half of the slots are filled, so that few places are looked for in more than one. */
const SLOTS_PER_PLACE = 2;

/** The svmas that were visited while code is followed. It is empty again at once, while a Set has to grow again each time. */
export class VisitedPlaces {
  readonly #mask: number;
  readonly #svmas: Float64Array;
  /** By slot: the round in which it was filled. */
  readonly #rounds: Uint32Array;
  #round = 1;

  /** @param capacity how many places there may be between two calls of {@link clear}: a power of two */
  constructor(capacity: number) {
    const slots = SLOTS_PER_PLACE * capacity;
    this.#mask = slots - 1;
    this.#svmas = new Float64Array(slots);
    this.#rounds = new Uint32Array(slots);
  }

  clear(): void {
    this.#round++;
  }

  has(svma: number): boolean {
    const slot = this.#find(svma);
    return this.#rounds[slot] === this.#round;
  }

  add(svma: number): void {
    const slot = this.#find(svma);
    this.#svmas[slot] = svma;
    this.#rounds[slot] = this.#round;
  }

  /** The slot of a place, or the free one where it belongs. */
  #find(svma: number): number {
    const round = this.#round;
    // Instructions are next to each other, and so are their slots.
    let slot = svma & this.#mask;
    while (this.#rounds[slot] === round && this.#svmas[slot] !== svma) slot = (slot + 1) & this.#mask;
    return slot;
  }
}
