import { PerfconvError } from '../base/problems/errors.ts';
import { BoundedBytes } from '../base/streams/bounded-bytes.ts';
import type { Compression } from '../base/streams/decompressor.ts';
import { inflateAnywhere } from '../unwrap/inflate.ts';
import { unwrapXz } from '../unwrap/xz.ts';
import { openZstd } from '../zstd/open.ts';

/**
 * A {@link import('../base/streams/decompressor.ts').Decompressor} for any engine: zlib by its DecompressionStream, which may refuse bytes that follow, gzip by pako, xz
 * by its WebAssembly, zstd by perfconv itself.
 * @throws PerfconvError also `unsupported` in an engine without DecompressionStream or WebAssembly
 */
export async function decompressInEngine(compression: Compression, bytes: Uint8Array, maxSizeBytes: number): Promise<Uint8Array> {
  const whole = new BoundedBytes(compression, maxSizeBytes);
  switch (compression) {
    case 'zlib':
    case 'gzip':
      for await (const piece of inflateAnywhere(compression, [bytes], () => {})) whole.push(piece);
      break;
    case 'zstd': {
      const stream = await openZstd();
      stream.push(bytes, (piece) => whole.push(piece));
      if (!stream.isAtFrameEnd) throw new PerfconvError('damaged', 'the zstd data cannot be read: it is cut off');
      break;
    }
    case 'xz':
      for await (const piece of unwrapXz([bytes], () => {})) whole.push(piece);
      break;
  }
  return whole.bytes();
}
