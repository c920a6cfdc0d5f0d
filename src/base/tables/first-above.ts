/**
 * Index of the first number above `value` in an ascending column, from `from` up to `to`; `to` if none is. The one before it is the last that is not above. All
 * columns are of one type, so that V8 compiles the loop for that type wherever it is inlined.
 */
export function firstAbove(column: Float64Array, value: number, from: number, to: number): number {
  // hot
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
