import { PerfconvError } from '../base/problems/errors.ts';
import type { Unpacker } from './unpacker.ts';
import type { Wrapping } from './wrappings.ts';
import { unwrapXz } from './xz.ts';
import { openZstdUnpacker } from './zstd-unpacker.ts';

/** How much is pushed at once. What it unpacks to is held until it is asked for: zstd makes at most 32,000 times as much of it. */
const ZSTD_STEP_BYTES = 1 << 10;
/** When a step comes upon damage, what it has unpacked is lost. So the first steps, which may be all of a small file, are short. */
const SHORT_STEP_BYTES = 1 << 10;
const SHORT_STEPS_BYTES = 256 << 10;

/** Wrappings that perfconv unpacks; users have to unpack the others first. */
export type ReadableWrapping = Exclude<Wrapping, 'bzip2'>;

/**
 * Unpacks what deflate has packed, which every platform has its own means for.
 * @param onTrailing called last, if the data have ended and other bytes follow
 * @throws PerfconvError `damaged`, after everything before the damage was yielded
 */
export type Inflate = (
  wrapping: 'gzip' | 'zlib',
  input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  onTrailing: () => void,
) => AsyncGenerator<Uint8Array>;

/**
 * How much an input may unpack to: this much plus this many times its size. Large stack dumps that hardly differ can shrink to a thousandth, the most that
 * deflate achieves; what shrinks still more was made to fill the disk.
 */
const FREE_BYTES = 64 << 20;
const MAX_RATIO = 2048;

/**
 * Unpacks a stream of pieces, piece by piece.
 * @param onTrailing called with a sentence if the data have ended in good order and other bytes follow, which are not read; zeros do not count, since data
 * written in blocks are padded with them
 * @throws PerfconvError `damaged` when the data are damaged or cut off, after everything before that was yielded; also when they unpack to far more than a
 * recording would
 */
export async function* unwrap(
  wrapping: ReadableWrapping,
  input: AsyncIterable<Uint8Array>,
  inflate: Inflate,
  onTrailing: (message: string) => void,
): AsyncGenerator<Uint8Array> {
  let packedBytes = 0;
  let unpackedBytes = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of input) {
      packedBytes += chunk.length;
      yield chunk;
    }
  };
  for await (const piece of unwrapAll(wrapping, counted(), inflate, () => onTrailing(`the ${wrapping} data is followed by other bytes, which were not read`))) {
    unpackedBytes += piece.length;
    if (unpackedBytes > FREE_BYTES + MAX_RATIO * packedBytes) {
      throw new PerfconvError('damaged', `the ${wrapping} data unpacks to more than ${MAX_RATIO} times its size, which no recording does`);
    }
    yield piece;
  }
}

async function* unwrapAll(wrapping: ReadableWrapping, input: AsyncIterable<Uint8Array>, inflate: Inflate, onTrailing: () => void): AsyncGenerator<Uint8Array> {
  switch (wrapping) {
    case 'gzip':
    case 'zlib':
      yield* inflate(wrapping, input, onTrailing);
      break;
    case 'zstd':
      yield* pushed(await openZstdUnpacker(), input, ZSTD_STEP_BYTES, onTrailing);
      break;
    case 'xz':
      yield* unwrapXz(input, onTrailing);
      break;
  }
}

/**
 * Unpacks a stream of pieces by pushing them into an unpacker, which is closed in the end.
 * @param stepBytes how much is pushed at once
 */
export async function* pushed(
  unpacker: Unpacker,
  input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  stepBytes: number,
  onTrailing: () => void,
): AsyncGenerator<Uint8Array> {
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
          // What was unpacked before damage, too.
          yield* pieces.splice(0);
        }
        if (unpacker.hasTrailing) return onTrailing();
      }
    }
    await unpacker.end(take);
    yield* pieces.splice(0);
    if (unpacker.hasTrailing) onTrailing();
  } finally {
    unpacker.close();
  }
}
