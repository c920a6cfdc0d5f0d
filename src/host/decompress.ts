import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { PerfconvError } from '../errors.ts';
import { openZstdStream } from '../perfdata/zstd-open.ts';
import type { Compression } from '../symbols/symbol-files.ts';
import { unwrapXz } from './unwrap-xz.ts';

interface ZlibOptions {
  readonly chunkSize: number;
  readonly maxOutputLength: number;
}
type Unzip = (bytes: Uint8Array, options: ZlibOptions) => Promise<Uint8Array>;

const inflate: Unzip = promisify<Uint8Array, ZlibOptions, Uint8Array>(zlib.inflate);
const gunzip: Unzip = promisify<Uint8Array, ZlibOptions, Uint8Array>(zlib.gunzip);
/** What node:zlib has from Node 22.15 and 23.8 on. */
const { zstdDecompress } = zlib as {
  readonly zstdDecompress?: (bytes: Uint8Array, options: ZlibOptions, done: (error: Error | null, bytes: Uint8Array) => void) => void;
};
const nativeUnzstd: Unzip | undefined = zstdDecompress && promisify<Uint8Array, ZlibOptions, Uint8Array>(zstdDecompress);

const MIN_CHUNK_SIZE_BYTES = 64;
const MAX_CHUNK_SIZE_BYTES = 1 << 20;
/** zlib counts no further. */
const MAX_OUTPUT_SIZE_BYTES = 0x7fff_ffff;

/** {@link import('../symbols/symbol-files.ts').Decompressor} of Node. */
export async function decompress(compression: Compression, bytes: Uint8Array, maxSizeBytes: number): Promise<Uint8Array> {
  switch (compression) {
    case 'zlib':
      return unzip('zlib', inflate, bytes, maxSizeBytes);
    case 'gzip':
      return unzip('gzip', gunzip, bytes, maxSizeBytes);
    case 'zstd':
      return nativeUnzstd === undefined ? unzstd(bytes, maxSizeBytes) : unzip('zstd', nativeUnzstd, bytes, maxSizeBytes);
    case 'xz': {
      const whole = new BoundedBytes('xz', maxSizeBytes);
      for await (const piece of unwrapXz(inOnePiece(bytes), () => {})) whole.push(piece);
      return whole.bytes();
    }
  }
}

async function unzip(name: Compression, unpack: Unzip, bytes: Uint8Array, maxSizeBytes: number): Promise<Uint8Array> {
  const maxOutputLength = Math.max(1, Math.min(maxSizeBytes, MAX_OUTPUT_SIZE_BYTES));
  const chunkSize = Math.max(MIN_CHUNK_SIZE_BYTES, Math.min(maxOutputLength, MAX_CHUNK_SIZE_BYTES));
  try {
    return await unpack(bytes, { chunkSize, maxOutputLength });
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(name, maxSizeBytes);
    throw new PerfconvError('damaged', `the ${name} data cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {}, { cause });
  }
}

async function unzstd(bytes: Uint8Array, maxSizeBytes: number): Promise<Uint8Array> {
  const whole = new BoundedBytes('zstd', maxSizeBytes);
  const stream = await openZstdStream();
  try {
    await stream.push(bytes, (piece) => whole.push(piece));
    if (!stream.isAtFrameEnd) throw new PerfconvError('damaged', 'the zstd data cannot be read: they are cut off');
  } finally {
    stream.close();
  }
  return whole.bytes();
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Collects pieces, up to a size. */
class BoundedBytes {
  #bytes = new Uint8Array(1 << 16);
  #sizeBytes = 0;
  readonly #name: Compression;
  readonly #maxSizeBytes: number;

  constructor(name: Compression, maxSizeBytes: number) {
    this.#name = name;
    this.#maxSizeBytes = maxSizeBytes;
  }

  push(piece: Uint8Array): void {
    const sizeBytes = this.#sizeBytes + piece.length;
    if (sizeBytes > this.#maxSizeBytes) throw tooLarge(this.#name, this.#maxSizeBytes);
    if (sizeBytes > this.#bytes.length) {
      const larger = new Uint8Array(Math.min(Math.max(2 * this.#bytes.length, sizeBytes), this.#maxSizeBytes));
      larger.set(this.#bytes.subarray(0, this.#sizeBytes));
      this.#bytes = larger;
    }
    this.#bytes.set(piece, this.#sizeBytes);
    this.#sizeBytes = sizeBytes;
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#sizeBytes);
  }
}

function tooLarge(name: Compression, maxSizeBytes: number): PerfconvError {
  return new PerfconvError('damaged', `the ${name} data unpack to more than ${maxSizeBytes} bytes`);
}
