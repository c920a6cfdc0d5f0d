/** What TypeScript and the AssemblyScript of assembly/ agree on, besides the table's layout and the standard's numbers. Constants only. */

// Windows of sections, by number.
export const RANGES = 0;
export const RNGLISTS = 1;
export const ADDR = 2;
export const WINDOW_COUNT = 3;
/** How much of a section is read at once. A longer range list has a longer window. */
export const WINDOW_SIZE_BYTES = 0x10_0000;

// How much of a unit a scan reads.
/** Leaves out functions without wanted addresses, abstract instances and types. */
export const SCAN_CODE = 0;
/** All functions with the types in them, which may be local classes with code of their own; no other types. */
export const SCAN_FUNCTIONS = 1;
/** Everything: Fortran and C of gcc may have nested functions. */
export const SCAN_ALL = 2;

// Why a line number program stops.
export const AT_END = 0;
/** At a sequence whose rows have to be sorted. */
export const UNORDERED = 1;
/** After DW_LNE_define_file. */
export const DEFINES_FILE = 2;

// What makes a unit unreadable; `wasm-instance.ts` has the words.
export const OVERRUNS_UNIT = 0;
export const NO_ABBREVIATION = 1;
export const UNKNOWN_FORM = 2;
export const VALUE_OVERRUNS = 3;
export const ENDLESS_INDIRECTION = 4;
export const TOO_MANY_CLAIMS = 5;
export const ENDLESS_RANGES = 6;

/** A form may be indirect again and again, without end. */
export const MAX_INDIRECTIONS = 4;
