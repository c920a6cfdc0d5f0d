/** A whole number of up to 64 bits, or a sum of such: a number where JSON's readers take it exactly, up to 2^53, else decimal text. */
export type ExactInteger = number | string;

export function exactInteger(value: bigint): ExactInteger {
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);
}
