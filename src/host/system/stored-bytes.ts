import type { BigIntStats } from 'node:fs';

/** The unit of st_blocks. Source: stat(3type). */
const STAT_BLOCK_BYTES = 512;

/** Bytes that a file occupies on disk, but at most its size: a file can have holes. */
export function storedBytesOf({ size, blocks }: BigIntStats): number {
  const sizeBytes = Number(size);
  // Some file systems do not count blocks.
  return blocks === 0n ? sizeBytes : Math.min(sizeBytes, Number(blocks) * STAT_BLOCK_BYTES);
}
