import type { OpenZstdStream } from './zstd-stream.ts';

/** zstd in JavaScript, loaded when first needed. */
export const openZstdStream: OpenZstdStream = async () => new (await import('./zstd-decoder.ts')).ZstdDecoder();
