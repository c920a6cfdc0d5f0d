import type { OpenZstdStream } from './stream.ts';

/** zstd in JavaScript, loaded when first needed. */
export const openZstdStream: OpenZstdStream = async () => new (await import('./decoder.ts')).ZstdDecoder();
