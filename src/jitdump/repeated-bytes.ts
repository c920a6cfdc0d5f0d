/**
 * How many bytes at the end of `before` are those that `after` begins with: as many as possible. In linear time (Knuth, Morris and Pratt).
 * @returns 0 when there are none
 */
export function repeatedBytes(before: Uint8Array, after: Uint8Array): number {
  const length = Math.min(before.length, after.length);
  /** For each length of a beginning of `after`, less one: the length of its own longest beginning that it ends with. */
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
