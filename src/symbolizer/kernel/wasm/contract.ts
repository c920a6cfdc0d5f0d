/** What src/symbolizer/kernel/plain-lines.ts and assembly/kallsyms/ have to agree on. Both compile this file. */

/** How much of the list is in memory at a time. */
export const WINDOW_SIZE_BYTES = 1 << 17;
/** Room for what follows a name, up to and with the end of the line. The names of modules have at most 55 characters. */
export const MAX_TAIL_SIZE_BYTES = 64;
/** The shortest line that is plain: 16 digits, a blank, the type, a blank, one character, the end of the line. */
export const LEAST_LINE_SIZE_BYTES = 21;
/** How many lines a window holds at most. */
export const MAX_ROWS = WINDOW_SIZE_BYTES / LEAST_LINE_SIZE_BYTES + 1;
