/**
 * A sum or count that is never negative, all its digits: a double beyond 10^21 would print with an exponent.
 * @param remainder the exact number minus `value`
 */
export function wholeNumber(value: number, remainder = 0): string {
  return value <= Number.MAX_SAFE_INTEGER && remainder === 0 ? String(value) : (BigInt(value) + BigInt(remainder)).toString();
}
