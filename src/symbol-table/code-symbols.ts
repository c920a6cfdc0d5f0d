import type { SymbolTable } from './symbol-table.ts';

/** What a function is declared in: a namespace or a type, or a function that it is local to. */
export interface SourceScope {
  /** The name in the source; empty for a namespace or a type without one. */
  readonly name: string;
  /** For a function; empty when unknown, and for other scopes. */
  readonly linkageName: string;
  /** Whether it is a namespace: one without a name differs from a type without one. */
  readonly isNamespace?: boolean;
  /** What it is itself declared in; null for nothing, undefined when unknown. */
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
   * What it is declared in; null for nothing, undefined when unknown. It is only looked up if nothing else tells: for inlined functions
   * without a linkage name, in languages with scopes. A hostile file's scopes may contain one another in a circle.
   */
  readonly scope?: SourceScope | null | undefined;
}

/** A function at an address, and the place in its source from which the code at the address was compiled. */
export interface SourceFrame {
  /** Undefined if only the line is known. */
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
   * @param addresses ascending, without repetitions
   * @param visit called in any order, at most once for each address about which something is known, with the address's
   * index and its frames: the innermost inlined function first, the function that owns the machine code last. The
   * visitor may keep the array.
   * @throws PerfconvError only if nothing can be used; damage in a part leaves out that part's addresses
   */
  lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void>;
}

/**
 * What one source knows about a DSO's code. Addresses are the DSO's own: file offsets for files, run-time addresses for
 * the kernel.
 */
export interface CodeSymbols {
  /** Its functions by address; absent if only debug information names them. */
  readonly table?: SymbolTable;
  /**
   * Whether the table is a JIT's perf map. perf does not demangle its names, and a return address may be the start of
   * one of its functions.
   */
  readonly isPerfMap?: boolean;
  /**
   * Whether none of its functions ends with a call, as in Go, where each extends up to the next one: a return address that is the start of a function was put on
   * the stack, by the kernel for a signal handler to return to, or by such a handler, as if the interrupted instruction had called something.
   */
  readonly endsNoFunctionWithCall?: boolean;
  /** Its inlined functions, files and lines; absent if there is no debug information or it was not asked for. */
  readonly lines?: SourceLines;
  /**
   * Finds where the functions that contain some addresses begin, without their names; absent if nothing knows. Called for addresses that no
   * symbol covers.
   * @param addresses ascending
   * @returns for each, the svma of the function's start; −1 if it is unknown
   */
  functionStarts?(addresses: Float64Array): Promise<Float64Array>;
  /** Closes the files that {@link lines} and {@link functionStarts} read. */
  close?(): Promise<void>;
}
