import type { OpenZstdStream } from './stream.ts';

/** perfconv's own decoder, loaded when first needed. */
export const openZstdStream: OpenZstdStream = async () => new (await import('./decoder.ts')).ZstdDecoder();
