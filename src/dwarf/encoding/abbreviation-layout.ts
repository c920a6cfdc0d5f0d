/** How an abbreviation table is laid out in memory: for TypeScript, and for the AssemblyScript that makes and uses it. Constants only. */

// What a row says about its DIEs.
/** The DIE has children. */
export const HAS_CHILDREN = 1;
/** A subprogram with code of its own. */
export const IS_FUNCTION = 2;
/** An inlined subroutine with code of its own. */
export const IS_INLINED = 4;
/** Hardly ever has code under it: a type, a declaration, an abstract instance. */
export const IS_CODELESS = 8;
/** Its attributes cannot be read: it has an unknown form, or far too many attributes. */
export const IS_UNREADABLE = 16;
/** A subprogram, with code or without. */
export const IS_SUBPROGRAM = 32;

// What forms whose size is in the data have instead of a size in bytes.
export const SIZE_ULEB = -1;
export const SIZE_STRING = -2;
export const SIZE_BLOCK1 = -3;
export const SIZE_BLOCK2 = -4;
export const SIZE_BLOCK4 = -5;
export const SIZE_BLOCK = -6;
export const SIZE_INDIRECT = -7;
/** An unknown form: what follows it cannot be found. */
export const SIZE_UNKNOWN = -8;

// 32-bit words at the beginning of a table: counts first, then where columns are, in bytes from the beginning.
export const ROW_COUNT = 0;
export const ATTRIBUTE_COUNT = 1;
/** Codes below this are looked up in {@link ROWS}; 0 for a table whose codes are sparse. */
export const CODE_COUNT = 2;
/** Whether any DIE may have DW_AT_ranges. */
export const HAS_RANGES = 3;
/** By attribute, double: the value of DW_FORM_implicit_const. */
export const IMPLICIT = 4;
/** By row, double: the code. Only in a sparse table. */
export const CODES = 5;
/** By row and after the last one, 32 bits: index of the first attribute. */
export const ATTRIBUTE_STARTS = 6;
/** By row, 32 bits: bytes of a DIE's attributes if all have a fixed size, else −1. */
export const SIZES = 7;
/** By row and after the last one, 32 bits: index of the first of {@link SKIPS}. */
export const SKIP_STARTS = 8;
/** By row, 32 bits: how many bytes before the end of a DIE's attributes its DW_AT_sibling of DW_FORM_ref4 is, 0 for none. */
export const SIBLING_BACKS = 9;
/** By row, 32 bits: bytes from the first attribute to DW_AT_low_pc of DW_FORM_addr, −1 if that is not fixed. */
export const LOW_PCS = 10;
/** The same for DW_AT_high_pc of DW_FORM_data4 and DW_FORM_data8. */
export const HIGH_PCS = 11;
/** The same for DW_AT_ranges of DW_FORM_sec_offset. */
export const RANGE_LISTS = 12;
/** By code, 32 bits: its row, −1 for none. */
export const ROWS = 13;
/** By row, 16 bits: DW_TAG_…, 0xffff for an unknown one. */
export const TAGS = 14;
/** By attribute, 16 bits: DW_AT_… and DW_FORM_…, 0xffff for an unknown one. */
export const NAMES = 15;
export const FORMS = 16;
/**
 * By code, 16 bits: how many bytes a DIE takes if it has no children, a fixed size, and is no function; 0 for others. Most DIEs are like
 * this: those of types.
 */
export const LEAF_SIZES = 17;
/** By row, 8 bits: what it says about its DIEs. */
export const FLAGS = 18;
/** By row, 8 bits: size of the DW_AT_high_pc in {@link HIGH_PCS}. */
export const HIGH_PC_SIZES = 19;
/** By attribute, 8 bits: the form's size in bytes, or one of SIZE_…. */
export const FORM_SIZES = 20;
/**
 * 32 bits: how to skip the attributes of a row that do not all have a fixed size: bytes of fixed size (> 0) and SIZE_… (< 0) in turn; for
 * row i, from SKIP_STARTS[i] up to SKIP_STARTS[i + 1].
 */
export const SKIPS = 21;
/** How many words there are at the beginning. */
export const HEADER_WORDS = 22;

// How parsing ended.
export const PARSED = 0;
/** The bytes end inside the table. */
export const IS_CUT = 1;
/** There are far too many abbreviations. */
export const IS_ENDLESS = 2;
/**
 * Linkers that make one table for all units come nowhere near this. Each abbreviation takes a hundred bytes of memory, and at least five of
 * the file.
 */
export const MAX_ABBREVIATIONS = 0x4_0000;
