/** A 64-bit number, or a sum of them, for JSON: a number up to 2^53, which every reader gets exactly, and decimal text beyond. */
export type ExactInteger = number | string;

export function exactInteger(value: bigint): ExactInteger {
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);
}
