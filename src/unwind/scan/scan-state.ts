/** Registers that instructions name: 32 on RISC-V and arm64, whose stack pointer is the last, 16 and the return address on x86-64, 16 on 32-bit Arm. */
const REGISTERS = 32;
/** What a value is made of, see {@link ScanState.bases}. Below {@link REGISTERS}: that register as it was where the scan began. */
export const MOVED = REGISTERS;
export const SAVED = MOVED + 1;
export const CONSTANT = SAVED + SAVED;
export const UNKNOWN = -1;
/** Functions save at most all registers. */
const MAX_SLOTS = 64;
/** What else they store is of use as long as nothing else is there for. */
const MAX_OTHER_SLOTS = 32;

/**
 * What registers hold on the way through code, told by what they held where the scan began, and what was stored in the frame since.
 *
 * A value is a base and an offset: a register's first value and what was added, the word in memory at such an address, or a number.
 */
export class ScanState {
  /**
   * By register: the number of a register, whose first value plus the offset it is; {@link MOVED} for the word in memory that the stack pointer was set
   * to ({@link movedBase}), plus the offset; {@link SAVED} plus such a number for the word at that address; {@link CONSTANT} for the offset itself;
   * {@link UNKNOWN}.
   */
  readonly bases = new Int8Array(REGISTERS);
  readonly offsets = new Float64Array(REGISTERS);
  /**
   * The register from whose first value {@link movedPlace} counts; −1 where the stack pointer was not set to a word in memory. Functions that align the
   * stack to more than the ABI does get back the stack pointer of their caller so.
   */
  movedBase = -1;
  /** Where that word is from there on. */
  movedPlace = 0;
  #sp = -1;
  /** Stores: by which register's first value, and how far from there; and what. */
  readonly #slotPlaces = new Int8Array(MAX_SLOTS);
  readonly #slots = new Float64Array(MAX_SLOTS);
  readonly #slotBases = new Int8Array(MAX_SLOTS);
  readonly #slotOffsets = new Float64Array(MAX_SLOTS);
  #slotCount = 0;
  /** Whether something was stored that found no room: then what was not stored is not known either. */
  #isFull = false;

  /** Begins: every register holds what it holds. @param sp the number of the stack pointer */
  begin(sp: number): void {
    this.#sp = sp;
    for (let register = 0; register < REGISTERS; register++) this.bases[register] = register;
    this.offsets.fill(0);
    this.movedBase = -1;
    this.#slotCount = 0;
    this.#isFull = false;
  }

  copyFrom(other: ScanState): void {
    this.#sp = other.#sp;
    this.bases.set(other.bases);
    this.offsets.set(other.offsets);
    this.movedBase = other.movedBase;
    this.movedPlace = other.movedPlace;
    this.#slotCount = other.#slotCount;
    // Most have a few: all places would take several times as long.
    for (let slot = 0; slot < this.#slotCount; slot++) {
      this.#slotPlaces[slot] = other.#slotPlaces[slot];
      this.#slots[slot] = other.#slots[slot];
      this.#slotBases[slot] = other.#slotBases[slot];
      this.#slotOffsets[slot] = other.#slotOffsets[slot];
    }
    this.#isFull = other.#isFull;
  }

  /** Something is written to a register that is not followed. */
  clobber(register: number): void {
    this.bases[register] = UNKNOWN;
  }

  setConstant(register: number, value: number): void {
    this.bases[register] = Number.isSafeInteger(value) ? CONSTANT : UNKNOWN;
    this.offsets[register] = value;
  }

  isConstant(register: number): boolean {
    return this.bases[register] === CONSTANT;
  }

  /** to = from + distance */
  add(to: number, from: number, distance: number): void {
    this.#set(to, this.bases[from], this.offsets[from], distance);
  }

  /** to = first + second, or first − second with a sign of −1 */
  combine(to: number, first: number, second: number, sign: 1 | -1): void {
    if (this.isConstant(second)) this.add(to, first, sign * this.offsets[second]);
    else if (this.isConstant(first) && sign === 1) this.add(to, second, this.offsets[first]);
    else this.clobber(to);
  }

  /** to = the word at base + distance */
  load(to: number, base: number, distance: number): void {
    const from = this.bases[base];
    const at = this.offsets[base] + distance;
    if (from < 0 || from >= SAVED) {
      this.clobber(to);
      return;
    }
    const slot = this.#find(from, at);
    if (slot >= 0) this.#set(to, this.#slotBases[slot], this.#slotOffsets[slot], 0);
    // Nothing is below the stack pointer but what was stored since.
    else if (this.#isFull || (from === this.#sp && at < 0)) this.clobber(to);
    else this.#set(to, SAVED + from, at, 0);
  }

  /** to = a value, see {@link bases}, + distance */
  #set(to: number, base: number, offset: number, distance: number): void {
    const isWord = base >= SAVED && base < CONSTANT;
    if (isWord && to === this.#sp) {
      this.#moveStack(base - SAVED, offset, distance);
      return;
    }
    const sum = offset + distance;
    // What is no longer exact is no distance of real code; added up often enough, it would be no number either.
    this.bases[to] = (isWord && distance !== 0) || !Number.isSafeInteger(sum) ? UNKNOWN : base;
    this.offsets[to] = sum;
  }

  /** The stack pointer = the word at a register's first value + place, + distance */
  #moveStack(base: number, place: number, distance: number): void {
    // Functions do it once.
    const isOther = this.movedBase >= 0 && (this.movedBase !== base || this.movedPlace !== place);
    this.bases[this.#sp] = isOther ? UNKNOWN : MOVED;
    this.offsets[this.#sp] = distance;
    if (isOther) return;
    this.movedBase = base;
    this.movedPlace = place;
  }

  /** The word at base + distance = register. */
  store(register: number, base: number, distance: number): void {
    this.#put(base, distance, this.bases[register], this.offsets[register]);
  }

  /** Where from the stack pointer's first value on a register's first value was stored; undefined where it was not. */
  placeOf(register: number): number | undefined {
    for (let slot = 0; slot < this.#slotCount; slot++) {
      if (this.#slotBases[slot] === register && this.#slotOffsets[slot] === 0 && this.#slotPlaces[slot] === this.#sp) return this.#slots[slot];
    }
    return undefined;
  }

  /** Something that is not followed is written to base + distance. */
  overwrite(base: number, distance: number): void {
    this.#put(base, distance, UNKNOWN, 0);
  }

  #put(base: number, distance: number, valueBase: number, valueOffset: number): void {
    const at = this.offsets[base] + distance;
    const place = this.bases[base];
    if (place < 0 || place >= SAVED) return;
    let slot = this.#find(place, at);
    if (slot < 0) {
      // What is not stored below the stack pointer is not known either.
      const isOther = valueBase === UNKNOWN || valueBase === CONSTANT;
      if (isOther && ((place === this.#sp && at < 0) || this.#slotCount >= MAX_OTHER_SLOTS)) return;
      if (this.#slotCount === MAX_SLOTS) {
        this.#isFull = true;
        return;
      }
      slot = this.#slotCount++;
      this.#slotPlaces[slot] = place;
      this.#slots[slot] = at;
    }
    this.#slotBases[slot] = valueBase;
    this.#slotOffsets[slot] = valueOffset;
  }

  #find(place: number, at: number): number {
    for (let slot = 0; slot < this.#slotCount; slot++) if (this.#slots[slot] === at && this.#slotPlaces[slot] === place) return slot;
    return -1;
  }
}
