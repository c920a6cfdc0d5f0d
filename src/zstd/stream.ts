/** One continuous zstd stream, given in pieces as they come (perf: one per data file, over all COMPRESSED records). */
export interface ZstdStream {
  /**
   * Whether the stream could end here: neither within a frame nor within a frame's header. perf never ends its frame.
   */
  readonly isAtFrameEnd: boolean;
  /**
   * Decompresses what `bytes` complete, and calls `take` with piece after piece, at most 128 KiB each; a piece is gone after
   * `take` returns (copy it to keep it). Nothing else may be pushed before it is done.
   * @throws PerfconvError `damaged` when the stream is broken, needs a dictionary or reaches back more than 128 MiB: what
   * was given before remains valid
   */
  push(bytes: Uint8Array, take: (piece: Uint8Array) => void): Promise<void>;
  /** Gives back what the stream holds. May be called more than once, and while a push is under way, which then may fail. */
  close(): void;
}

export type OpenZstdStream = () => Promise<ZstdStream>;
