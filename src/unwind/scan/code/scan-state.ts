/**
 * Enough for each machine: PowerPC has 32 and two to jump by, RISC-V, LoongArch and MIPS 32, arm64 31 and the stack pointer, x86-64 16 and the return address's
 * column, 32-bit Arm 16.
 */
const REGISTERS = 34;
/** What a value counts from, see {@link ScanState.bases}. Numbers below {@link REGISTERS} are registers, as they were where the scan began. */
export const INDIRECT = REGISTERS;
export const SAVED = INDIRECT + 1;
export const CONSTANT = SAVED + SAVED;
export const UNKNOWN = -1;
/** How many words in memory are tracked: functions save no more than all registers. */
const MAX_SLOTS = 64;
/** Once this many are taken, numbers and values that are not tracked get no more slots: the rest is for saved registers. */
const MAX_OTHER_SLOTS = 32;

/**
 * What registers and the words of the frame hold at some point of the code, in terms of what registers held where the scan began: their first values.
 *
 * A value is a base and an offset: a register's first value plus what was added to it, the word in memory at such an address, or a number.
 */
export class ScanState {
  /**
   * By register, what its value counts from: a register's number for its first value plus the offset; {@link INDIRECT} for the word in memory that the stack
   * pointer was set to ({@link pointerBase}), plus the offset; {@link SAVED} plus a register's number for the word at such an address; {@link CONSTANT} for the
   * offset itself; {@link UNKNOWN}.
   */
  readonly bases = new Int8Array(REGISTERS);
  readonly offsets = new Float64Array(REGISTERS);
  /**
   * If the stack pointer was set to a word in memory: the register from whose first value that word's address counts; else −1. Functions that align their stack
   * to more than the ABI does restore their caller's stack pointer in this way.
   */
  pointerBase = -1;
  /** How far from there the word is. */
  pointerOffset = 0;
  /** Whether the word was added to the stack pointer instead: it holds how far that was moved when it was aligned. */
  isDistance = false;
  #sp = -1;
  /** Words that were stored: the address of each, as a register from whose first value it counts and the distance from there; and its value. */
  readonly #addressBases = new Int8Array(MAX_SLOTS);
  readonly #addressOffsets = new Float64Array(MAX_SLOTS);
  readonly #valueBases = new Int8Array(MAX_SLOTS);
  readonly #valueOffsets = new Float64Array(MAX_SLOTS);
  #slotCount = 0;
  /** Whether there was no slot for something that was stored: then nothing is known about words without a slot. */
  #isFull = false;

  /** Begins a scan: every register has its first value, and nothing was stored. @param sp the number of the stack pointer */
  begin(sp: number): void {
    this.#sp = sp;
    for (let register = 0; register < REGISTERS; register++) this.bases[register] = register;
    this.offsets.fill(0);
    this.pointerBase = -1;
    this.#slotCount = 0;
    this.#isFull = false;
  }

  copyFrom(other: ScanState): void {
    this.#sp = other.#sp;
    this.bases.set(other.bases);
    this.offsets.set(other.offsets);
    this.pointerBase = other.pointerBase;
    this.pointerOffset = other.pointerOffset;
    this.isDistance = other.isDistance;
    this.#slotCount = other.#slotCount;
    // Most functions use a few. Copying all would take several times as long.
    for (let slot = 0; slot < this.#slotCount; slot++) {
      this.#addressBases[slot] = other.#addressBases[slot];
      this.#addressOffsets[slot] = other.#addressOffsets[slot];
      this.#valueBases[slot] = other.#valueBases[slot];
      this.#valueOffsets[slot] = other.#valueOffsets[slot];
    }
    this.#isFull = other.#isFull;
  }

  /** Gives a register a value that is not tracked. */
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

  /** Whether a register still, or again, has the value that it had where the scan began. */
  hasFirstValue(register: number): boolean {
    return this.bases[register] === register && this.offsets[register] === 0;
  }

  /** to = from + distance */
  add(to: number, from: number, distance: number): void {
    this.#set(to, this.bases[from], this.offsets[from], distance);
  }

  /** to = first + second, or first − second with a sign of −1 */
  combine(to: number, first: number, second: number, sign: 1 | -1): void {
    if (this.isConstant(second)) this.add(to, first, sign * this.offsets[second]);
    else if (this.isConstant(first) && sign === 1) this.add(to, second, this.offsets[first]);
    else if (to === this.#sp && first === to && this.bases[to] === to && this.#isWord(second) && sign === 1)
      this.#moveStack(this.bases[second] - SAVED, this.offsets[second], this.offsets[to], true);
    else this.clobber(to);
  }

  /** to = the word at base + distance */
  load(to: number, base: number, distance: number): void {
    const addressBase = this.bases[base];
    const addressOffset = this.offsets[base] + distance;
    if (addressBase < 0 || addressBase >= SAVED) {
      this.clobber(to);
      return;
    }
    const slot = this.#find(addressBase, addressOffset);
    if (slot >= 0) this.#set(to, this.#valueBases[slot], this.#valueOffsets[slot], 0);
    // Below the first value of the stack pointer there is only what was stored since.
    else if (this.#isFull || (addressBase === this.#sp && addressOffset < 0)) this.clobber(to);
    else this.#set(to, SAVED + addressBase, addressOffset, 0);
  }

  /** Whether a register holds a word that was in memory where the scan began. */
  #isWord(register: number): boolean {
    const base = this.bases[register];
    return base >= SAVED && base < CONSTANT;
  }

  /** to = a value, see {@link bases}, + distance */
  #set(to: number, base: number, offset: number, distance: number): void {
    const isWord = base >= SAVED && base < CONSTANT;
    if (isWord && to === this.#sp) {
      this.#moveStack(base - SAVED, offset, distance, false);
      return;
    }
    const sum = offset + distance;
    // Real code has no distances that are not exact as doubles. Added up often enough, they would not even be numbers.
    this.bases[to] = (isWord && distance !== 0) || !Number.isSafeInteger(sum) ? UNKNOWN : base;
    this.offsets[to] = sum;
  }

  /** The stack pointer = the word at a register's first value + offset, + distance, + its own first value if the word is a distance */
  #moveStack(base: number, offset: number, distance: number, isDistance: boolean): void {
    // Functions do it once: only one such word is remembered.
    const isOther = this.pointerBase >= 0 && (this.pointerBase !== base || this.pointerOffset !== offset || this.isDistance !== isDistance);
    this.bases[this.#sp] = isOther ? UNKNOWN : INDIRECT;
    this.offsets[this.#sp] = distance;
    if (isOther) return;
    this.pointerBase = base;
    this.pointerOffset = offset;
    this.isDistance = isDistance;
  }

  /** The word at base + distance = register. */
  store(register: number, base: number, distance: number): void {
    this.#put(base, distance, this.bases[register], this.offsets[register]);
  }

  /** Where a register's first value was stored, as a distance from the stack pointer's first value; undefined if it was not. */
  savedAt(register: number): number | undefined {
    for (let slot = 0; slot < this.#slotCount; slot++) {
      if (this.#valueBases[slot] === register && this.#valueOffsets[slot] === 0 && this.#addressBases[slot] === this.#sp) return this.#addressOffsets[slot];
    }
    return undefined;
  }

  /** Gives the word at base + distance a value that is not tracked. */
  overwrite(base: number, distance: number): void {
    this.#put(base, distance, UNKNOWN, 0);
  }

  #put(base: number, distance: number, valueBase: number, valueOffset: number): void {
    const addressBase = this.bases[base];
    const addressOffset = this.offsets[base] + distance;
    if (addressBase < 0 || addressBase >= SAVED) return;
    let slot = this.#find(addressBase, addressOffset);
    if (slot < 0) {
      // Below the stack pointer's first value, words without a slot are unknown anyway.
      const isOther = valueBase === UNKNOWN || valueBase === CONSTANT;
      if (isOther && ((addressBase === this.#sp && addressOffset < 0) || this.#slotCount >= MAX_OTHER_SLOTS)) return;
      if (this.#slotCount === MAX_SLOTS) {
        this.#isFull = true;
        return;
      }
      slot = this.#slotCount++;
      this.#addressBases[slot] = addressBase;
      this.#addressOffsets[slot] = addressOffset;
    }
    this.#valueBases[slot] = valueBase;
    this.#valueOffsets[slot] = valueOffset;
  }

  #find(base: number, offset: number): number {
    for (let slot = 0; slot < this.#slotCount; slot++) if (this.#addressOffsets[slot] === offset && this.#addressBases[slot] === base) return slot;
    return -1;
  }
}
