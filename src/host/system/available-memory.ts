import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** The memory that this process may use: what the machine has, or the container that it runs in (a control group) if that is less. */
export function availableMemory(): { readonly bytes: number; readonly objectBytes: number } {
  // Node returns 0 if that is not known, and a very large number if there is no limit.
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return { bytes: Math.min(totalmem(), constrained), objectBytes: getHeapStatistics().heap_size_limit };
}
