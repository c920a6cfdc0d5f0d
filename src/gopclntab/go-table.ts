import type { ByteView } from '../base/bytes/byte-view.ts';
import { PerfconvError } from '../base/problems/errors.ts';

/** Versions of the table, named after the first release 1.x of Go that wrote them. */
type TableVersion = 2 | 16 | 18 | 20;

const VERSIONS: ReadonlyMap<number, TableVersion> = new Map([
  [0xfffffffb, 2],
  [0xfffffffa, 16],
  [0xfffffff0, 18],
  [0xfffffff1, 20],
]);

/** Magic number, two zeros, size of the smallest instruction, size of a pointer. */
const IDENTITY_SIZE_BYTES = 8;

/** Kubernetes has some 150,000. */
const MAX_FUNCTIONS = 1 << 22;

/** Where the fields of a function's record are, in bytes, from Go 1.20 on. Earlier records begin in the same way, except for the size of the entry. */
const RECORD = {
  nameOffset: 4,
  frameSizesAfterEntry: 12,
  files: 20,
  lines: 24,
  pcDataCount: 28,
  unitOffset: 32,
  startLine: 36,
  funcDataCount: 43,
  sizeBytes: 44,
} as const;
/** Which of a function's tables have its inlined calls: the index of the call by address, and the calls. Source: Go, internal/abi/symtab.go. */
const PCDATA_INLINE_INDEX = 2;
const FUNCDATA_INLINE_TREE = 3;
const NONE = 0xffffffff;

/**
 * The table of functions that Go's linker puts into every program, since the runtime needs it: `.gopclntab`. Stripping keeps it. Its functions are in the order
 * of their addresses.
 * @see Go's source, debug/gosym/pclntab.go and runtime/symtab.go; "Go 1.2 Runtime Symbol Table" (golang.org/s/go12symtab)
 */
export class GoTable {
  readonly view: ByteView;
  readonly version: TableVersion;
  /** The unit of distances between addresses, in bytes: the size of the smallest instruction. */
  readonly quantum: number;
  readonly pointerSize: 4 | 8;
  readonly functionCount: number;
  /** The first function's address according to the header (Go 1.18 to 1.25); 0 if it does not say. */
  readonly textStart: number;
  /** Where in {@link view} the names of functions and files are. */
  readonly namesAt: number;
  readonly filesAt: number;
  /** Where the offsets of each unit's file names are, and the tables of values by address. */
  readonly unitsAt: number;
  readonly valuesAt: number;
  /** Where the list of functions is, each of which has its address and the offset of its record from {@link recordsAt}. */
  readonly functionsAt: number;
  readonly recordsAt: number;
  readonly #file: string;

  private constructor(view: ByteView, version: TableVersion, file: string) {
    this.view = view;
    this.version = version;
    this.#file = file;
    this.quantum = view.u8(6);
    this.pointerSize = view.u8(7) === 4 ? 4 : 8;
    const word = (index: number): number => this.pointerAt(IDENTITY_SIZE_BYTES + index * this.pointerSize);
    this.functionCount = word(0);
    if (version === 2) {
      this.textStart = 0;
      [this.namesAt, this.filesAt, this.unitsAt, this.valuesAt, this.recordsAt] = [0, 0, 0, 0, 0];
      this.functionsAt = IDENTITY_SIZE_BYTES + this.pointerSize;
    } else {
      const first = version === 16 ? 2 : 3;
      this.textStart = version === 16 ? 0 : word(2);
      [this.namesAt, this.unitsAt, this.filesAt, this.valuesAt, this.recordsAt] = [0, 1, 2, 3, 4].map((nth) => word(first + nth));
      this.functionsAt = this.recordsAt;
    }
    const parts = [this.namesAt, this.unitsAt, this.filesAt, this.valuesAt, this.functionsAt + (2 * this.functionCount + 1) * this.#fieldSize];
    if (this.functionCount > MAX_FUNCTIONS) throw this.damaged(`too many functions (${this.functionCount})`);
    if (!parts.every((at) => at <= view.length)) throw this.damaged('parts lie beyond its end');
  }

  /** Whether a table begins at an offset. */
  static isAt(view: ByteView, offset: number): boolean {
    if (offset + IDENTITY_SIZE_BYTES > view.length || !VERSIONS.has(view.u32(offset)) || view.u16(offset + 4) !== 0) return false;
    return [1, 2, 4].includes(view.u8(offset + 6)) && [4, 8].includes(view.u8(offset + 7));
  }

  /**
   * @param view begins with the table, and may extend beyond it
   * @param file name of the file with the table, for messages
   * @throws PerfconvError `unsupported` for one of another version; `damaged` for one whose parts are not in it
   */
  static read(view: ByteView, file: string): GoTable {
    const version = GoTable.isAt(view, 0) ? VERSIONS.get(view.u32(0)) : undefined;
    if (version === undefined) throw new PerfconvError('unsupported', 'unknown version', { file, record: '.gopclntab' });
    return new GoTable(view, version, file);
  }

  /** Whether {@link startOf} counts from the first function: Go 1.18 and later. */
  get isRelative(): boolean {
    return this.version >= 18;
  }

  /** Whether functions tell what was inlined into them in the form that this class reads: Go 1.20 and later. */
  get hasLines(): boolean {
    return this.version === 20;
  }

  /** Where a function begins; for number {@link functionCount}, where the last one ends. See {@link isRelative}. */
  startOf(index: number): number {
    const at = this.functionsAt + 2 * index * this.#fieldSize;
    return this.#fieldSize === 4 ? this.u32(at) : this.pointerAt(at);
  }

  /** Where names end: before Go 1.16, they are among other things. */
  get namesEnd(): number {
    return this.version === 2 ? this.view.length : this.unitsAt;
  }

  /** Where a function's name is in {@link view}; −1 if its record is beyond the end. */
  nameOf(index: number): number {
    const at = this.#recordOf(index) + (this.isRelative ? RECORD.nameOffset : this.pointerSize);
    return at + 4 > this.view.length ? -1 : this.namesAt + this.view.u32(at);
  }

  /** Where in {@link view} the sizes of a function's frame by address are; 0 if nowhere. */
  frameSizesOf(index: number): number {
    return this.#valuesIn(this.#recordOf(index) + (this.isRelative ? 4 : this.pointerSize) + RECORD.frameSizesAfterEntry);
  }

  /** Only if {@link hasLines}. Tables of values are offsets in {@link view}, 0 for none. */
  positionsOf(index: number): FunctionPositions {
    const at = this.#recordOf(index);
    const pcDataCount = this.u32(at + RECORD.pcDataCount);
    const funcDataAt = at + RECORD.sizeBytes + 4 * pcDataCount;
    const hasInlined = pcDataCount > PCDATA_INLINE_INDEX && this.u8(at + RECORD.funcDataCount) > FUNCDATA_INLINE_TREE;
    const tree = hasInlined ? this.u32(funcDataAt + 4 * FUNCDATA_INLINE_TREE) : NONE;
    return {
      startLine: this.u32(at + RECORD.startLine),
      files: this.#valuesIn(at + RECORD.files),
      lines: this.#valuesIn(at + RECORD.lines),
      unit: this.u32(at + RECORD.unitOffset),
      inlineIndexes: tree === NONE ? 0 : this.#valuesIn(at + RECORD.sizeBytes + 4 * PCDATA_INLINE_INDEX),
      inlineTree: tree === NONE ? -1 : tree,
    };
  }

  /** Where in {@link view} the name of a file is; −1 if there is none. @param unit see {@link FunctionPositions} */
  fileNameAt(unit: number, index: number): number {
    const offset = this.u32(this.unitsAt + 4 * (unit + index));
    return offset === NONE ? -1 : this.filesAt + offset;
  }

  u8(at: number): number {
    if (at >= this.view.length) throw this.damaged('offsets lie beyond its end');
    return this.view.u8(at);
  }

  u32(at: number): number {
    if (at + 4 > this.view.length) throw this.damaged('offsets lie beyond its end');
    return this.view.u32(at);
  }

  pointerAt(at: number): number {
    if (at + this.pointerSize > this.view.length) throw this.damaged('offsets lie beyond its end');
    return this.pointerSize === 4 ? this.view.u32(at) : this.view.u64(at);
  }

  #valuesIn(at: number): number {
    const offset = this.u32(at);
    return offset === 0 ? 0 : this.valuesAt + offset;
  }

  #recordOf(index: number): number {
    const at = this.functionsAt + 2 * index * this.#fieldSize + this.#fieldSize;
    return this.recordsAt + (this.#fieldSize === 4 ? this.u32(at) : this.pointerAt(at));
  }

  get #fieldSize(): number {
    return this.isRelative ? 4 : this.pointerSize;
  }

  /** An error that says what is damaged in the table. */
  damaged(what: string): PerfconvError {
    return new PerfconvError('damaged', what, { file: this.#file, record: '.gopclntab' });
  }
}

/** Called with the first damage of functions, or of lines; those of the others are there. */
export type NoteDamage = (error: PerfconvError) => void;

/** Where the files, lines and inlined calls of a function are. */
export interface FunctionPositions {
  /** 1-based; 0 when unknown. */
  readonly startLine: number;
  readonly files: number;
  readonly lines: number;
  /** Index of its unit's first file. */
  readonly unit: number;
  readonly inlineIndexes: number;
  /** Offset of its inlined calls among those of all functions; −1 if it has none. */
  readonly inlineTree: number;
}
