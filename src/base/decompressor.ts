/** Compressions of sections and of whole files. */
export type Compression = 'zlib' | 'gzip' | 'zstd' | 'xz';

/** Unpacks what symbol files hold compressed. */
export interface Decompressor {
  /**
   * Unpacks bytes that are all there. Other bytes after the compressed ones are not looked at.
   * @param maxSizeBytes how much they may unpack to; memory for it is not taken before it is needed
   * @param isAhead whether the bytes are not waited for yet: then they are better unpacked on another thread, where there is one. Default: no
   * @throws PerfconvError `damaged` when they are damaged or cut off, or unpack to more
   */
  decompress(compression: Compression, bytes: Uint8Array, maxSizeBytes: number, isAhead?: boolean): Promise<Uint8Array>;
}
