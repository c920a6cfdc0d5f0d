const MAX_BLOCK_BYTES = 128 << 10;

/**
 * A zstd frame with its content in raw blocks, so that mutations reach the content. Source: RFC 8878, 3.1.1.
 * @param options `contentSize`: size stated in the frame, none by default; `isLast`: whether the frame ends here
 */
export function rawZstdFrame(content: Uint8Array, { isLast = true }: { readonly isLast?: boolean } = {}): Uint8Array {
  // Descriptor 0: no content size, no checksum, a window; window descriptor 0x30: 64 KB.
  return Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x30, ...rawZstdBlock(content, isLast));
}

/** A further raw block of a frame. */
export function rawZstdBlock(content: Uint8Array, isLast: boolean): Uint8Array {
  if (content.length > MAX_BLOCK_BYTES) throw new RangeError(`a block holds at most ${MAX_BLOCK_BYTES} bytes`);
  const header = (content.length << 3) | (isLast ? 1 : 0);
  return Uint8Array.of(header & 0xff, (header >> 8) & 0xff, header >> 16, ...content);
}

/** A frame of one run-length block: a few bytes that unpack to many. */
export function runZstdFrame(byte: number, count: number): Uint8Array {
  const header = (count << 3) | 2 | 1;
  return Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x30, header & 0xff, (header >> 8) & 0xff, header >> 16, byte);
}

/** Minimum length of a match here; shorter ones have codes of their own. */
const MIN_MATCH_BYTES = 131;
const MAX_MATCH_BYTES = 100_000;
/** Size of a block that is only a match. */
const MATCH_BLOCK_BYTES = 15;

/**
 * A frame with a content repeated `copies` times: once literally, then as matches, each in a block of its own.
 * Source: RFC 8878, 3.1.1.3.
 * @param maxRatio approximate maximum ratio of unpacked to packed size
 */
export function repeatingZstdFrame(content: Uint8Array, copies: number, maxRatio: number): Uint8Array {
  // Window descriptor 0x38: 128 KB.
  const parts = [Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38), rawZstdBlock(content, copies === 1)];
  const perBlock = Math.max(1, Math.floor(Math.min(MAX_MATCH_BYTES, maxRatio * MATCH_BLOCK_BYTES) / content.length));
  for (let left = copies - 1; left > 0; left -= perBlock) {
    const count = Math.min(left, perBlock);
    const sizeBytes = count * content.length;
    const isLast = left === count;
    parts.push(sizeBytes < MIN_MATCH_BYTES ? rawZstdBlock(Buffer.alloc(sizeBytes, content), isLast) : matchBlock(content.length, sizeBytes, isLast));
  }
  return new Uint8Array(Buffer.concat(parts));
}

/**
 * No literals and one sequence, its codes in RLE mode: `matchBytes` (at least {@link MIN_MATCH_BYTES}) from `distance`
 * before.
 */
function matchBlock(distance: number, matchBytes: number, isLast: boolean): Uint8Array {
  // Offset_Value is the distance + 3: the code gives its highest bit, and the other bits follow.
  const offsetBits = Math.floor(Math.log2(distance + 3));
  const matchBits = Math.floor(Math.log2(matchBytes - 3));
  // Read backwards: a final 1 bit, the bits of the offset, the bits of the match length.
  let stream = 1n;
  stream = (stream << BigInt(offsetBits)) | BigInt(distance + 3 - 2 ** offsetBits);
  stream = (stream << BigInt(matchBits)) | BigInt(matchBytes - 3 - 2 ** matchBits);
  const bits: number[] = [];
  for (let rest = stream; rest > 0n; rest >>= 8n) bits.push(Number(rest & 0xffn));
  const LITERALS_NONE = 0x00;
  const MODES_RLE = 0x54;
  const body = [LITERALS_NONE, 1, MODES_RLE, 0, offsetBits, matchBits + 36, ...bits];
  const header = (body.length << 3) | (2 << 1) | (isLast ? 1 : 0);
  return Uint8Array.of(header & 0xff, (header >> 8) & 0xff, header >> 16, ...body);
}
