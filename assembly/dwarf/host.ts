/** Functions of the TypeScript that an instance belongs to: src/dwarf/encoding/wasm-instance.ts provides them. */

/** `addressOf` of src/base/bytes/addresses.ts. */
export declare function addressOf(high: u32, low: u32): f64;

/** Throws the error for a kind of damage that src/dwarf/wasm/contract.ts numbers, through everything that runs here. */
export declare function damaged(what: i32, detail: f64): void;

/** Throws the error for a lack of memory. */
export declare function full(): void;

/** `formSize` of the current unit's forms. */
export declare function formSize(form: i32): i32;

/** The row of a code in a table whose codes are sparse, −1 for none. */
export declare function rowOf(code: f64): i32;
