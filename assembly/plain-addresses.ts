/** From here to −1 as signed numbers, and below 2^53, addresses are doubles as they are: see `addressOf` of src/base/addresses.ts. */
export const LEAST_PLAIN: i64 = -(1 << 52);
