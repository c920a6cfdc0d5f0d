/**
 * How many bytes, at most, are both the end of `before` and the beginning of `after`. Takes linear time (Knuth, Morris and Pratt).
 * @returns 0 if there are none
 */
export function repeatedBytes(before: Uint8Array, after: Uint8Array): number {
  const length = Math.min(before.length, after.length);
  /** For each length of a beginning of `after`, minus one: the length of the longest shorter beginning that it ends with. */
  const shorter = new Uint32Array(length);
  for (let i = 1, matched = 0; i < length; i++) {
    while (matched > 0 && after[i] !== after[matched]) matched = shorter[matched - 1];
    if (after[i] === after[matched]) matched++;
    shorter[i] = matched;
  }
  let matched = 0;
  for (let i = before.length - length; i < before.length; i++) {
    while (matched > 0 && before[i] !== after[matched]) matched = shorter[matched - 1];
    if (before[i] === after[matched]) matched++;
  }
  return matched;
}
