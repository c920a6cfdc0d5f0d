/** What makes a unit unreadable. The same numbers as in src/dwarf/unit-machine.ts, which has the words. */
export const OVERRUNS_UNIT: i32 = 0;
export const NO_ABBREVIATION: i32 = 1;
export const UNKNOWN_FORM: i32 = 2;
export const VALUE_OVERRUNS: i32 = 3;
export const ENDLESS_INDIRECTION: i32 = 4;
export const TOO_MANY_CLAIMS: i32 = 5;
export const ENDLESS_RANGES: i32 = 6;
