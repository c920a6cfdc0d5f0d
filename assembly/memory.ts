/** A place with more room for what stands at another, which is given up. */
export function moved(from: usize, usedBytes: usize, sizeBytes: usize): usize {
  const to = heap.alloc(sizeBytes);
  memory.copy(to, from, usedBytes);
  return to;
}
