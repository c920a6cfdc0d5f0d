/**
 * How strong an alias's claim to an address is: perf prefers names that are not weak, and then global ones. Values of `SymbolRank`. assembly/symtab/ compiles
 * this file, too.
 */
export const RANK_WEAK = 0;
export const RANK_LOCAL = 1;
export const RANK_GLOBAL = 2;
