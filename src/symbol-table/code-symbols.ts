import type { SymbolTable } from './symbol-table.ts';

/** A function as debug information describes it; one object for one description, so that it can be a key. */
export interface SourceFunction {
  /** As the source names it, without scope or parameters; empty when it is not told. */
  readonly name: string;
  /** What the linker calls it, mangled; empty when that is not told (C, local functions). */
  readonly linkageName: string;
  /** Where it is declared; empty when unknown. */
  readonly file: string;
  /** 1-based line of its declaration, 0 when unknown. */
  readonly startLine: number;
}

/** One function at an address: the code that stands there was made from this place in it. */
export interface SourceFrame {
  /** Absent where only the line is known. */
  readonly function: SourceFunction | undefined;
  /** Path with the compilation directory joined and `.` and `..` resolved; empty when unknown. */
  readonly file: string;
  /** 1-based; 0 when unknown. */
  readonly line: number;
  /** 1-based; 0 when unknown. */
  readonly column: number;
}

/** Functions, files and lines at addresses, from debug information. */
export interface SourceLines {
  /**
   * Looks addresses up, all in one pass.
   * @param addresses ascending, no two the same
   * @param visit called in any order, at most once for each address of which something is known: with the address's index and
   * its frames, the innermost inlined function first, the function that owns the machine code last. The array is the visitor's.
   * @throws PerfconvError only for what makes all of it unusable; damage in a part leaves that part's addresses out
   */
  lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void>;
}

/** What is known of a DSO's code. Addresses are the DSO's own: file offsets for files, run-time addresses for the kernel. */
export interface CodeSymbols {
  /** Its functions by address; absent when only debug information names them. */
  readonly table?: SymbolTable;
  /** Whether the table is a JIT's own list: perf shows its names as they are. Functions of JITs may be returned to at their start. */
  readonly isPerfMap?: boolean;
  /** Its inlined functions, files and lines; absent where there is no debug information, or it was not asked for. */
  readonly lines?: SourceLines;
  /** Closes the files that {@link lines} reads. */
  close?(): Promise<void>;
}
