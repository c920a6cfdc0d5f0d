/** Index of the first value of an ascending column that is not below `value`; its length when all are. */
export function lowerBound(column: Float64Array, value: number): number {
  let low = 0;
  let high = column.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the first value of `column` above `value`, among those from `from` to `to`, which are ascending; `to` when there is none. */
export function upperBound(column: Float64Array, value: number, from: number, to: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
