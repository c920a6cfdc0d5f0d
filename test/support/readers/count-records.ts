import { Decompress } from 'fzstd';

const HEADER_BYTES = 8;
const SAMPLE = 9;
const AUXTRACE = 71;
const TRACING_DATA = 66;
const COMPRESSED = 81;
const COMPRESSED2 = 83;

/** The whole records in the data section of a recording, found only by their sizes. */
export interface WholeRecords {
  readonly records: number;
  readonly samples: number;
}

/**
 * Counts the whole records of a little-endian recording in file form, up to the end of its bytes, those in compressed
 * records among them. Independent of the decoder: a loop over sizes.
 */
export function countWholeRecords(bytes: Uint8Array): WholeRecords {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const dataStart = Number(view.getBigUint64(40, true));
  const dataSize = Number(view.getBigUint64(48, true));
  const end = dataSize === 0 ? bytes.length : Math.min(bytes.length, dataStart + dataSize);
  const pieces: Uint8Array[] = [];
  const zstd = new Decompress((piece) => pieces.push(piece));
  const counts = countRange(bytes, dataStart, end, (payload) => zstd.push(payload));
  const inside = Buffer.concat(pieces);
  const more = countRange(inside, 0, inside.length, () => {});
  return { records: counts.records + more.records, samples: counts.samples + more.samples };
}

function countRange(bytes: Uint8Array, start: number, end: number, inflate: (payload: Uint8Array) => void): WholeRecords {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let records = 0;
  let samples = 0;
  for (let at = start; at + HEADER_BYTES <= end; ) {
    const type = view.getUint32(at, true);
    const size = view.getUint16(at + 6, true);
    if (size < HEADER_BYTES || at + size > end) break;
    records++;
    if (type === SAMPLE) samples++;
    if (type === COMPRESSED) inflate(bytes.slice(at + HEADER_BYTES, at + size));
    if (type === COMPRESSED2) inflate(bytes.slice(at + HEADER_BYTES + 8, at + HEADER_BYTES + 8 + Number(view.getBigUint64(at + HEADER_BYTES, true))));
    let next = at + size;
    if (type === AUXTRACE) next += Number(view.getBigUint64(at + HEADER_BYTES, true));
    if (type === TRACING_DATA) next += view.getUint32(at + HEADER_BYTES, true);
    at = next;
  }
  return { records, samples };
}
