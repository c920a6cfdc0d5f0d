import { addressOf } from '../base/bytes/addresses.ts';
import { grown } from '../base/tables/growable.ts';
import { TupleInterner } from '../base/tables/tuple-interner.ts';

/** The address space that a location's code ran in (perf_event.h, PERF_RECORD_MISC_CPUMODE_MASK). */
export const CPUMODE_UNKNOWN = 0;
export const CPUMODE_KERNEL = 1;
export const CPUMODE_USER = 2;
export const CPUMODE_HYPERVISOR = 3;
export const CPUMODE_GUEST_KERNEL = 4;
export const CPUMODE_GUEST_USER = 5;

const RETURN_ADDRESS = 8;
const DATA = 16;
/** The variant is in the bits above those of cpumode, RETURN_ADDRESS and DATA. */
const VARIANT = 32;

/** A function at a location, and the place in its source from which the code was compiled. */
export interface LocationLine {
  /** Function index. */
  readonly function: number;
  /** 1-based, 0 when unknown; so is the column. */
  readonly line: number;
  readonly column: number;
  /** String index of the file that the line is in, if that is not the function's own (code that was included); else 0. */
  readonly file: number;
}

/**
 * Places in code, each once: rows are unique in (mapping, address, cpumode, whether it is a return address, variant). Places that were only accessed
 * ({@link isData}) are rows of their own, also where code was run, too.
 *
 * `address` is what perf prints: relative to the start of the mapped file (a file offset) for user code in a file; the run-time address for the kernel, for
 * memory that is not a file, and if no mapping was found. It is kept as two 32-bit words, since an unmapped address can be any 64-bit number.
 */
export class LocationTable {
  #rows = new TupleInterner(4, 1024);
  #lineStart = new Int32Array(1024).fill(-1);
  #lineCount = new Int32Array(1024);
  #symbolOffset = new Float64Array(1024);
  #lineFunction = new Int32Array(1024);
  #lineNumber = new Uint32Array(1024);
  #lineColumn = new Uint32Array(1024);
  #lineFile = new Uint32Array(1024);
  #lines = 0;
  /** Only up to the last location that has one. */
  #functionStart = new Float64Array(0);

  get size(): number {
    return this.#rows.size;
  }

  /** A table with the same locations under the same indexes; setting something in one does not change the other. */
  copy(): LocationTable {
    const copy = new LocationTable();
    copy.#rows = this.#rows.copy();
    copy.#lineStart = this.#lineStart.slice();
    copy.#lineCount = this.#lineCount.slice();
    copy.#symbolOffset = this.#symbolOffset.slice();
    copy.#lineFunction = this.#lineFunction.slice();
    copy.#lineNumber = this.#lineNumber.slice();
    copy.#lineColumn = this.#lineColumn.slice();
    copy.#lineFile = this.#lineFile.slice();
    copy.#lines = this.#lines;
    copy.#functionStart = this.#functionStart.slice();
    return copy;
  }

  /**
   * @param mapping index into the profile's mappings, −1 when the address belongs to none
   * @param addressLo low 32 bits, addressHi high 32 bits
   * @param cpumode one of the CPUMODE constants
   * @param isReturnAddress whether a call returns here: then the call itself is at the address before it
   * @param variant distinguishes places that are the same by all of these, but are not the same code: in merged recordings, if a binary without a build id was
   * another one the next time, or its symbols were found only once
   */
  intern(mapping: number, addressLo: number, addressHi: number, cpumode: number, isReturnAddress: boolean, variant = 0): number {
    const kind = isReturnAddress ? cpumode | RETURN_ADDRESS : cpumode;
    return this.#rows.intern(addressLo, addressHi, mapping, kind + variant * VARIANT);
  }

  /** The row of a place that was accessed. @param mapping, addressLo, addressHi, cpumode see {@link intern} */
  internData(mapping: number, addressLo: number, addressHi: number, cpumode: number): number {
    return this.#rows.intern(addressLo, addressHi, mapping, cpumode | DATA);
  }

  /** −1 when the address belongs to no mapping. */
  mapping(index: number): number {
    return this.#rows.words[index * 4 + 2] | 0;
  }

  /** Takes a location out of its mapping. {@link intern} does not find it again. */
  unmap(index: number): void {
    this.#rows.words[index * 4 + 2] = -1;
  }

  addressLo(index: number): number {
    return this.#rows.words[index * 4];
  }

  addressHi(index: number): number {
    return this.#rows.words[index * 4 + 1];
  }

  /** The address as a signed double: see {@link addressOf}. */
  address(index: number): number {
    return addressOf(this.addressHi(index), this.addressLo(index));
  }

  cpumode(index: number): number {
    return this.#rows.words[index * 4 + 3] & 7;
  }

  isReturnAddress(index: number): boolean {
    return (this.#rows.words[index * 4 + 3] & RETURN_ADDRESS) !== 0;
  }

  /** Whether the place was accessed, as by a page fault: it is in no stack and no branch, and need not be code. */
  isData(index: number): boolean {
    return (this.#rows.words[index * 4 + 3] & DATA) !== 0;
  }

  /**
   * Sets what is at a location: one line per function, the innermost inlined one first, the function that owns
   * the machine code last. A location without lines is unresolved.
   * @param symbolOffset bytes from the start of the symbol to the location's address (as printed: `main+0x1f`)
   */
  setLines(index: number, lines: readonly LocationLine[], symbolOffset: number): void {
    const start = this.#addLines(index, lines.length, symbolOffset);
    for (let i = 0; i < lines.length; i++) {
      const { function: func, line, column, file } = lines[i];
      this.#lineFunction[start + i] = func;
      this.#lineNumber[start + i] = line;
      this.#lineColumn[start + i] = column;
      this.#lineFile[start + i] = file;
    }
  }

  /** Number of functions at the location, 0 when unresolved; more than 1 if calls were inlined. */
  lineCount(index: number): number {
    return index < this.#lineCount.length ? this.#lineCount[index] : 0;
  }

  /** Function index of the location's `nth` line; 0 is the innermost. */
  lineFunction(index: number, nth: number): number {
    return this.#lineFunction[this.#lineStart[index] + nth];
  }

  /** 1-based source line of the location's `nth` line, 0 when unknown. */
  lineNumber(index: number, nth: number): number {
    return this.#lineNumber[this.#lineStart[index] + nth];
  }

  /** 1-based column of the location's `nth` line, 0 when unknown. */
  lineColumn(index: number, nth: number): number {
    return this.#lineColumn[this.#lineStart[index] + nth];
  }

  /** String index of the file that the location's `nth` line is in, if that is not the function's own (code that was included); else 0. */
  lineFile(index: number, nth: number): number {
    return this.#lineFile[this.#lineStart[index] + nth];
  }

  /** Gives a location that has no lines a function that only stands for it: `[libfoo.so]`. Then it has a line, but still no {@link symbolOffset}. */
  setStandIn(index: number, func: number): void {
    const line = this.#addLines(index, 1, -1);
    this.#lineFunction[line] = func;
  }

  /** Whether the function at a location only stands for unknown code: see {@link setStandIn}. */
  isStandIn(index: number): boolean {
    return this.lineCount(index) > 0 && this.#symbolOffset[index] === -1;
  }

  /** @param start see {@link functionStart} */
  setFunctionStart(index: number, start: number): void {
    const before = this.#functionStart.length;
    if (index >= before) this.#functionStart = grown(this.#functionStart, Math.max(index + 1, this.size)).fill(-1, before);
    this.#functionStart[index] = start;
  }

  /**
   * Where the unnamed function begins that a location is in, as an address in the binary's own terms, which addr2line and objdump use. −1 if that is unknown,
   * or if the function has a name.
   */
  functionStart(index: number): number {
    return index < this.#functionStart.length ? this.#functionStart[index] : -1;
  }

  /** Bytes from the start of the symbol to the address; −1 when unresolved. */
  symbolOffset(index: number): number {
    return this.lineCount(index) === 0 ? -1 : this.#symbolOffset[index];
  }

  /** Gives a location lines that are still to be filled in; they are all 0. @returns the first */
  #addLines(index: number, count: number, symbolOffset: number): number {
    const start = this.#lines;
    this.#lines += count;
    if (this.#lines > this.#lineFunction.length) {
      this.#lineFunction = grown(this.#lineFunction, this.#lines);
      this.#lineNumber = grown(this.#lineNumber, this.#lines);
      this.#lineColumn = grown(this.#lineColumn, this.#lines);
      this.#lineFile = grown(this.#lineFile, this.#lines);
    }
    if (this.size > this.#lineStart.length) this.#growToLocations();
    this.#lineStart[index] = start;
    this.#lineCount[index] = count;
    this.#symbolOffset[index] = symbolOffset;
    return start;
  }

  #growToLocations(): void {
    const before = this.#lineStart.length;
    this.#lineStart = grown(this.#lineStart, this.size).fill(-1, before);
    this.#lineCount = grown(this.#lineCount, this.size);
    this.#symbolOffset = grown(this.#symbolOffset, this.size);
  }
}
