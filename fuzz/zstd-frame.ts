const MAX_BLOCK_BYTES = 128 << 10;

/**
 * A zstd frame that holds its content as it is, in raw blocks, so that mutations reach what is inside. Source: RFC 8878, 3.1.1.
 * @param options `contentSize`: what the frame says it holds, by default nothing; `isLast`: whether the frame ends here
 */
export function rawZstdFrame(content: Uint8Array, { isLast = true }: { readonly isLast?: boolean } = {}): Uint8Array {
  // Descriptor 0: no content size, no checksum, a window; window descriptor 0x30: 64 KB.
  return Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x30, ...rawZstdBlock(content, isLast));
}

/** One more raw block of a frame that has begun. */
export function rawZstdBlock(content: Uint8Array, isLast: boolean): Uint8Array {
  if (content.length > MAX_BLOCK_BYTES) throw new RangeError(`a block holds at most ${MAX_BLOCK_BYTES} bytes`);
  const header = (content.length << 3) | (isLast ? 1 : 0);
  return Uint8Array.of(header & 0xff, (header >> 8) & 0xff, header >> 16, ...content);
}

/** A frame of one run-length block: a few bytes that stand for many. */
export function runZstdFrame(byte: number, count: number): Uint8Array {
  const header = (count << 3) | 2 | 1;
  return Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x30, header & 0xff, (header >> 8) & 0xff, header >> 16, byte);
}
