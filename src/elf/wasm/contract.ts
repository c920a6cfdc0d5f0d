/** What src/elf/symbols/plain-symbols.ts and assembly/symtab/ have to agree on. Both compile this file. */

/** An entry of a symbol table: Elf64_Sym. */
export const ENTRY_SIZE_BYTES = 24;
/** How many entries are in memory at a time. */
export const MAX_ENTRIES = 4096;
/** How many mapped segments of a file are used. Linkers make about five. Each address is compared with all. */
export const MAX_LOADS = 256;
/** A segment is three doubles: its address, its size in memory, its file offset. */
export const LOAD_FIELDS = 3;
