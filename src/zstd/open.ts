import type { ZstdDecoder } from './decoder.ts';

/** A decoder for one stream. Its code is loaded when it is first needed. */
export async function openZstd(): Promise<ZstdDecoder> {
  const { ZstdDecoder } = await import('./decoder.ts');
  return new ZstdDecoder();
}
