import type { Compression, Decompressor } from '../base/decompressor.ts';
import { decompress } from './decompress.ts';

const MAX_KEPT_SIZE_BYTES = 64 << 20;

interface KeptSection {
  readonly compression: Compression;
  readonly packed: Uint8Array;
  readonly unpacked: Uint8Array;
}

/**
 * Decompresses sections of debug information, and keeps those that were asked for last: recordings that are read one after the other are mostly of
 * the same binaries, and unpacking what tells their lines takes longer than reading a small recording.
 */
export class KeptSections implements Decompressor {
  readonly #unpack: Decompressor['decompress'];
  readonly #maxSizeBytes: number;
  /** The one that was asked for last comes last. */
  #kept: readonly KeptSection[] = [];

  /**
   * @param unpack what decompresses them
   * @param maxSizeBytes of all that is kept, packed and unpacked
   */
  constructor(unpack: Decompressor['decompress'] = decompress, maxSizeBytes = MAX_KEPT_SIZE_BYTES) {
    this.#unpack = unpack;
    this.#maxSizeBytes = maxSizeBytes;
  }

  /** {@link Decompressor} */
  async decompress(compression: Compression, packed: Uint8Array, maxSizeBytes: number): Promise<Uint8Array> {
    const known = this.#kept.find((section) => isOf(section, compression, packed, maxSizeBytes));
    const unpacked = known?.unpacked ?? (await this.#unpack(compression, packed, maxSizeBytes));
    this.#keep(known ?? { compression, packed, unpacked });
    // Whoever asks may change the bytes, to relocate them.
    return new Uint8Array(unpacked);
  }

  #keep(section: KeptSection): void {
    const kept = [...this.#kept.filter((other) => other !== section), section];
    let sizeBytes = kept.reduce((sum, { packed, unpacked }) => sum + packed.length + unpacked.length, 0);
    while (sizeBytes > this.#maxSizeBytes) {
      const { packed, unpacked } = kept.shift() as KeptSection;
      sizeBytes -= packed.length + unpacked.length;
    }
    this.#kept = kept;
  }
}

function isOf({ compression, packed, unpacked }: KeptSection, wanted: Compression, bytes: Uint8Array, maxSizeBytes: number): boolean {
  return compression === wanted && unpacked.length <= maxSizeBytes && Buffer.compare(packed, bytes) === 0;
}
