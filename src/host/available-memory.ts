import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** The memory that this process may use: what the machine has, or the container that it runs in (a control group) if that is less. */
export function availableMemory(): { readonly bytes: number; readonly objectBytes: number } {
  // 0 where that is not known, and a very large number where there is no limit.
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return { bytes: Math.min(totalmem(), constrained), objectBytes: getHeapStatistics().heap_size_limit };
}
