/** How sections and whole files may be compressed. */
export type Compression = 'zlib' | 'gzip' | 'zstd' | 'xz';

/** Unpacks compressed parts of symbol files. */
export interface Decompressor {
  /**
   * Unpacks bytes, all of which are there. Other bytes after the compressed ones are not looked at.
   * @param maxSizeBytes how much they may unpack to; memory for it is not allocated before it is needed
   * @param isAhead whether nobody waits for the bytes yet: then they are better unpacked on another thread, if there is one. Default: no
   * @throws PerfconvError `damaged` if they are damaged or cut off, or unpack to more
   */
  decompress(compression: Compression, bytes: Uint8Array, maxSizeBytes: number, isAhead?: boolean): Promise<Uint8Array>;
}
