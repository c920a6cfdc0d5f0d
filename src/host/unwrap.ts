import { createGunzip, createInflate } from 'node:zlib';
import { PerfconvError } from '../errors.ts';
import { openZstdStream } from '../perfdata/zstd-open.ts';
import type { OpenZstdStream } from '../perfdata/zstd-stream.ts';
import { nativeZstd } from './native-zstd.ts';
import { unwrapXz } from './unwrap-xz.ts';
import type { Wrapping } from './wrappings.ts';
import { ZlibPump } from './zlib-pump.ts';

/** What unpacks bytes that are pushed into it. */
interface Unpacker {
  /** @throws when the data are damaged */
  push(bytes: Uint8Array, take: (piece: Uint8Array) => void): Promise<void>;
  /** @throws when the data are cut off */
  end(take: (piece: Uint8Array) => void): Promise<void>;
  close(): void;
}

/**
 * So much is pushed at once: what it unpacks to is held until it is asked for. zlib makes at most a thousand times as much
 * of it, zstd 32,000 times.
 */
const DEFLATE_STEP_BYTES = 32 << 10;
/**
 * What a step has unpacked is lost when it comes upon damage: the first steps, which may be the whole of a small file, are
 * short ones.
 */
const SHORT_STEP_BYTES = 1 << 10;
const SHORT_STEPS_BYTES = 256 << 10;
const ZSTD_STEP_BYTES = 1 << 10;
const ZLIB_PIECE_BYTES = 32 << 10;

/** Wrappings that are read; the others have to be unpacked first. */
export type ReadableWrapping = Exclude<Wrapping, 'bzip2'>;

/**
 * How much an input may unpack to: so much in any case, and so many times its size. Large stack dumps that hardly differ can
 * shrink to a thousandth, which is the most that deflate does; what shrinks still more was made to fill the disk.
 */
const FREE_BYTES = 64 << 20;
const MAX_RATIO = 2048;

/**
 * Unpacks: piece after piece, of what comes in pieces.
 * @throws PerfconvError `damaged` when the data are damaged or cut off, after everything that came before; also when they
 * unpack to far more than a recording would
 */
export async function* unwrap(wrapping: ReadableWrapping, input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let packedBytes = 0;
  let unpackedBytes = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of input) {
      packedBytes += chunk.length;
      yield chunk;
    }
  };
  for await (const piece of unwrapAll(wrapping, counted())) {
    unpackedBytes += piece.length;
    if (unpackedBytes > FREE_BYTES + MAX_RATIO * packedBytes) {
      throw new PerfconvError('damaged', `the ${wrapping} data unpack to more than ${MAX_RATIO} times their size, which no recording does`);
    }
    yield piece;
  }
}

async function* unwrapAll(wrapping: ReadableWrapping, input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  switch (wrapping) {
    case 'gzip':
      yield* pushed(deflated(new ZlibPump(createGunzip({ chunkSize: ZLIB_PIECE_BYTES })), wrapping), input, DEFLATE_STEP_BYTES);
      break;
    case 'zlib':
      yield* pushed(deflated(new ZlibPump(createInflate({ chunkSize: ZLIB_PIECE_BYTES })), wrapping), input, DEFLATE_STEP_BYTES);
      break;
    case 'zstd':
      yield* pushed(await zstd(nativeZstd() ?? openZstdStream), input, ZSTD_STEP_BYTES);
      break;
    case 'xz':
      yield* unwrapXz(input);
      break;
  }
}

async function* pushed(unpacker: Unpacker, input: AsyncIterable<Uint8Array>, stepBytes: number): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const take = (piece: Uint8Array): void => void pieces.push(piece.slice());
  let pushedBytes = 0;
  try {
    for await (const chunk of input) {
      let size = 0;
      for (let at = 0; at < chunk.length; at += size) {
        size = Math.min(chunk.length - at, pushedBytes < SHORT_STEPS_BYTES ? SHORT_STEP_BYTES : stepBytes);
        pushedBytes += size;
        try {
          await unpacker.push(chunk.subarray(at, at + size), take);
        } finally {
          // Before damage, too.
          yield* pieces.splice(0);
        }
      }
    }
    await unpacker.end(take);
    yield* pieces.splice(0);
  } finally {
    unpacker.close();
  }
}

function deflated(pump: ZlibPump, name: string): Unpacker {
  const naming = async (work: Promise<void>): Promise<void> => {
    try {
      await work;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new PerfconvError(
        'damaged',
        `the ${name} data cannot be read: ${reason === 'unexpected end of file' ? 'they are cut off' : reason}`,
        {},
        { cause },
      );
    }
  };
  return {
    push: (bytes, take) => naming(pump.write(bytes, take)),
    end: (take) => naming(pump.end(take)),
    close: () => pump.close(),
  };
}

async function zstd(open: OpenZstdStream): Promise<Unpacker> {
  const stream = await open();
  return {
    push: (bytes, take) => stream.push(bytes, take),
    end: async () => {
      if (!stream.isAtFrameEnd) throw new PerfconvError('damaged', 'the zstd data cannot be read: they are cut off');
    },
    close: () => stream.close(),
  };
}
