/**
 * All decimal digits of a non-negative sum or count. (`String` would round beyond 2^53, and write an exponent from
 * 10^21 on.)
 * @param remainder the exact number minus `value`
 */
export function wholeNumber(value: number, remainder = 0): string {
  return value <= Number.MAX_SAFE_INTEGER && remainder === 0 ? String(value) : (BigInt(value) + BigInt(remainder)).toString();
}
