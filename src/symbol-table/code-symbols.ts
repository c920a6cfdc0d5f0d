import type { SymbolTable } from './symbol-table.ts';

/** What a function is declared in: a namespace or a type, or a function that it is local to. */
export interface SourceScope {
  /** The name in the source; empty for a namespace or a type without one. */
  readonly name: string;
  /** Of a function; empty when unknown, and of other scopes. */
  readonly linkageName: string;
  /** Whether it is a namespace: one without a name is another thing than a type without one. */
  readonly isNamespace?: boolean;
  /** What it is declared in itself; null when that is nothing, undefined when unknown. */
  readonly scope?: SourceScope | null | undefined;
}

/** A function as debug information describes it. Each description has one object, which can serve as a key. */
export interface SourceFunction {
  /** The name in the source, without scope or parameters; empty when unknown. */
  readonly name: string;
  /** The mangled name that linkers use; empty when debug information has none (C, local functions). */
  readonly linkageName: string;
  /** Where it is declared; empty when unknown. */
  readonly file: string;
  /** 1-based line of its declaration, 0 when unknown. */
  readonly startLine: number;
  /**
   * What it is declared in; null when that is nothing. Undefined when unknown: it is looked for where nothing else says it, for inlined
   * functions without a linkage name in languages with scopes. A hostile file's scopes may be in one another in a circle.
   */
  readonly scope?: SourceScope | null | undefined;
}

/** A function at an address, and the place in its source from which the code at the address was compiled. */
export interface SourceFrame {
  /** Undefined where only the line is known. */
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
   * Looks up all addresses in one pass.
   * @param addresses ascending, no two the same
   * @param visit called in any order, at most once for each address about which something is known, with the address's
   * index and its frames: the innermost inlined function first, the function that owns the machine code last. The
   * visitor may keep the array.
   * @throws PerfconvError only for what makes all of it unusable; damage in a part leaves that part's addresses out
   */
  lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void>;
}

/**
 * What one source knows about a DSO's code. Addresses are the DSO's own: file offsets for files, run-time addresses for
 * the kernel.
 */
export interface CodeSymbols {
  /** Its functions by address; absent where only debug information names them. */
  readonly table?: SymbolTable;
  /**
   * Whether the table is a JIT's perf map. perf does not demangle its names, and a return address may be the start of
   * one of its functions.
   */
  readonly isPerfMap?: boolean;
  /** Its inlined functions, files and lines; absent where there is no debug information or it was not asked for. */
  readonly lines?: SourceLines;
  /**
   * Finds where the functions begin that hold some addresses, without their names; absent where nothing knows. Asked
   * for what no symbol covers.
   * @param addresses ascending
   * @returns for each the function's start, as the binary itself counts (svma); −1 where it is unknown
   */
  functionStarts?(addresses: Float64Array): Promise<Float64Array>;
  /** Closes the files that {@link lines} and {@link functionStarts} read. */
  close?(): Promise<void>;
}
