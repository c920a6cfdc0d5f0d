/** Compressions of sections and of whole files. */
export type Compression = 'zlib' | 'gzip' | 'zstd' | 'xz';

/** Unpacks what symbol files hold compressed. */
export interface Decompressor {
  /**
   * Unpacks bytes that are all there. Other bytes after the compressed ones are not looked at.
   * @param maxSizeBytes how much they may unpack to; memory for it is not taken before it is needed
   * @throws PerfconvError `damaged` when they are damaged or cut off, or unpack to more
   */
  decompress(compression: Compression, bytes: Uint8Array, maxSizeBytes: number): Promise<Uint8Array>;
}
