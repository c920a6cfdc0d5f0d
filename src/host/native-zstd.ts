import * as zlib from 'node:zlib';
import type { OpenZstdStream } from '../zstd/stream.ts';
import type { CreateZstdDecompress } from './native-zstd-stream.ts';

/** What node:zlib has from Node 22.15 and 23.8 on. */
interface ZstdOfZlib {
  readonly createZstdDecompress?: CreateZstdDecompress;
}

/** zstd as this Node brings it, loaded when first needed; undefined where it does not. */
export function nativeZstd(): OpenZstdStream | undefined {
  const { createZstdDecompress } = zlib as ZstdOfZlib;
  return createZstdDecompress && (async () => new (await import('./native-zstd-stream.ts')).NativeZstdStream(createZstdDecompress));
}
