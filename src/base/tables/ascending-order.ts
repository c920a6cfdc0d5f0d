/**
 * Indexes of `keys` in ascending order of the keys; equal keys keep their order. {@link placesIn} finds the place of each index.
 * @param keys whole numbers, or infinite ones
 */
export function ascendingOrder(keys: Float64Array): Uint32Array {
  const count = keys.length;
  const order = new Uint32Array(count);
  let isAscending = true;
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  // hot: mostly it is over before V8 has compiled it, so that all is found in one loop
  for (let i = 0; i < count; i++) {
    const key = keys[i];
    order[i] = i;
    if (key < greatest) isAscending = false;
    else greatest = key;
    if (key < least) least = key;
  }
  if (isAscending) return order;
  if ((greatest - least + 1) * count < Number.MAX_SAFE_INTEGER) {
    // Key and index fit into one double: the engine's own number sort is several times faster than one with a comparator.
    const packed = new Float64Array(count);
    for (let i = 0; i < count; i++) packed[i] = (keys[i] - least) * count + i;
    packed.sort();
    for (let i = 0; i < count; i++) order[i] = packed[i] % count;
    return order;
  }
  return order.sort((a, b) => keys[a] - keys[b] || a - b);
}

/** By index: its place in an order of all indexes, from 0 on. */
export function placesIn(order: ArrayLike<number>): Uint32Array {
  const places = new Uint32Array(order.length);
  for (let place = 0; place < order.length; place++) places[order[place]] = place;
  return places;
}
