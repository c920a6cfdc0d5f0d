import { PerfconvError } from '../errors.ts';

/** One continuous zstd stream, given in pieces as they come (perf: one per data file, over all COMPRESSED records). */
export interface ZstdStream {
  /**
   * Decompresses what `bytes` complete, and calls `take` with piece after piece, at most {@link MAX_PIECE_BYTES} each; a
   * piece is gone after `take` returns (copy it to keep it).
   * @throws PerfconvError `damaged` when the stream is broken: what was taken before stands
   */
  push(bytes: Uint8Array, take: (piece: Uint8Array) => void): Promise<void>;
  close(): void;
}

export type OpenZstdStream = () => Promise<ZstdStream>;

/** A block of zstd holds no more. Source: RFC 8878, 3.1.1.2.4. */
export const MAX_PIECE_BYTES = 128 << 10;

/** In JavaScript, by fzstd, loaded when first needed. */
export const openFzstdStream: OpenZstdStream = async () => {
  const { Decompress } = await import('fzstd');
  const pieces: Uint8Array[] = [];
  const stream = new Decompress((piece) => pieces.push(piece));
  return {
    async push(bytes, take) {
      try {
        stream.push(bytes);
      } catch (cause) {
        throw new PerfconvError('damaged', `the zstd stream is broken: ${cause instanceof Error ? cause.message : String(cause)}`, {}, { cause });
      } finally {
        for (const piece of pieces.splice(0)) take(piece);
      }
    },
    close() {
      pieces.length = 0;
    },
  };
};
