import { addressOf } from '../base/addresses.ts';
import { lostInSum, Remainders } from '../base/exact-sums.ts';
import { grown } from '../base/growable.ts';
import { KeyedPairs } from '../base/keyed-pairs.ts';
import { PairInterner } from '../base/pair-interner.ts';
import { TreeInterner } from '../base/tree-interner.ts';
import { TupleInterner } from '../base/tuple-interner.ts';

/**
 * Functions, each once: rows are unique in (name, systemName, file, startLine). All text is string indexes.
 */
export class FunctionTable {
  #rows = new TupleInterner(4, 256);
  #scoped = new Set<number>();
  /** Names in place of those of the rows. */
  #names: Uint32Array | undefined;

  get size(): number {
    return this.#rows.size;
  }

  /**
   * @param name string index of the name to show (demangled where that was asked for)
   * @param systemName string index of the linkage name when it differs from `name`, else 0 (empty); of a scoped name see `isScoped`
   * @param file string index of the source file, 0 (empty) when unknown
   * @param startLine 1-based line of the definition, 0 when unknown
   * @param isScoped whether there is no linkage name: `name` was put together from the scopes in debug information, and `systemName` is
   * what the function is called without them
   */
  intern(name: number, systemName = 0, file = 0, startLine = 0, isScoped = false): number {
    const row = this.#rows.intern(name, systemName, file, startLine);
    if (isScoped) this.#scoped.add(row);
    return row;
  }

  isScoped(index: number): boolean {
    return this.#scoped.has(index);
  }

  /** The same functions under other names; what either table gets from then on, both have. @param names by function: string indexes */
  withNames(names: Uint32Array): FunctionTable {
    const renamed = new FunctionTable();
    renamed.#rows = this.#rows;
    renamed.#scoped = this.#scoped;
    renamed.#names = names;
    return renamed;
  }

  name(index: number): number {
    return this.#names !== undefined && index < this.#names.length ? this.#names[index] : this.#rows.words[index * 4];
  }

  systemName(index: number): number {
    const { words } = this.#rows;
    const systemName = words[index * 4 + 1];
    // A name that was the linkage name, and is replaced, is still that.
    return systemName !== 0 || this.name(index) === words[index * 4] ? systemName : words[index * 4];
  }

  file(index: number): number {
    return this.#rows.words[index * 4 + 2];
  }

  startLine(index: number): number {
    return this.#rows.words[index * 4 + 3];
  }
}

/** The address space that a location's code ran in (perf_event.h, PERF_RECORD_MISC_CPUMODE_MASK). */
export const CPUMODE_UNKNOWN = 0;
export const CPUMODE_KERNEL = 1;
export const CPUMODE_USER = 2;
export const CPUMODE_HYPERVISOR = 3;
export const CPUMODE_GUEST_KERNEL = 4;
export const CPUMODE_GUEST_USER = 5;

const RETURN_ADDRESS = 8;
/** Above the bits of cpumode and RETURN_ADDRESS. */
const VARIANT = 16;

/** A function at a location, and where in its source the code there was made from. */
export interface LocationLine {
  /** Function index. */
  readonly function: number;
  /** 1-based, 0 when unknown; so is the column. */
  readonly line: number;
  readonly column: number;
  /** String index of the file that the line is in, where that is not the function's own (code that was included); else 0. */
  readonly file: number;
}

/**
 * Places in code, each once: rows are unique in (mapping, address, cpumode, whether it is a return address, variant).
 *
 * `address` is what perf prints: relative to the start of the mapped file (a file offset) for user code in a file; the
 * run-time address for the kernel, for memory that is no file, and where no mapping was found. It is kept as two
 * 32-bit words, since an unmapped address can be any 64 bits.
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
  /** No longer than up to the last location that has one. */
  #functionStart = new Float64Array(0);

  get size(): number {
    return this.#rows.size;
  }

  /** A table with the same locations, by the same indexes; what is set in one does not change the other. */
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
   * @param variant distinguishes what is the same place by all of these but not the same code: in merged recordings, where
   * a binary without a build id was another one the next time, or its symbols were found once only
   */
  intern(mapping: number, addressLo: number, addressHi: number, cpumode: number, isReturnAddress: boolean, variant = 0): number {
    const kind = isReturnAddress ? cpumode | RETURN_ADDRESS : cpumode;
    return this.#rows.intern(addressLo, addressHi, mapping, kind + variant * VARIANT);
  }

  /** −1 when the address belongs to no mapping. */
  mapping(index: number): number {
    return this.#rows.words[index * 4 + 2] | 0;
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

  /** Number of functions at the location, 0 when unresolved; more than 1 where calls were inlined. */
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

  /** String index of the file that the location's `nth` line is in, where that is not the function's own (code that was included); else 0. */
  lineFile(index: number, nth: number): number {
    return this.#lineFile[this.#lineStart[index] + nth];
  }

  /**
   * Gives a location that has no lines a function that only stands for it: `[libfoo.so]`. It has a line then and stays
   * without a {@link symbolOffset}.
   */
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
   * Where the function without a name begins that a location is in: an address as the binary itself counts, which is what
   * addr2line and objdump use. −1 where that is unknown, and where the function has a name.
   */
  functionStart(index: number): number {
    return index < this.#functionStart.length ? this.#functionStart[index] : -1;
  }

  /** Bytes from the start of the symbol to the address; −1 when unresolved. */
  symbolOffset(index: number): number {
    return this.lineCount(index) === 0 ? -1 : this.#symbolOffset[index];
  }

  /** Gives a location lines that are still to be filled in; 0 is what they have. @returns the first */
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

/**
 * Call stacks as a tree, each once: a stack is its caller's stack plus one location. A parent's index is smaller than
 * its children's. Stack −1 is the empty one.
 */
export class StackTable {
  readonly #tree = new TreeInterner();

  get size(): number {
    return this.#tree.size;
  }

  /** @param parent the caller's stack, −1 for the outermost frame */
  intern(parent: number, location: number): number {
    return this.#tree.intern(parent, location);
  }

  /** The caller's stack; −1 when this frame is the outermost. */
  parent(index: number): number {
    return this.#tree.parents[index];
  }

  location(index: number): number {
    return this.#tree.labels[index];
  }

  /** All callers' stacks and all locations, by index, for loops over every stack. Longer than there are stacks; replaced when they grow. */
  get columns(): { readonly parents: Int32Array; readonly locations: Int32Array } {
    return { parents: this.#tree.parents, locations: this.#tree.labels };
  }

  /** Writes the locations of a stack, leaf first, into `target` and returns how many there are. */
  locationsLeafFirst(index: number, target: number[]): number {
    let depth = 0;
    for (let stack = index; stack >= 0; stack = this.parent(stack)) target[depth++] = this.location(stack);
    return depth;
  }
}

/** Samples added up: rows are unique in (event, task, stack), in order of first appearance. */
export class TotalTable {
  /** (event, task), of which there are few, as one number each. */
  readonly #kinds = new PairInterner();
  /** Rows by stack + 1 and kind: most stacks belong to one thread. */
  readonly #rowOf = new KeyedPairs();
  /** Per row its kind and its stack, side by side. */
  #keys = new Int32Array(8192);
  /** Per row its number of samples and its sum of periods, side by side: one cache line for each sample added. */
  #sums = new Float64Array(8192);
  /** Of sums beyond 2^53. */
  readonly #periodRemainders = new Remainders();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Index of a row, which is added with sums of 0 when it is new. */
  intern(event: number, task: number, stack: number): number {
    const kind = this.#kinds.intern(event, task);
    const row = this.#rowOf.find(stack + 1, kind);
    return row < 0 ? this.#addRow(stack, kind) : row;
  }

  /** Adds one sample to a row. */
  addTo(row: number, period: number): void {
    // hot
    this.#sums[row * 2]++;
    this.addPeriod(row, period);
  }

  /** Adds to the period of a row's samples. */
  addPeriod(row: number, period: number): void {
    // hot
    const before = this.#sums[row * 2 + 1];
    const sum = before + period;
    this.#sums[row * 2 + 1] = sum;
    if (sum > Number.MAX_SAFE_INTEGER) this.#periodRemainders.add(row, lostInSum(before, period));
  }

  /** Adds several samples to a row. @param periodRemainder the exact sum minus its double */
  addSums(row: number, samples: number, period: number, periodRemainder = 0): void {
    this.#sums[row * 2] += samples;
    this.addPeriod(row, period);
    if (periodRemainder !== 0) this.addPeriod(row, periodRemainder);
  }

  /** Adds one sample to the row of its event, task and stack. */
  add(event: number, task: number, stack: number, period: number): void {
    this.addTo(this.intern(event, task, stack), period);
  }

  /** Number of distinct pairs of event and task that rows have, by which {@link columns} name them; they are in order of first appearance. */
  get kindCount(): number {
    return this.#kinds.size;
  }

  eventOfKind(kind: number): number {
    return this.#kinds.first[kind];
  }

  taskOfKind(kind: number): number {
    return this.#kinds.second[kind];
  }

  /**
   * For loops over every row: per row its kind and its stack, and its number of samples and its sum of periods, side by side. Longer than
   * there are rows; replaced when they grow.
   */
  get columns(): { readonly keys: Int32Array; readonly sums: Float64Array } {
    return { keys: this.#keys, sums: this.#sums };
  }

  event(row: number): number {
    return this.#kinds.first[this.#keys[row * 2]];
  }

  task(row: number): number {
    return this.#kinds.second[this.#keys[row * 2]];
  }

  /** −1 for samples without a stack. */
  stack(row: number): number {
    return this.#keys[row * 2 + 1];
  }

  /** Number of samples added up. */
  samples(row: number): number {
    return this.#sums[row * 2];
  }

  /** Sum of the samples' periods, in the event's unit. */
  period(row: number): number {
    return this.#sums[row * 2 + 1];
  }

  /** The exact sum minus its double; 0 up to 2^53. */
  periodRemainder(row: number): number {
    return this.#periodRemainders.at(row);
  }

  #addRow(stack: number, kind: number): number {
    const row = this.#size++;
    this.#keys = grown(this.#keys, row * 2 + 2);
    this.#sums = grown(this.#sums, row * 2 + 2);
    this.#keys[row * 2] = kind;
    this.#keys[row * 2 + 1] = stack;
    this.#rowOf.set(stack + 1, kind, row);
    return row;
  }
}
