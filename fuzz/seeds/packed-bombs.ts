import { gzipSync } from 'node:zlib';
import {
  type AttrSpec,
  encodeFile,
  encodePipe,
  encodeRecord,
  type RecordSpec,
  record,
  type SampleFields,
} from '../../test/support/builders/recordings/perf-encoder.ts';
import type { Random } from '../random.ts';
import { repeatingZstdFrame } from '../zstd-frame.ts';
import { type Grown, SINGLE_FILE } from './seed.ts';

/** Bytes of callchain or payload in each sample. */
const BODY_BYTES = [0, 64, 800, 8000, 60_000];
/** What an input may unpack to: this many bytes, plus this many per byte of the input. */
const FREE_BYTES = 64 << 20;
const MAX_RATIO = 2048;
/** The ratio for records in COMPRESSED records. */
const MAX_RECORD_RATIO = 256;
const GZIP_PIECE_BYTES = 1 << 20;
const MAX_COMPRESSED_RECORD_BYTES = 65_000;

/**
 * Repeated samples, compressed as highly as the reader accepts. Their times are equal or missing, and there is no
 * FINISHED_ROUND after which earlier samples could be passed on.
 */
export function packedBomb(random: Random, maxBytes: number): Grown {
  const form = random.pick(['gzip', 'zstd', 'compressed records'] as const);
  const hasTime = !random.oneIn(4);
  const body = random.pick(['callchain', 'raw'] as const);
  const attr: AttrSpec = {
    name: 'cpu-clock',
    period: 1n,
    ids: [1n],
    sampleType: hasTime ? ['ip', 'tid', 'time', body] : ['ip', 'tid', body],
    flags: ['sampleIdAll'],
  };
  const bodyBytes = random.pick(BODY_BYTES);
  const fields: SampleFields = {
    ip: 0x40_0000n,
    pid: 100,
    tid: 100,
    time: 5_000n,
    ...(body === 'callchain' ? { callchain: Array.from({ length: bodyBytes / 8 }, (_, i) => 0x40_0000n + BigInt(i)) } : { raw: new Uint8Array(bodyBytes + 4) }),
  };
  const sample = encodeRecord(record.sample(fields), [attr]);
  // As much as is accepted, or less, since data that is refused only at its end is held in memory until then.
  const limit = FREE_BYTES + maxBytes * (form === 'compressed records' ? MAX_RECORD_RATIO : MAX_RATIO);
  const unpackedBytes = Math.floor(Math.min(limit, maxBytes * 300) / random.pick([1, 1, 2, 8]));
  const copies = Math.max(1, Math.floor(unpackedBytes / sample.length));
  if (form === 'compressed records') {
    const spec = { attrs: [attr], features: { compressed: { version: 1, type: 1, level: 1, ratio: 3, mmapLen: 1 << 19 } } };
    const records = piecesOf(repeatingZstdFrame(sample, copies, MAX_RECORD_RATIO / 2), MAX_COMPRESSED_RECORD_BYTES).map((piece) => record.opaque(81, piece));
    return { files: single(random.oneIn(2) ? encodeFile({ ...spec, records }) : encodePipe({ ...spec, records })), unpackedBytes };
  }
  const spec = { attrs: [attr], records: [] as RecordSpec[] };
  const head = random.oneIn(2) ? encodePipe(spec) : encodeFile({ ...spec, unfinished: true });
  return { files: single(form === 'gzip' ? gzipped(head, sample, copies) : zstd(head, sample, copies)), unpackedBytes };
}

const single = (bytes: Uint8Array): ReadonlyMap<string, Uint8Array> => new Map([[SINGLE_FILE, bytes]]);

/** gzip members of a megabyte, which are equal except for the first and the last, so that packing takes no time. */
function gzipped(head: Uint8Array, sample: Uint8Array, copies: number): Uint8Array {
  const perPiece = Math.max(1, Math.floor(GZIP_PIECE_BYTES / sample.length));
  const member = (count: number): Uint8Array => gzipSync(Buffer.alloc(count * sample.length, sample), { level: 9 });
  const whole = member(perPiece);
  // A copy, because slices of a Buffer share its bytes.
  return new Uint8Array(Buffer.concat([gzipSync(head), ...Array.from({ length: Math.floor(copies / perPiece) }, () => whole), member(copies % perPiece)]));
}

function zstd(head: Uint8Array, sample: Uint8Array, copies: number): Uint8Array {
  return new Uint8Array(Buffer.concat([repeatingZstdFrame(head, 1, 1), repeatingZstdFrame(sample, copies, MAX_RATIO)]));
}

function piecesOf(bytes: Uint8Array, sizeBytes: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / sizeBytes) }, (_, i) => bytes.subarray(i * sizeBytes, (i + 1) * sizeBytes));
}
