/** Addresses from this to −1 (as signed numbers), and those below 2^53, can be converted to doubles directly: see `addressOf` of src/base/bytes/addresses.ts. */
export const LEAST_PLAIN: i64 = -(1 << 52);
