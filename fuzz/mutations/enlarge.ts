import { anatomyOf } from '../anatomy/anatomy.ts';
import type { Random } from '../random.ts';

/** Size of a large input: the size for which two seconds are promised. */
const LARGE_BYTES = 1 << 20;
const MAX_RECORDS = 4;
const STEPS = [0n, 1n, 8n, 4096n, 1n << 32n, -8n];

/**
 * A file of a megabyte in which a few records are repeated, with some of their words counting up. Shows work that grows
 * with the square of something. A file without records is not changed.
 */
export function enlarge(bytes: Uint8Array, random: Random): Uint8Array {
  const { records, view, form, dataEnd, dataSizeAt, sectionOffsetsAt } = anatomyOf(bytes);
  if (records.length === 0) return bytes;
  const pattern = Array.from({ length: random.between(1, MAX_RECORDS) }, () => {
    const { offset, sizeBytes } = random.pick(records);
    const words = Array.from({ length: random.below(4) }, () => ({ at: 8 + random.below(Math.max(1, sizeBytes - 15)), step: random.pick(STEPS) }));
    return { bytes: bytes.slice(offset, offset + sizeBytes), words };
  });
  const patternBytes = pattern.reduce((sum, one) => sum + one.bytes.length, 0);
  const count = Math.floor(LARGE_BYTES / patternBytes);
  const { littleEndian } = view;
  const end = Math.min(form === 'file' ? dataEnd : bytes.length, bytes.length);
  const result = new Uint8Array(bytes.length + count * patternBytes);
  result.set(bytes.subarray(0, end));
  result.set(bytes.subarray(end), end + count * patternBytes);
  const data = new DataView(result.buffer);
  let at = end;
  for (let copy = 0; copy < count; copy++) {
    for (const { bytes: record, words } of pattern) {
      result.set(record, at);
      for (const word of words) {
        if (word.at + 8 > record.length) continue;
        const value = data.getBigUint64(at + word.at, littleEndian);
        data.setBigUint64(at + word.at, BigInt.asUintN(64, value + word.step * BigInt(copy)), littleEndian);
      }
      at += record.length;
    }
  }
  if (form === 'file') {
    const grown = count * patternBytes;
    const grow = (place: number): void => data.setBigUint64(place, BigInt.asUintN(64, data.getBigUint64(place, littleEndian) + BigInt(grown)), littleEndian);
    grow(dataSizeAt);
    // The table of header features comes after the data.
    for (const place of sectionOffsetsAt) grow(place + (place < end ? 0 : grown));
  }
  return result;
}
