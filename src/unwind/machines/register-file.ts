/** Registers of one frame, by DWARF number: two 32-bit words each, and whether the value is known. */
export class RegisterFile {
  readonly lo: Uint32Array;
  readonly hi: Uint32Array;
  readonly known: Uint8Array;

  constructor(count: number) {
    this.lo = new Uint32Array(count);
    this.hi = new Uint32Array(count);
    this.known = new Uint8Array(count);
  }

  /** As a double: exact below 2^53; no larger value is an address of user space. */
  value(register: number): number {
    return this.hi[register] * 0x1_0000_0000 + this.lo[register];
  }

  /** Sets a register to an address that is exact as a double. */
  set(register: number, value: number): void {
    this.lo[register] = value;
    this.hi[register] = Math.floor(value / 0x1_0000_0000);
    this.known[register] = 1;
  }

  setWords(register: number, lo: number, hi: number): void {
    this.lo[register] = lo;
    this.hi[register] = hi;
    this.known[register] = 1;
  }

  copyFrom(other: RegisterFile): void {
    this.lo.set(other.lo);
    this.hi.set(other.hi);
    this.known.set(other.known);
  }
}
