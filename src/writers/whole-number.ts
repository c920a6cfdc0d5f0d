/** A sum or count that is never negative, all its digits: a double beyond 10^21 would print with an exponent. */
export function wholeNumber(value: number): string {
  return value <= Number.MAX_SAFE_INTEGER ? String(value) : BigInt(value).toString();
}
