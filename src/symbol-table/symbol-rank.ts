/**
 * How strongly an alias claims an address: perf prefers names that are not weak, then global ones. Values of `SymbolRank`. assembly/symtab/ compiles this
 * file, too.
 */
export const RANK_WEAK = 0;
export const RANK_LOCAL = 1;
export const RANK_GLOBAL = 2;
