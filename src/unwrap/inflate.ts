import { crc32 } from '../base/bytes/crc32.ts';
import { inflateInEngine } from '../base/streams/web-decompressor.ts';
import { GzipUnpacker } from './gzip-unpacker.ts';
import { Inflater } from './inflater.ts';
import { type Inflate, pushed } from './unwrap.ts';

/** How much is pushed at once: deflate makes at most a thousand times as much of it, which is held until it is asked for. */
const STEP_BYTES = 32 << 10;

/** Unpacks in any engine: gzip without its DecompressionStream, which refuses what was put together from several files. */
export const inflateAnywhere: Inflate = async function* (wrapping, input, onTrailing) {
  if (wrapping === 'gzip') yield* pushed(new GzipUnpacker({ openDeflate: await Inflater.load(), crc32 }), input, STEP_BYTES, onTrailing);
  else yield* inflateInEngine(input);
};
