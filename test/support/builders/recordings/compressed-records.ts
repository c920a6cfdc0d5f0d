import { type AttrSpec, encodeRecord, type RecordSpec, toolRecords } from './perf-encoder.ts';

/** Magic, and a header that asks for a window of 2 MiB and nothing else (RFC 8878, 3.1.1.1). */
export const FRAME_START = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
const RAW = 0;
export const RLE = 1;

/** A block that is not the last one of its frame: perf never ends its frame. */
export function block(type: number, size: number, content: Iterable<number>): number[] {
  const header = (size << 3) | (type << 1);
  return [header & 0xff, (header >> 8) & 0xff, (header >> 16) & 0xff, ...content];
}

/** Records as one zstd stream of stored blocks, cut into COMPRESSED records without regard to records or blocks. */
export function compressedRecords(
  records: readonly RecordSpec[],
  attrs: readonly AttrSpec[],
  kind: 'COMPRESSED' | 'COMPRESSED2',
  pieceBytes: number,
  damageAt?: number,
): RecordSpec[] {
  const bytes = Buffer.concat(records.map((each) => encodeRecord(each, attrs)));
  const stream = [...FRAME_START];
  for (let at = 0; at < bytes.length; at += 10_000) {
    const part = bytes.subarray(at, at + 10_000);
    stream.push(...block(RAW, part.length, part));
  }
  // A block of a type that does not exist.
  if (damageAt !== undefined) stream[damageAt] |= 0x06;
  const pieces: RecordSpec[] = [];
  for (let at = 0; at < stream.length; at += pieceBytes) {
    const piece = Uint8Array.from(stream.slice(at, at + pieceBytes));
    pieces.push(kind === 'COMPRESSED' ? toolRecords.compressed(piece) : toolRecords.compressed2(piece));
  }
  return pieces;
}
