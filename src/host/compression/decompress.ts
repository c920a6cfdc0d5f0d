import { promisify } from 'node:util';
import { inflate, inflateSync, type ZlibOptions } from 'node:zlib';
import { messageOf, PerfconvError } from '../../base/problems/errors.ts';
import { BoundedBytes, unpacksToMore } from '../../base/streams/bounded-bytes.ts';
import type { Compression } from '../../base/streams/decompressor.ts';
import type { Unpacker } from '../../unwrap/unpacker.ts';
import { unwrapXz } from '../../unwrap/xz.ts';
import { openZstdUnpacker } from '../../unwrap/zstd-unpacker.ts';
import { gzipUnpacker } from './unwrap-deflate.ts';

const inflateBytes = promisify<Uint8Array, ZlibOptions, Uint8Array>(inflate);

const MIN_CHUNK_SIZE_BYTES = 64;
/**
 * zlib data rarely unpack to more than this many times their own size. So much memory is allocated at once: most often nothing has to be put together from
 * pieces, and yet small data that claim to become huge do not get the memory.
 */
const LIKELY_RATIO = 16;
const MAX_CHUNK_SIZE_BYTES = 64 << 20;
/** How much is pushed at once into an unpacker that works in pieces. */
const STEP_SIZE_BYTES = 1 << 20;
/** zlib cannot count further. */
const MAX_OUTPUT_SIZE_BYTES = 0x7fff_ffff;

/**
 * Up to this size, packed and unpacked, bytes are unpacked synchronously: most sections are smaller, and are unpacked before another thread would have
 * answered. The largest ones take a few tens of milliseconds.
 */
const MAX_SYNC_SIZE_BYTES = 4 << 20;

/** Node's {@link import('../../base/streams/decompressor.ts').Decompressor}. */
export async function decompress(compression: Compression, bytes: Uint8Array, maxSizeBytes: number, isAhead = false): Promise<Uint8Array> {
  switch (compression) {
    case 'zlib':
      return unzlib(bytes, maxSizeBytes, isAhead);
    case 'gzip':
      return unpack(gzipUnpacker(), bytes, new BoundedBytes(compression, maxSizeBytes));
    case 'zstd':
      // The unpacker takes everything that does not begin a frame for trailing bytes.
      if (!beginsZstdFrame(bytes)) throw new PerfconvError('damaged', 'the zstd data cannot be read: it does not start with a frame');
      return unpack(await openZstdUnpacker(), bytes, new BoundedBytes(compression, maxSizeBytes));
    case 'xz': {
      const whole = new BoundedBytes(compression, maxSizeBytes);
      for await (const piece of unwrapXz([bytes], () => {})) whole.push(piece);
      return whole.bytes();
    }
  }
}

/** By far the fastest way for zlib, with which most sections are compressed. */
async function unzlib(bytes: Uint8Array, maxSizeBytes: number, isAhead: boolean): Promise<Uint8Array> {
  const maxOutputLength = Math.max(1, Math.min(maxSizeBytes, MAX_OUTPUT_SIZE_BYTES));
  // One byte more than there will be, since zlib allocates the next piece as soon as one is full.
  const chunkSize = Math.max(MIN_CHUNK_SIZE_BYTES, Math.min(maxOutputLength + 1, LIKELY_RATIO * bytes.length, MAX_CHUNK_SIZE_BYTES));
  try {
    const options = { chunkSize, maxOutputLength };
    const isHere = !isAhead && Math.max(bytes.length, maxOutputLength) <= MAX_SYNC_SIZE_BYTES;
    return isHere ? inflateSync(bytes, options) : await inflateBytes(bytes, options);
  } catch (cause) {
    if (cause instanceof RangeError) throw unpacksToMore('zlib', maxSizeBytes);
    throw new PerfconvError('damaged', `the zlib data cannot be read: ${messageOf(cause)}`, {}, { cause });
  }
}

async function unpack(unpacker: Unpacker, bytes: Uint8Array, whole: BoundedBytes): Promise<Uint8Array> {
  const take = (piece: Uint8Array): void => whole.push(piece);
  try {
    for (let at = 0; at < bytes.length && !unpacker.hasTrailing; at += STEP_SIZE_BYTES) await unpacker.push(bytes.subarray(at, at + STEP_SIZE_BYTES), take);
    await unpacker.end(take);
  } finally {
    unpacker.close();
  }
  return whole.bytes();
}

/** Source: RFC 8878, 3.1: the magic number of a frame, or of a skippable one. */
function beginsZstdFrame([a, b, c, d]: Uint8Array): boolean {
  return (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) || (a >> 4 === 5 && b === 0x2a && c === 0x4d && d === 0x18);
}
