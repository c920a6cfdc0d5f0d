import type { Field } from './anatomy.ts';
import type { BoundedView } from './bounded-view.ts';

const MAGIC = 0xfd2fb528;
const BLOCK_HEADER_BYTES = 3;
const RLE_BLOCK = 1;

/**
 * Finds the sizes in zstd frames between two offsets: descriptor, window, content size, block headers. Source: RFC
 * 8878, 3.1.1. Frames are little-endian in every recording, so their numbers are treated as single bytes.
 */
export function zstdFields(view: BoundedView, start: number, end: number): Field[] {
  const { bytes } = view;
  const limit = Math.min(end, bytes.length);
  const fields: Field[] = [];
  let at = start;
  const take = (count: number): void => {
    for (let i = 0; i < count && at + i < limit; i++) fields.push({ offset: at + i, sizeBytes: 1 });
    at += count;
  };
  while (at + 6 <= limit && littleEndian(bytes, at, 4) === MAGIC) {
    at += 4;
    const descriptor = bytes[at];
    const isSingleSegment = (descriptor & 0x20) !== 0;
    take(1);
    if (!isSingleSegment) take(1);
    take([0, 1, 2, 4][descriptor & 3]);
    take([isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]);
    for (let isLast = false; !isLast && at + BLOCK_HEADER_BYTES <= limit; ) {
      const header = littleEndian(bytes, at, BLOCK_HEADER_BYTES);
      take(BLOCK_HEADER_BYTES);
      // The first bytes of a compressed block hold the length of its literals and the number of its sequences.
      for (let i = 0; i < 4 && at + i < limit; i++) fields.push({ offset: at + i, sizeBytes: 1 });
      at += ((header >> 1) & 3) === RLE_BLOCK ? 1 : header >> 3;
      isLast = (header & 1) === 1;
    }
    if ((descriptor & 4) !== 0) at += 4;
  }
  return fields;
}

function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let i = count - 1; i >= 0; i--) value = value * 256 + bytes[at + i];
  return value;
}
